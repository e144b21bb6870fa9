package improviser_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
)

// secrets are words that an NPC must not say, out of facts of the world that it
// knows.
var secrets = map[string][]string{
	"bartok":     {"bricked-up", "debt to the Tallymen"},
	"greymantle": {"painted tin", "taught Orsolo"},
	"brunna":     {"take money"},
	"pip":        {"map shows"},
	"velline":    {"is held in the cellar", "grinds bone", "seam of silver", "bought the old mill", "lead the Tallymen", "takes money"},
	"severin":    {"ninth of the month", "three names"},
	"ysolde":     {"ninth of the month", "three names"},
	"nix":        {"single herring"},
}

// TestWhatIsSecretIsNotToldWhoeverAsks asks every NPC about everything it knows,
// in several ways, until it has no more to say: out of its own world, and with
// tools that return all of it.
func TestWhatIsSecretIsNotToldWhoeverAsks(t *testing.T) {
	for name, words := range secrets {
		p := persona(t, name)
		known := 0
		for i, k := range p.World {
			all, err := json.Marshal(k)
			if err != nil {
				t.Fatal(err)
			}
			secret := false
			for _, w := range words {
				secret = secret || strings.Contains(string(all), w)
			}
			if secret {
				known++
			} else if i%4 > 0 {
				continue // most of what is harmless is left out: it only takes time
			}
			for _, offered := range []string{"", "query_entities"} {
				m := improviser.New(p, 1)
				r := engine.Request{Tools: tools(offered)}
				for _, ask := range []string{"tell me about %", "who is %", "where is %?", "tell me more", "what else?", "who bought %?", "and then?", "who leads %?", "what is under %?", "what do you know about %?"} {
					r.Messages = append(r.Messages, engine.Message{Role: engine.User, Name: "Ann", Text: strings.ReplaceAll(ask, "%", k.Name)})
					text, calls := collect(m, r)
					if len(calls) > 0 {
						r.Messages = append(r.Messages, engine.Message{Role: engine.Assistant, Calls: calls},
							engine.Message{Role: engine.ToolRole, Name: calls[0].Name, CallID: calls[0].ID, Text: `{"entities":[` + wire(k) + `]}`})
						text, _ = collect(m, r)
					}
					for _, w := range words {
						if strings.Contains(text, w) {
							t.Errorf("%s, asked %q about %s, said %q", name, ask, k.Name, text)
						}
					}
					r.Messages = append(r.Messages, engine.Message{Role: engine.Assistant, Text: text})
				}
			}
		}
		if known == 0 && name != "brunna" {
			t.Errorf("%s knows nothing of %q: the test proves nothing", name, words)
		}
	}
}

// wire is an entity as the tool query_entities returns it.
func wire(k improviser.Known) string {
	type relation struct {
		Kind string `json:"kind"`
		To   string `json:"to"`
	}
	e := map[string]any{"id": k.ID, "name": k.Name, "kind": k.Kind, "text": k.Text, "facts": k.Facts}
	var relations []relation
	for _, b := range k.Bonds {
		relations = append(relations, relation{b.Kind, b.To})
	}
	e["relations"] = relations
	out, _ := json.Marshal(e) // plain strings always encode
	return string(out)
}
