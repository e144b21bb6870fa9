package rules

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/glyphoxa/glyphoxa/markup"
)

// A journal is an exported JournalEntry. Its ownership says who may read it:
// 0 nobody but the game master, 1 its name only, 2 and 3 everybody.
type journal struct {
	Name      string
	Ownership map[string]int
	Flags     struct {
		License string
	}
	Pages []struct {
		Name, Type string
		Ownership  map[string]int
		Text       struct {
			Content, Markdown string
		}
	}
}

// observer is the least ownership at which a page can be read.
const observer = 2

// foundry reads one exported journal, or an array of them. Pages that players
// cannot see, and secret blocks, become the game master's entries.
func (in *importing) foundry(_ string, b []byte) error {
	var journals []journal
	if trimmed := bytes.TrimSpace(b); len(trimmed) > 0 && trimmed[0] == '[' {
		if err := json.Unmarshal(b, &journals); err != nil {
			return fmt.Errorf("not a Foundry journal: %w", err)
		}
	} else {
		var one journal
		if err := json.Unmarshal(b, &one); err != nil {
			return fmt.Errorf("not a Foundry journal: %w", err)
		}
		journals = []journal{one}
	}
	if len(journals) == 0 || journals[0].Pages == nil {
		return errors.New("not a Foundry journal: it has no pages")
	}
	for _, j := range journals {
		for _, p := range j.Pages {
			if p.Type != "" && p.Type != "text" {
				continue
			}
			// A page without ownership of its own, or with -1, inherits.
			level, own := p.Ownership["default"]
			if !own || level < 0 {
				level = j.Ownership["default"]
			}
			like := Entry{Kind: "rule", DM: level < observer, Source: j.Name, License: j.Flags.License}
			open, secret := p.Text.Markdown, ""
			if open == "" {
				open, secret = markup.HTML(p.Text.Content)
			}
			name := cmp.Or(p.Name, j.Name)
			if err := in.sections(name, open, like); err != nil {
				return err
			}
			like.DM = true
			if err := in.sections(name+" (secret)", secret, like); err != nil {
				return err
			}
		}
	}
	return nil
}
