package bot

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
)

// A Price is what a vendor asks. What is not set is free.
type Price struct {
	// Name is how the name of a model, recogniser or voice begins: "gpt-5-mini".
	Name string
	// In, CachedIn and Out are for a million tokens. Cached ones cost In if CachedIn
	// is not set.
	In, CachedIn, Out float64
	// AudioIn, CachedAudioIn and AudioOut are for a million tokens of sound.
	AudioIn, CachedAudioIn, AudioOut float64
	// Letters is for a million characters spoken, Hour for an hour heard.
	Letters, Hour float64
}

// Prices are tried in their order; the first whose name fits counts.
type Prices []Price

func (ps Prices) of(name string) Price {
	for _, p := range ps {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(p.Name)) {
			return p
		}
	}
	return Price{}
}

// Cost is what was used of a part with this name, in the currency of the prices.
func (ps Prices) Cost(name string, u engine.Usage) float64 {
	const million = 1e6
	p := ps.of(name)
	cached, cachedAudio := p.CachedIn, p.CachedAudioIn
	if cached == 0 {
		cached = p.In
	}
	if cachedAudio == 0 {
		cachedAudio = p.AudioIn
	}
	text := float64(u.In-u.CachedIn-u.AudioIn+u.CachedAudioIn)*p.In + float64(u.CachedIn-u.CachedAudioIn)*cached + float64(u.Out-u.AudioOut)*p.Out
	sound := float64(u.AudioIn-u.CachedAudioIn)*p.AudioIn + float64(u.CachedAudioIn)*cachedAudio + float64(u.AudioOut)*p.AudioOut
	return (text+sound+float64(u.Letters)*p.Letters)/million + u.Heard.Hours()*p.Hour
}

// A Budget is what a session may cost.
type Budget struct {
	Prices Prices
	// Cap is where the paid model stops answering; zero is no cap.
	Cap float64
	// Currency is how amounts are shown: "EUR", "$".
	Currency string
	// FreeVoice is the voice engine that NPCs have after the cap.
	FreeVoice string
}

// Spending is what the session has cost so far.
type Spending struct {
	Total    float64      `json:"total"`
	Cap      float64      `json:"cap,omitempty"`
	Currency string       `json:"currency,omitempty"`
	Used     engine.Usage `json:"used"`
	// Priced reports that there are prices; without them Total means nothing.
	Priced bool `json:"priced"`
}

// warnFrom is the part of the cap from which the DM is warned.
const warnFrom = 0.8

// spend adds what was used of a part, and returns what that cost. At four fifths
// of the cap the DM is told; at the cap NPCs fall back to the improviser and the
// voices of this machine, since silence would end the game.
func (t *Table) spend(name string, u engine.Usage) float64 {
	cost := t.o.Budget.Prices.Cost(name, u)
	before := t.spent.Total
	t.spent.Total += cost
	t.spent.Used = t.spent.Used.Plus(u)
	if limit := t.o.Budget.Cap; limit > 0 {
		switch now := t.spent.Total; {
		case before < limit && now >= limit:
			t.broke.Store(true)
			t.alert(Alert{Text: fmt.Sprintf("The session has cost its cap of %s. NPCs are played without the paid model and voices from here on; raise budget.cap in the configuration to change that.", t.money(limit)), Bad: true})
		case before < warnFrom*limit && now >= warnFrom*limit:
			t.alert(Alert{Text: fmt.Sprintf("The session has cost %s of %s.", t.money(now), t.money(limit))})
		}
	}
	return cost
}

// A thrift is an NPC's model that costs nothing once the table has spent its cap.
type thrift struct {
	paid, free engine.Model
	spent      *atomic.Bool
}

func (m thrift) now() engine.Model {
	if m.spent.Load() {
		return m.free
	}
	return m.paid
}

func (m thrift) Name() string { return m.now().Name() }

func (m thrift) Stream(ctx context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return m.now().Stream(ctx, r)
}

// Follows reports whether whoever answers now can be told to do that.
func (m thrift) Follows(direction string) bool {
	f, picky := m.now().(follower)
	return !picky || f.Follows(direction)
}

// affordable is the voice that an NPC has now.
func (t *Table) affordable(v engine.Voice) engine.Voice {
	if t.broke.Load() {
		v.Engine, v.ID = t.o.Budget.FreeVoice, ""
	}
	return v
}

func (t *Table) money(amount float64) string {
	return strings.TrimSpace(fmt.Sprintf("%.2f %s", amount, t.o.Budget.Currency))
}

// charge prices a turn once it has ended.
func (t *Table) charge(r *running, u engine.Usage) {
	letters := engine.Usage{Letters: len([]rune(r.coming))}
	if r.mouth == "" { // nothing was spoken, or by the model itself
		letters.Letters = 0
	}
	u.Letters = 0
	r.turn.Used = u.Plus(letters)
	r.turn.Cost = t.spend(r.turn.Brain, u) + t.spend(r.mouth, letters)
}

// chargeEar prices what a recogniser heard.
func (t *Table) chargeEar(began, ended time.Time) {
	if t.o.Ear != nil && ended.After(began) {
		t.spend(t.o.Ear.Name(), engine.Usage{Heard: ended.Sub(began)})
	}
}
