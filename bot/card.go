package bot

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/npc"
)

const (
	// cardTime bounds looking a rule up for the table: nobody waits for it, but a
	// card that comes later than this answers a question long forgotten.
	cardTime = 5 * time.Second
	// maxCard is the longest text on a card, in bytes.
	maxCard = 600
	// lookUp is the tool that finds rules.
	lookUp = "search_rules"
)

// A Card answers a rules question that was put to nobody: in writing, so that no
// voice interrupts the table.
type Card struct {
	// Line is the id of the line that asked.
	Line  string `json:"line"`
	Asked string `json:"asked"`
	Title string `json:"title"`
	Text  string `json:"text"`
	// Source says where the rule stands, as the tool names it.
	Source string `json:"source,omitempty"`
}

// answerRule looks up a rules question that was meant for nobody and shows the
// table a card. Where no rules are known, or none fits, there is no card.
func (t *Table) answerRule(line, asked string, d npc.Decision) {
	if d.Intent != npc.Rules || len(d.To) > 0 || t.stopped != "" {
		return
	}
	belt := t.o.Tools.Belt(mcp.Grant{
		// Not the game master: what only the DM may know is not for a card.
		Caller: mcp.Caller{Campaign: t.campaign.ID, Session: t.session, NPC: "the table"}, Allow: []string{lookUp}, Tier: mcp.Deep, Utterance: asked,
	})
	if len(belt.Tools()) == 0 {
		return
	}
	t.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, cardTime)
		defer cancel()
		args, err := json.Marshal(map[string]string{"query": asked})
		if err != nil {
			return // a string is always JSON
		}
		r := belt.Call(ctx, lookUp, args)
		if r.Err != nil {
			t.log.Info("a rules question goes without its card", "error", r.Err)
			return
		}
		if c, ok := cardOf(r); ok {
			c.Line, c.Asked = line, asked
			t.post(func() {
				t.rules = keep(append(t.rules, c), 20)
				t.events.add(Event{Card: &c})
			})
		}
	})
}

// cardOf reads the best of the rules that were found.
func cardOf(r mcp.Result) (Card, bool) {
	var found struct {
		Results []struct{ ID, Name, Say, Edition string } `json:"results"`
	}
	raw := []byte(r.Text)
	if len(r.Raw) > 0 {
		raw = []byte(r.Raw)
	}
	if json.Unmarshal(raw, &found) != nil || len(found.Results) == 0 {
		return Card{}, false
	}
	best := found.Results[0]
	text := clean(best.Say)
	if len(text) > maxCard {
		text = strings.ToValidUTF8(text[:maxCard], "") + "…"
	}
	return Card{Title: clean(best.Name), Text: text, Source: clean(best.ID)}, best.Name != "" && text != ""
}
