package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/trust"
)

// HostOptions says how a host works. The zero value is useful.
type HostOptions struct {
	// Log receives one line per change of a server. Nil discards them.
	Log *slog.Logger
	// OnCall is told of every call and decision, after it, in the goroutine of
	// the call: it must return quickly. Nil is fine.
	OnCall func(CallRecord)
	// Limits bound results and belts.
	Limits Limits
	// Constraints narrow belts by what is talked about.
	Constraints []Constraint
	// LazyAbove is how many tokens the tools of a belt may cost before those of
	// servers have to be asked for with [FindTools]. Zero means always to show all.
	LazyAbove int
	// Dir keeps what must outlive the program: approved definitions, measurements
	// and the servers' own directories. "" keeps nothing.
	Dir string
	// Pins is the file of approved definitions, for hosts that share one. "" is in
	// Dir.
	Pins string
	// Version is the program's, told to servers.
	Version string
}

// A Host holds all tools and the connections to their servers. It is safe for
// concurrent use.
type Host struct {
	log     *slog.Logger
	onCall  func(CallRecord)
	limits  Limits
	narrow  *constraintMap
	cache   *cache
	dir     string
	version string

	lazyAbove int

	pins   *trust.Book
	meters meters

	ctx    context.Context // of everything that outlives a call; ends with Close
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup

	// generation grows with every change that may alter a belt.
	generation atomic.Uint64
	catalog    atomic.Pointer[catalog]

	mu       sync.Mutex // guards the next group; taken before no other lock
	builtins []*entry
	servers  map[string]*server
	closed   bool
	tidy     sync.Once // starts tidyUp with the first server

	belts     beltCache
	approvals approvals
}

// NewHost returns a host without tools.
func NewHost(o HostOptions) (*Host, error) {
	narrow, err := newConstraintMap(o.Constraints)
	if err != nil {
		return nil, err
	}
	h := &Host{
		log:    o.Log,
		onCall: o.OnCall,
		limits: o.Limits.filled(),
		narrow: narrow,
		cache:  newCache(),
		dir:    o.Dir,

		lazyAbove: o.LazyAbove,

		version: cmp.Or(o.Version, "dev"),
		meters:  meters{byKey: map[string]*meter{}},
		servers: map[string]*server{},
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	pins := o.Pins
	if h.dir != "" {
		if err := os.MkdirAll(h.dir, 0o700); err != nil {
			return nil, err
		}
		pins = cmp.Or(pins, PinsFile(h.dir))
		if err := h.loadMeters(); err != nil {
			h.log.Warn("earlier measurements of tools cannot be read", "err", err)
		}
	}
	if pins != "" {
		if err := os.MkdirAll(filepath.Dir(pins), 0o700); err != nil {
			return nil, err
		}
	}
	if h.pins, err = trust.Open(pins); err != nil {
		return nil, err
	}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	h.catalog.Store(newCatalog(nil))
	return h, nil
}

// PinsFile is where a host with the directory dir keeps the definitions that were
// agreed to; see [trust.Open].
func PinsFile(dir string) string { return filepath.Join(dir, "pins.json") }

// Add offers tools of this process. Either all are added or none. They are of
// category [Core] unless they say otherwise, and stay for the host's life.
func (h *Host) Add(tools ...Builtin) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[string]bool{}
	for _, e := range h.builtins {
		seen[e.Name] = true
	}
	var added []*entry
	for _, b := range tools {
		e, err := h.builtinEntry(b)
		if err != nil {
			return err
		}
		if seen[e.Name] {
			return fmt.Errorf("tool %q: there is one of that name already", e.Name)
		}
		seen[e.Name] = true
		added = append(added, e)
	}
	h.builtins = append(h.builtins, added...)
	h.rebuildLocked()
	return nil
}

// builtinEntry checks a tool of our own. Its word about itself is believed.
func (h *Host) builtinEntry(b Builtin) (*entry, error) {
	if err := checkToolName(b.Name); err != nil {
		return nil, err
	}
	if b.Name == FindTools {
		return nil, fmt.Errorf("tool %q: the name is taken by the host", b.Name)
	}
	if b.Call == nil {
		return nil, fmt.Errorf("tool %q: no function to call", b.Name)
	}
	t := b.Tool
	t.Server = ""
	if t.Category == "" {
		t.Category = Core
	}
	if len(t.Schema) == 0 {
		t.Schema = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	args, err := compileArgs(t.Schema)
	if err != nil {
		return nil, fmt.Errorf("tool %q: %w", b.Name, err)
	}
	e := &entry{
		Tool:   t,
		hash:   definitionHash(t),
		limit:  t.Max,
		taints: t.OpenWorld,
		args:   args,
		block:  b.Missing,
		meter:  h.meter("", h.version, t.Name, t.Category),
	}
	if t.Estimated > 0 {
		e.declared = new(tierFor(t.Estimated))
	}
	e.run = func(ctx context.Context, who Caller, args json.RawMessage) (answer, error) {
		text, err := b.Call(ctx, who, args)
		if err != nil && ctx.Err() == nil {
			// A tool of our own that returns an error has answered: unknown rule,
			// bad dice. That says nothing about its health.
			return answer{text: err.Error(), refused: true}, nil
		}
		return answer{text: text}, err
	}
	return e, nil
}

// rebuild makes a new catalogue of all there is.
func (h *Host) rebuild() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rebuildLocked()
}

// rebuildLocked is rebuild for a caller that holds mu.
func (h *Host) rebuildLocked() {
	entries := slices.Clone(h.builtins)
	for _, s := range h.servers {
		entries = append(entries, s.offers()...)
	}
	h.catalog.Store(newCatalog(entries))
	h.changed()
}

// changed makes belts made before count as old.
func (h *Host) changed() { h.generation.Add(1) }

// Tools returns every tool that could be on a belt now, by name.
func (h *Host) Tools() []Tool {
	var tools []Tool
	for _, e := range h.catalog.Load().entries {
		if e.block == "" {
			tools = append(tools, e.Tool)
		}
	}
	return tools
}

// record reports a call or decision.
func (h *Host) record(r CallRecord) {
	if h.onCall == nil {
		return
	}
	if r.At.IsZero() {
		r.At = time.Now()
	}
	h.onCall(r)
}

// errText is an error as a model may read it: without our own wrapping, short.
func errText(err error) string {
	if e, ok := errors.AsType[*toolError](err); ok {
		return e.text
	}
	s, _ := cut(clean(err.Error()), 500)
	return s
}

// A toolError is an error with a text for the model.
type toolError struct {
	text string
	err  error
}

func (e *toolError) Error() string { return e.text }
func (e *toolError) Unwrap() error { return e.err }

// tell makes an error that a model is told as written.
func tell(err error, format string, args ...any) error {
	return &toolError{fmt.Sprintf(format, args...), err}
}
