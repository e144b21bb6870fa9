package bot

import (
	"context"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// A Workshop is the tool host as the game master sees it: which servers are up,
// how quick each tool is, and what waits for a decision.
type Workshop struct{ host *mcp.Host }

// NewWorkshop shows a host.
func NewWorkshop(host *mcp.Host) *Workshop { return &Workshop{host} }

// A Server is where tools come from.
type Server struct {
	Name, State, Error, Version, Protocol, Confinement string
	// Up servers answer; the others say why not in Error.
	Up             bool
	Since          time.Time
	Tools, Blocked int
	Trusted        bool
}

// Servers returns the tool servers, by name. Built-in tools have none.
func (w *Workshop) Servers() []Server {
	var out []Server
	for _, s := range w.host.Servers() {
		out = append(out, Server{
			Name: s.Name, State: string(s.State), Error: s.Error, Version: s.Version, Protocol: s.Protocol, Confinement: s.Confinement,
			Up: s.State == mcp.Up, Since: s.Since, Tools: s.Tools, Blocked: s.Blocked, Trusted: s.Trusted,
		})
	}
	return out
}

// A Gauged is a tool with what was measured of it.
type Gauged struct {
	Name, Server, About, Category string
	// Tier is where it belongs, Why by whose word.
	Tier mcp.Tier
	Why  string
	// Blocked says why it cannot be used; Health how it fares.
	Blocked, Health string
	Writes, Open    bool
	Calls           int
	Errors          float64 // share of calls
	P50, P95, P99   time.Duration
	// Last are how long the latest calls took, the oldest first.
	Last []time.Duration
}

// Tools returns every tool there is, by name.
func (w *Workshop) Tools() []Gauged {
	var out []Gauged
	for _, t := range w.host.Status() {
		about, _, _ := strings.Cut(t.Description, "\n")
		g := Gauged{
			Name: t.Name, Server: t.Server, About: about, Category: string(t.Category), Tier: t.Tier, Why: t.Why,
			Blocked: t.Blocked, Health: t.Health, Writes: t.Writes || t.Destructive, Open: t.OpenWorld,
			Calls: t.Calls, Errors: t.Errors, P50: t.P50, P95: t.P95, P99: t.P99,
		}
		for _, s := range t.Last {
			g.Last = append(g.Last, s.Took)
		}
		out = append(out, g)
	}
	return out
}

// A Wish is a call that an NPC wants to make and the game master has to allow.
type Wish struct {
	ID, Hash, NPC, Tool string
	// Args are exactly what the tool will get.
	Args    string
	Expires time.Time
}

// Wishes returns the calls that wait, the oldest first.
func (w *Workshop) Wishes() []Wish {
	var out []Wish
	for _, a := range w.host.Approvals() {
		out = append(out, Wish{a.ID, a.Hash, a.Caller.NPC, a.Tool.Name, string(a.Args), a.Expires})
	}
	return out
}

// Decide grants a wish, once and as it was shown, or turns it down. It returns
// what the tool answered.
func (w *Workshop) Decide(ctx context.Context, by Person, id, hash string, grant bool) (string, error) {
	if !grant {
		return "", w.host.Deny(id, hash, by.Name)
	}
	r, err := w.host.Approve(ctx, id, hash, by.Name)
	return r.Text, err
}

// A Change is what a server says of a tool now, and what was agreed to before.
type Change struct{ Server, Tool, Verdict, Was, Now, Hash string }

// Changes returns the definitions that wait for somebody to look at them.
func (w *Workshop) Changes() ([]Change, error) {
	waiting, err := w.host.Waiting()
	var out []Change
	for _, c := range waiting {
		out = append(out, Change{c.Server, c.Tool, string(c.Verdict), c.Was, c.Now, c.Hash})
	}
	return out, err
}

// Agree accepts a definition as it was shown.
func (w *Workshop) Agree(by Person, server, tool, hash string) error {
	return w.host.Trust(server, tool, hash, by.Name)
}

// Restart asks for another try of a server that is down.
func (w *Workshop) Restart(server string) error { return w.host.Restart(server) }
