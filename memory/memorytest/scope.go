package memorytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/glyphoxa/glyphoxa/memory"
)

// Scope checks the promise that matters most, in random worlds: whatever is
// written, told and asked, nobody gets to see what it did not witness, was not
// told and is not common knowledge; and nobody misses what it did witness. An
// oracle of three maps says what each may know. Each world is a campaign of its
// own in one store, so that campaigns are shown to stay apart as well.
func Scope(t *testing.T, s memory.Store) {
	world := 0
	rapid.Check(t, func(r *rapid.T) {
		world++
		o := oracle{r: r, s: s, ctx: t.Context(), campaign: fmt.Sprintf("world-%d", world), who: map[string]map[string]time.Time{}}
		o.populate()
		for range rapid.IntRange(3, 12).Draw(r, "steps") {
			switch rapid.IntRange(0, 9).Draw(r, "step") {
			case 0, 1, 2, 3, 4, 5:
				o.speak()
			case 6, 7:
				o.tellLine()
			default:
				o.tellFact()
			}
		}
		for _, viewer := range people {
			o.ask(viewer)
		}
	})
}

var people = []string{"ada", "bo", "cy", "n1", "c1", memory.Everyone}

// A few words, so that lines and questions meet often, some of which look like
// the index's own marks.
var vocabulary = []string{"dragon", "gold", "n1", "c1", "n2", "mill", "aud", "secret", "everyone", "ada"}

type oracle struct {
	r        *rapid.T
	s        memory.Store
	ctx      context.Context
	campaign string
	now      time.Time
	lines    []string
	facts    []string
	// who says since when somebody knows a line or fact.
	who map[string]map[string]time.Time
}

func (o *oracle) must(err error) {
	if err != nil {
		o.r.Fatal(err)
	}
}

func (o *oracle) tick() time.Time {
	if o.now.IsZero() {
		o.now = Start
	}
	o.now = o.now.Add(time.Second)
	return o.now
}

func (o *oracle) some(label string) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(people), 0, 3, rapid.ID[string]).Draw(o.r, label)
}

func (o *oracle) text() string {
	ws := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 4).Draw(o.r, "text")
	return fmt.Sprint(ws)
}

func (o *oracle) learn(id string, since time.Time, who ...string) {
	if o.who[id] == nil {
		o.who[id] = map[string]time.Time{}
	}
	for _, w := range who {
		if _, ok := o.who[id][w]; !ok {
			o.who[id][w] = since
		}
	}
}

// knows says whether a viewer may see something at a moment.
func (o *oracle) knows(viewer, id string, at time.Time) bool {
	for _, w := range []string{viewer, memory.Everyone} {
		if since, ok := o.who[id][w]; ok && !since.After(at) {
			return true
		}
	}
	return false
}

// populate imports an entity with facts for random audiences.
func (o *oracle) populate() {
	e := memory.Entity{ID: "place", Kind: memory.Location, Name: "Mill", Text: o.text(), Audience: o.some("entity audience")}
	o.learn("entity", time.Time{}, e.Audience...)
	for i := range rapid.IntRange(0, 3).Draw(o.r, "facts") {
		f := memory.Fact{ID: fmt.Sprintf("fact-%d", i), Text: o.text(), Audience: o.some("fact audience")}
		o.learn(f.ID, time.Time{}, f.Audience...)
		o.facts = append(o.facts, f.ID)
		e.Facts = append(e.Facts, f)
	}
	o.must(o.s.PutWorld(o.ctx, o.campaign, []memory.Entity{e}))
}

func (o *oracle) speak() {
	speaker := rapid.SampledFrom(people[:5]).Draw(o.r, "speaker")
	l := memory.Line{ID: fmt.Sprintf("line-%d", len(o.lines)), Campaign: o.campaign, Session: rapid.SampledFrom([]string{"one", "two"}).Draw(o.r, "session"),
		Speaker: memory.Speaker{ID: speaker, Name: speaker, Kind: memory.NPCSpeaker}, At: o.tick(), Text: o.text(),
		Audience: o.some("heard by"), Aside: rapid.IntRange(0, 9).Draw(o.r, "aside") == 0}
	o.lines = append(o.lines, l.ID)
	if !l.Aside {
		o.learn(l.ID, l.At, append(slices.Clone(l.Audience), speaker)...)
	}
	o.must(o.s.Append(o.ctx, l))
}

func (o *oracle) tellLine() {
	if len(o.lines) > 0 {
		line := rapid.SampledFrom(o.lines).Draw(o.r, "line told")
		o.tell(line, memory.Telling{Line: line})
	}
}

func (o *oracle) tellFact() {
	if len(o.facts) > 0 {
		fact := rapid.SampledFrom(o.facts).Draw(o.r, "fact told")
		o.tell(fact, memory.Telling{Claim: fact})
	}
}

func (o *oracle) tell(id string, t memory.Telling) {
	t.Campaign, t.At, t.To = o.campaign, o.tick(), o.some("listeners")
	t.From = rapid.SampledFrom(append([]string{""}, people...)).Draw(o.r, "teller")
	if len(t.To) == 0 {
		return
	}
	err := o.s.Tell(o.ctx, t)
	if t.From == "" || o.knows(t.From, id, t.At) {
		o.must(err)
		o.learn(id, t.At, t.To...)
	} else if !errors.Is(err, memory.ErrUnknown) {
		o.r.Fatalf("%s told %s without knowing it: %v", t.From, id, err)
	}
}

// ask compares every kind of read with the oracle.
func (o *oracle) ask(viewer string) {
	v := memory.Viewer{Campaign: o.campaign, Entity: viewer}
	at := o.now.Add(time.Hour)
	if rapid.Bool().Draw(o.r, "look back") {
		at = Start.Add(time.Duration(rapid.IntRange(0, 20).Draw(o.r, "moment")) * time.Second)
		v.AsOf = at
	}
	query := o.text()
	hits, err := o.s.Search(o.ctx, v, memory.Query{Text: query, Limit: memory.MaxHits})
	o.must(err)
	for _, h := range hits {
		if !o.knows(viewer, h.ID, at) {
			o.r.Fatalf("%s searches %q and finds %s %q", viewer, query, h.ID, h.Text)
		}
	}
	recent, err := o.s.Recent(o.ctx, v, memory.Window{Limit: memory.MaxHits})
	o.must(err)
	seen := map[string]bool{}
	for _, l := range recent {
		seen[l.ID] = true
	}
	for _, id := range o.lines {
		if seen[id] != o.knows(viewer, id, at) {
			o.r.Fatalf("%s sees %s: %v, knows it: %v", viewer, id, seen[id], !seen[id])
		}
	}
	claims, err := o.s.Claims(o.ctx, v, memory.ClaimQuery{Form: memory.FactForm, Limit: memory.MaxHits})
	o.must(err)
	clear(seen)
	for _, c := range claims {
		seen[c.ID] = true
	}
	for _, id := range o.facts {
		if seen[id] != o.knows(viewer, id, at) {
			o.r.Fatalf("%s sees %s: %v, knows it: %v", viewer, id, seen[id], !seen[id])
		}
	}
	claims, err = o.s.Claims(o.ctx, v, memory.ClaimQuery{Text: query})
	o.must(err)
	for _, c := range claims {
		if c.Form == memory.FactForm && !o.knows(viewer, c.ID, at) {
			o.r.Fatalf("%s searches claims for %q and finds %s", viewer, query, c.ID)
		}
	}
	o.askEntity(v, at)
}

func (o *oracle) askEntity(v memory.Viewer, at time.Time) {
	e, err := o.s.Entity(o.ctx, v, "place")
	switch knows := o.knows(v.Entity, "entity", at); {
	case !knows && !errors.Is(err, memory.ErrUnknown):
		o.r.Fatalf("%s asks for an entity it does not know: %+v, %v", v.Entity, e, err)
	case !knows:
	default:
		o.must(err)
		for _, f := range e.Facts {
			if !o.knows(v.Entity, f.ID, at) {
				o.r.Fatalf("%s sees %s of the entity", v.Entity, f.ID)
			}
		}
	}
	found, err := o.s.FindEntities(o.ctx, v, "mill", "", 0)
	o.must(err)
	if len(found) > 0 != o.knows(v.Entity, "entity", at) {
		o.r.Fatalf("%s finds the mill: %v", v.Entity, len(found) > 0)
	}
}
