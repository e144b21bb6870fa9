package improviser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// ownTools are the tools for errands with the parameters that ours have.
func ownTools() []mcp.Tool {
	var out []mcp.Tool
	for name, parameters := range map[string]string{
		"play_track": `"mood"`, "stop_music": "", "generate_image": `"prompt","style"`, "write_file": `"path","content"`, "read_file": `"path"`,
		"search": `"query"`, "fetch_page": `"url"`,
	} {
		props := []string{}
		for p := range strings.SplitSeq(parameters, ",") {
			if p != "" {
				props = append(props, p+`:{"type":"string"}`)
			}
		}
		if name == "write_file" {
			props = append(props, `"append":{"type":"boolean"}`)
		}
		out = append(out, mcp.Tool{Name: name, ReadOnly: true, Schema: json.RawMessage(`{"type":"object","properties":{` + strings.Join(props, ",") + `}}`)})
	}
	return out
}

func TestErrandsAreRunWithTheToolThatTheyNeed(t *testing.T) {
	for _, c := range []struct{ line, tool, args string }{
		{"Bartok, play some music, something dark!", "play_track", "dark"},
		{"Stop the music, please.", "stop_music", "{}"},
		{"Paint us a picture of the old mill by the stream.", "generate_image", "old mill by the stream"},
		{"Write down that Mira owes two silver.", "write_file", "owes two silver"},
		{"Read your notes.", "read_file", "notes.md"},
		{"Search the web for owlbear habits", "search", "owlbear habits"},
		{"Read the page https://owlbear.example/wiki.", "fetch_page", `"https://owlbear.example/wiki"`},
	} {
		ask := func(tools []mcp.Tool) (calls []engine.Call, said string) {
			m := New(Persona{Name: "Bartok"}, 1)
			for d, err := range m.Stream(t.Context(), engine.Request{Tools: tools, Messages: []engine.Message{{Role: engine.User, Name: "Mira", Text: c.line}}}) {
				if err != nil {
					t.Fatal(err)
				}
				calls, said = append(calls, d.Calls...), said+d.Text
			}
			return calls, said
		}
		calls, said := ask(ownTools())
		if len(calls) != 1 || calls[0].Name != c.tool || !strings.Contains(string(calls[0].Args), c.args) {
			t.Errorf("%q: calls %+v and says %q, want %s with %s", c.line, calls, said, c.tool, c.args)
			continue
		}
		if c.tool == "write_file" && !strings.Contains(string(calls[0].Args), `"append":true`) {
			t.Errorf("%q: a note replaces the notes before it: %s", c.line, calls[0].Args)
		}
		if calls, _ := ask(nil); len(calls) != 0 {
			t.Errorf("%q: calls %+v without any tool", c.line, calls)
		}
	}
}
