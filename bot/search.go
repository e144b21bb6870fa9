package bot

import (
	"context"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// A Found is a line that a search has found.
type Found struct {
	Line
	At time.Time
}

// Search returns the lines that answer a question, the best first.
func (a *Archive) Search(ctx context.Context, as, text string, limit int) ([]Found, error) {
	hits, err := a.store.Search(ctx, a.eyes(as), memory.Query{Text: text, Limit: limit})
	var out []Found
	for _, h := range hits {
		out = append(out, Found{Line{ID: h.ID, Speaker: speaker(h.Speaker), Text: h.Text, Final: true, Cut: h.Cut}, h.At})
	}
	return out, err
}

// Find returns the topics of a name, or of one that looks or sounds like it, the
// best first.
func (a *Archive) Find(ctx context.Context, as, name string, limit int) ([]Topic, error) {
	found, err := a.store.FindEntities(ctx, a.eyes(as), name, "", limit)
	var out []Topic
	for _, e := range found {
		out = append(out, topic(e))
	}
	return out, err
}
