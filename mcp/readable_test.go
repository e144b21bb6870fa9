package mcp

import (
	"encoding/json"
	"testing"

	"github.com/glyphoxa/glyphoxa/mcp/link"
)

func TestStructuredResultsAreShownInTheShorterForm(t *testing.T) {
	h := newTestHost(t, HostOptions{Limits: Limits{ListEntries: 3}})
	schema := compileOutput(json.RawMessage(`{"type":"object","required":["towns"]}`))
	table := `{"towns":[{"name":"Ashby","people":210},{"name":"Brill","people":45}]}`
	for _, c := range []struct {
		name string
		in   link.Answer
		want string
	}{
		{"a table", link.Answer{Text: table, Structured: json.RawMessage(table)}, "towns[2]{name,people}:\n  Ashby,210\n  Brill,45"},
		{"no text", link.Answer{Structured: json.RawMessage(table)}, "towns[2]{name,people}:\n  Ashby,210\n  Brill,45"},
		{"its own words", link.Answer{Text: "Two towns.", Structured: json.RawMessage(table)}, "Two towns."},
		{"not what it promised", link.Answer{Text: `{"x":1}`, Structured: json.RawMessage(`{"x":1}`)}, `{"x":1}`},
		{"a long list", link.Answer{Structured: json.RawMessage(`{"towns":[1,2,3,4,5]}`)}, "towns[3]: 1,2,3\n[cut: only the first 3 list entries are shown]"},
		{"an error", link.Answer{Text: "no", Structured: json.RawMessage(table), Refused: true}, "no"},
	} {
		if got := h.readable(c.in, schema); got.text != c.want || got.refused != c.in.Refused {
			t.Errorf("%s: %q, want %q", c.name, got.text, c.want)
		}
	}
}
