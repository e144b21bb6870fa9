package mcp

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/find"
	"github.com/glyphoxa/glyphoxa/mcp/gauge"
)

// A Grant says what one NPC may use in one turn.
type Grant struct {
	// Caller is passed on to the tools.
	Caller
	// Allow is the NPC's whitelist: exact names, or server__* for all tools of a
	// server. Empty means none.
	Allow []string
	// Tier is what the turn has time for.
	Tier Tier
	// Utterance is what the player said. It can only narrow the belt.
	Utterance string
	// Writes says what happens when a tool that writes is called.
	Writes Writing
	// NoExecute keeps tools that run programs dry ([Tool.Executes]), whatever Writes
	// allows.
	NoExecute bool
	// Helper marks an NPC that answers the players' questions instead of playing
	// a part in the story. Tools may be kept for helpers alone.
	Helper bool
}

// Writing is what happens when a model calls a tool that writes.
type Writing uint8

const (
	// WriteDry does nothing and tells the model what would have been done.
	WriteDry Writing = iota
	// WriteAsk puts the call before the game master; see [Host.Approve].
	WriteAsk
	// WriteFree runs it. For tests and tables that want it so.
	WriteFree
)

// A Hidden is a tool of the whitelist that is not on the belt, and why.
type Hidden struct {
	Name   string
	Reason string
}

// A Belt is the tools one NPC may use in one turn. Which tools these are is fixed
// when it is made; it remembers what happened in its turn, so make a new one for
// the next. It is safe for concurrent use.
type Belt struct {
	host  *Host
	set   *beltSet
	grant Grant

	steps   atomic.Int32
	tainted atomic.Pointer[string] // name of the tool whose result was not trusted

	foundMu sync.Mutex // guards found
	found   []Tool     // brought in by find_tools, in the order of their finding
}

// A beltSet is the part of a belt that many turns may share. It is immutable.
type beltSet struct {
	entries []*entry // by name
	tools   []Tool   // the same, as models see them
	tame    []Tool   // those that change nothing
	hidden  []Hidden
	active  []string // constraints that narrowed it

	// deferred entries are not among tools until find_tools finds them; index
	// searches them. Both are nil where all are shown.
	deferred []*entry
	index    *find.Index
}

// Tools returns what a model may be offered now, in a stable order. The slice is
// shared: do not change it. After a result that is not trusted it holds only
// tools that change nothing; what [FindTools] found comes last.
func (b *Belt) Tools() []Tool {
	tainted := b.tainted.Load() != nil
	if b.set.index == nil {
		if tainted {
			return b.set.tame
		}
		return b.set.tools
	}
	b.foundMu.Lock()
	defer b.foundMu.Unlock()
	tools := slices.Concat(b.set.tools, b.found)
	if tainted {
		tools = slices.DeleteFunc(tools, func(t Tool) bool { return !t.ReadOnly })
	}
	return tools
}

// Hidden returns the tools of the whitelist that are not on the belt, by name.
func (b *Belt) Hidden() []Hidden {
	by := b.tainted.Load()
	if by == nil {
		return b.set.hidden
	}
	hidden := slices.Clone(b.set.hidden)
	for _, e := range b.set.entries {
		if !e.ReadOnly {
			hidden = append(hidden, Hidden{e.Name, "changes things, and " + *by + " brought in text that is not trusted"})
		}
	}
	slices.SortFunc(hidden, func(x, y Hidden) int { return strings.Compare(x.Name, y.Name) })
	return hidden
}

// Tier is what the belt was made for.
func (b *Belt) Tier() Tier { return b.grant.Tier }

// Constraints names the constraints that the utterance activated.
func (b *Belt) Constraints() []string { return b.set.active }

// Belt returns the tools that the grant allows now.
func (h *Host) Belt(g Grant) *Belt {
	now := time.Now()
	key := beltKey{g.NPC, g.Helper, g.Tier, h.narrow.active(g.Utterance)}
	gen := h.generation.Load()
	set := h.belts.get(key, gen, now, g.Allow)
	if set == nil {
		set = h.beltSet(g, key.active, now)
		h.belts.put(key, gen, now, slices.Clone(g.Allow), set)
	}
	return &Belt{host: h, set: set, grant: g}
}

// beltSet chooses the tools of a belt.
func (h *Host) beltSet(g Grant, active uint64, now time.Time) *beltSet {
	s := &beltSet{active: h.narrow.names(active)}
	cat := h.catalog.Load()
	met := map[string]bool{} // patterns that meant something
	for _, e := range cat.entries {
		i := slices.IndexFunc(g.Allow, func(p string) bool { return matches(p, e.Name) })
		if i < 0 {
			continue
		}
		for _, p := range g.Allow {
			met[p] = met[p] || matches(p, e.Name)
		}
		if why := h.unfit(e, g, active, now); why != "" {
			s.hidden = append(s.hidden, Hidden{e.Name, why})
			continue
		}
		if len(s.entries) >= h.limits.Tools {
			s.hidden = append(s.hidden, Hidden{e.Name, fmt.Sprintf("a belt holds %d tools at most", h.limits.Tools)})
			continue
		}
		s.entries = append(s.entries, e)
	}
	for _, p := range g.Allow {
		if !met[p] {
			s.hidden = append(s.hidden, Hidden{p, h.missing(p)})
			met[p] = true
		}
	}
	for _, e := range s.entries {
		s.tools = append(s.tools, e.Tool)
		if e.ReadOnly {
			s.tame = append(s.tame, e.Tool)
		}
	}
	slices.SortFunc(s.hidden, func(x, y Hidden) int { return strings.Compare(x.Name, y.Name) })
	if g.Tier != Fast {
		s.lazily(h.lazyAbove) // a search is a round more than the fast tier has time for
	}
	return s
}

// unfit says why a tool is not for this belt; "" if it is.
func (h *Host) unfit(e *entry, g Grant, active uint64, now time.Time) string {
	if e.block != "" {
		return e.block
	}
	if e.HelpersOnly && g.NPC != "" && !g.Helper {
		return "is for helpers only (helper: true in the NPC's file)"
	}
	if why := e.ungranted(); why != "" {
		return why
	}
	if why := h.narrow.narrows(active, e.Name); why != "" {
		return why
	}
	p := e.place(now)
	switch {
	case p.health == gauge.Off:
		return "failed too often just now"
	case p.tier > g.Tier:
		return fmt.Sprintf("needs the %v tier (%s)", p.tier, p.why)
	}
	return ""
}

// missing says why a whitelist entry means no tool.
func (h *Host) missing(pattern string) string {
	name := serverOf(pattern)
	if name == "" {
		return "no such tool"
	}
	h.mu.Lock()
	s := h.servers[name]
	h.mu.Unlock()
	if s == nil {
		return fmt.Sprintf("no server %s is configured", name)
	}
	switch st := s.info(); {
	case st.State == Up:
		return fmt.Sprintf("server %s has no such tool", name)
	case st.Error != "":
		return fmt.Sprintf("server %s is %s: %s", name, st.State, st.Error)
	default:
		return fmt.Sprintf("server %s is %s", name, st.State)
	}
}

const (
	// maxBelts bounds the belts that are kept for the next turn.
	maxBelts = 256
	// beltLife is how long a belt may be reused without looking again: health
	// changes with time alone, when a pause ends.
	beltLife = time.Second
)

// A beltCache keeps the last belts, since most turns change nothing.
type beltCache struct {
	mu    sync.Mutex // guards byKey
	byKey map[beltKey]beltMade
}

type beltKey struct {
	npc    string
	helper bool
	tier   Tier
	active uint64
}

type beltMade struct {
	generation uint64
	at         time.Time
	allow      []string
	set        *beltSet
}

func (c *beltCache) get(k beltKey, gen uint64, now time.Time, allow []string) *beltSet {
	c.mu.Lock()
	m, ok := c.byKey[k]
	c.mu.Unlock()
	if !ok || m.generation != gen || now.Sub(m.at) >= beltLife || !slices.Equal(m.allow, allow) {
		return nil
	}
	return m.set
}

func (c *beltCache) put(k beltKey, gen uint64, now time.Time, allow []string, s *beltSet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil || len(c.byKey) >= maxBelts {
		c.byKey = map[beltKey]beltMade{}
	}
	c.byKey[k] = beltMade{gen, now, allow, s}
}
