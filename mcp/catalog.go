package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/gauge"
)

// An answer is what a tool gave back, before it is cleaned, cut and marked.
type answer struct {
	text string
	// refused says that the tool answered with an error of its own.
	refused bool
}

// An entry is a tool with all that is needed to run it. Entries are immutable,
// but for their meter.
type entry struct {
	Tool
	// hash is the definition's, so that a belt notices that a tool changed.
	hash string
	// tier is the operator's word on where the tool belongs, or nil.
	tier *Tier
	// declared is the tier that its author's estimate gives, where it counts.
	declared *Tier
	// atLeast is the tier that a server we do not trust gives its own tool: it may
	// make it slower, never faster.
	atLeast *Tier
	// limit is the tool's own deadline; 0 leaves the tier's.
	limit time.Duration
	// block says why the tool may not be used at all; "" if it may.
	block string
	// lacks returns the scopes that the tool needs and that were not granted; nil for
	// tools that need none.
	lacks func() []string
	// taints marks results that may carry somebody's instructions.
	taints bool
	// retry allows one more try after the way to the tool broke.
	retry bool
	// remote is the server's own name for it; probe are arguments to measure with.
	remote string
	probe  json.RawMessage

	args  *argCheck
	meter *meter
	run   func(ctx context.Context, who Caller, args json.RawMessage) (answer, error)
}

// ungranted says which scopes are missing; "" if none are. Tokens are renewed while
// the program runs, with what is granted then.
func (e *entry) ungranted() string {
	if e.lacks == nil {
		return ""
	}
	switch missing := e.lacks(); len(missing) {
	case 0:
		return ""
	case 1:
		return "needs the scope " + missing[0] + ", which was not granted to us"
	default:
		return "needs the scopes " + strings.Join(missing, ", ") + ", which were not granted to us"
	}
}

// A meter is a gauge that many turns may read and write.
type meter struct {
	id Measured // without samples; guarded by the host's meters

	mu    sync.Mutex // guards gauge; held for no longer than one method of it
	gauge *gauge.Gauge
}

func newMeter() *meter {
	return &meter{gauge: gauge.New(Fast.Budget(), Standard.Budget())}
}

// record tells the gauge how a call went. changed says that belts made before may
// be wrong now.
func (m *meter) record(now time.Time, took time.Duration, o gauge.Outcome) (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, known := m.gauge.Level()
	h := m.gauge.Health(now)
	m.gauge.Record(now, took, o)
	l2, known2 := m.gauge.Level()
	return l != l2 || known != known2 || h != m.gauge.Health(now)
}

func (m *meter) try(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gauge.Try(now)
}

// place is where a tool belongs at this moment.
type place struct {
	tier   Tier
	why    string // in words, for the console
	health gauge.Health
}

// place decides the tool's tier: the operator's word, else measurement, else what
// a believable author declared, else the slowest. Health applies to all but the
// operator's word, who is told by the health itself.
func (e *entry) place(now time.Time) place {
	m := e.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	p := place{health: m.gauge.Health(now)}
	level, measured := m.gauge.Level()
	switch {
	case e.tier != nil:
		p.tier, p.why = *e.tier, "configured"
	case measured:
		p.tier, p.why = Tier(level), "measured"
	case e.declared != nil:
		p.tier, p.why = Tier(m.gauge.Lower(int(*e.declared))), "declared"
	default:
		p.tier, p.why = Deep, "nothing known about its speed"
	}
	if e.tier == nil && e.atLeast != nil && *e.atLeast > p.tier {
		p.tier, p.why = *e.atLeast, "its server says so"
	}
	if e.tier == nil && e.Least > p.tier {
		p.tier, p.why = e.Least, "never sooner, whatever it takes"
	}
	if p.health == gauge.Degraded && e.tier == nil {
		p.why += ", slower while it fails often"
	}
	return p
}

// A catalog is every tool there is, in the order in which models see them. It is
// immutable; a change makes a new one.
type catalog struct {
	entries []*entry // by name
}

func newCatalog(entries []*entry) *catalog {
	slices.SortFunc(entries, func(a, b *entry) int { return strings.Compare(a.Name, b.Name) })
	return &catalog{entries}
}

func (c *catalog) find(name string) *entry { return lookUp(c.entries, name) }

// lookUp finds a name in entries that are sorted by name.
func lookUp(entries []*entry, name string) *entry {
	i, ok := slices.BinarySearchFunc(entries, name, func(e *entry, n string) int { return strings.Compare(e.Name, n) })
	if !ok {
		return nil
	}
	return entries[i]
}

// tierFor is the fastest tier whose budget holds d.
func tierFor(d time.Duration) Tier {
	for _, t := range []Tier{Fast, Standard} {
		if d <= t.Budget() {
			return t
		}
	}
	return Deep
}
