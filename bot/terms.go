package bot

import "slices"

// freshen gathers the names that recognisers should expect: those who are here first,
// since most recognisers take only some. It is called whenever somebody comes or goes.
func (t *Table) freshen() {
	var names []string
	add := func(more ...string) {
		for _, n := range more {
			if n != "" && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	for _, id := range t.scene.Present {
		if c, ok := t.character(id); ok {
			add(c.Name)
			add(c.Aliases...)
		}
	}
	add(t.characters()...)
	add(t.campaign.Names()...)
	t.names.Store(&names)
}

// namesNow are the names as they are now; for any goroutine.
func (t *Table) namesNow() []string {
	if names := t.names.Load(); names != nil {
		return *names
	}
	return nil
}
