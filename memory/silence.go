package memory

import (
	"context"
	"slices"
	"time"
)

const (
	// askSilence is how long it counts who has opted out, and askWithin how long
	// finding out may take. While the store is in trouble, what was known counts.
	askSilence = 2 * time.Second
	askWithin  = time.Second
)

// silent knows who has opted out, so that their lines are not even put into the
// spool. Only the writer's goroutine uses it.
type silent struct {
	who   map[string][]string // by campaign
	asked map[string]time.Time
}

// dropSilent takes the lines of those who opted out off the list, before any of
// them is written anywhere.
func (w *Writer) dropSilent(ctx context.Context) {
	w.mu.Lock()
	fresh := slices.Clone(w.pending[min(w.spooled, len(w.pending)):])
	trouble := w.trouble != nil
	w.mu.Unlock()
	for _, l := range fresh {
		if !trouble && time.Since(w.silent.asked[l.Campaign]) > askSilence {
			w.silent.ask(ctx, w.store, l.Campaign)
		}
	}
	drop := func(l Line) bool { return slices.Contains(w.silent.who[l.Campaign], l.Speaker.ID) }
	if !slices.ContainsFunc(fresh, drop) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := slices.Clone(w.pending[:w.spooled])
	for _, l := range w.pending[w.spooled:] {
		if drop(l) {
			w.written++ // nobody has to wait for it
			continue
		}
		kept = append(kept, l)
	}
	w.pending = kept
	close(w.changed)
	w.changed = make(chan struct{})
}

func (s *silent) ask(ctx context.Context, store Store, campaign string) {
	if s.who == nil {
		s.who, s.asked = map[string][]string{}, map[string]time.Time{}
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if who, err := store.OptedOut(ctx, campaign); err == nil {
		s.who[campaign] = who
	}
	s.asked[campaign] = time.Now() // a store in trouble is not asked for each line
}
