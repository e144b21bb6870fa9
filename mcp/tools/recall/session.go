package recall

import (
	"context"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
)

// summarizeSession recounts what the caller heard in a session.
func (r reader) summarizeSession(ctx context.Context, who mcp.Caller, id string) (string, error) {
	id, err := r.session(ctx, who, id)
	if err != nil {
		return "", err
	}
	lines, err := memory.Transcript(ctx, r.store, viewer(who), id)
	if err != nil {
		return "", plain(err)
	}
	recap := memory.Retell(lines, memory.Short)
	told := []spoken{}
	for _, l := range recap {
		told = append(told, spoken{ID: l.ID, Speaker: l.Speaker.Name, Text: shorten(l.Text), At: l.At, Session: l.Session})
	}
	return encode(map[string]any{"session": id, "lines": told})
}
