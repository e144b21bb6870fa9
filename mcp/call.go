package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/gauge"
)

// Call runs the named tool. It checks again what the belt was made for, since a
// tool may have changed or vanished since; validates the arguments; and returns
// at the tool's, the tier's or ctx's deadline, whichever comes first. Several
// calls may run side by side.
//
// The result's Text is always something to tell the model, also when Err is set.
func (b *Belt) Call(ctx context.Context, name string, args json.RawMessage) Result {
	start := time.Now()
	var r Result
	var e *entry
	var err error
	asked := name == FindTools && b.set.index != nil
	if !asked {
		e, args, err = b.admit(name, args)
	} else if n := b.steps.Add(1); int(n) > b.host.limits.ToolSteps {
		err = tooMany(n - 1)
	}
	switch {
	case err == nil && asked:
		r = b.search(args)
	case err != nil:
		r = failure(err)
	case e.Writes && (b.grant.Writes == WriteDry || b.grant.NoExecute && e.Executes()):
		shown, _ := cut(clean(string(args)), 300)
		r = failure(tell(ErrDryRun, "Nothing was done: %s is not allowed to change things here. It would have been called with %s.", name, shown))
	case e.Writes && b.grant.Writes == WriteAsk:
		r = b.host.ask(b.grant, e, args, start)
	default:
		r = b.host.run(ctx, e, b.grant.Caller, b.grant.Tier, args, start)
		if e.taints && (r.Err == nil || errors.Is(r.Err, ErrRefused)) { // a refusal has text, too
			b.tainted.CompareAndSwap(nil, &e.Name)
		}
	}
	if r.Took == 0 {
		r.Took = time.Since(start)
	}
	if b.host.onCall == nil {
		return r
	}
	rec := CallRecord{
		At: start, Caller: b.grant.Caller, Tool: clean(name[:min(len(name), maxName)]), Tier: b.grant.Tier,
		Args: args, Outcome: outcomeOf(r.Err), Took: r.Took, Cached: r.Cached, Bytes: len(r.Raw),
	}
	if e != nil {
		rec.Server = e.Server
	}
	if r.Err != nil {
		rec.Error = errText(r.Err)
	}
	b.host.record(rec)
	return r
}

// failure is a result that tells the model what went wrong.
func failure(err error) Result {
	return Result{Text: "Error: " + errText(err), Err: err}
}

// admit decides whether a call may happen, by everything but the tool's word.
func (b *Belt) admit(name string, args json.RawMessage) (*entry, json.RawMessage, error) {
	e := lookUp(b.set.entries, name)
	if e == nil {
		for _, h := range b.set.hidden {
			if matches(h.Name, name) {
				return nil, args, tell(ErrHidden, "%s is not available now: %s.", name, h.Reason)
			}
		}
		return nil, args, b.unknown(name)
	}
	if by := b.tainted.Load(); by != nil && !e.ReadOnly {
		return e, args, tell(ErrHidden, "%s is not available for the rest of this turn, because %s brought in text that is not trusted.", name, *by)
	}
	now := b.host.catalog.Load().find(name)
	switch {
	case now == nil:
		return e, args, tell(ErrHidden, "%s has just gone away.", name)
	case now.hash != e.hash:
		return e, args, tell(ErrHidden, "%s has just changed and has to be approved.", name)
	case now.block != "":
		return e, args, tell(ErrHidden, "%s is not available now: %s.", name, now.block)
	}
	if why := now.ungranted(); why != "" {
		return e, args, tell(ErrHidden, "%s is not available now: it %s.", name, why)
	}
	if n := b.steps.Add(1); int(n) > b.host.limits.ToolSteps {
		return e, args, tooMany(n - 1)
	}
	checked, err := now.args.check(args)
	if err != nil {
		return now, args, err
	}
	return now, checked, nil
}

func tooMany(calls int32) error {
	return tell(ErrSteps, "No more tools in this turn: %d calls were made. Answer with what you have.", calls)
}

// unknown tells a model that it has no such tool, and what it may have meant.
func (b *Belt) unknown(name string) error {
	name, _ = cut(clean(name), maxName)
	tools := b.Tools()
	if len(tools) == 0 {
		return tell(ErrNotGranted, "There is no tool %q, and you have no tools in this turn.", name)
	}
	var names []string
	for _, t := range tools[:min(len(tools), 20)] {
		names = append(names, t.Name)
	}
	more := ""
	if len(tools) > 20 {
		more = ", ..."
	}
	return tell(ErrNotGranted, "There is no tool %q. You have: %s%s.", name, strings.Join(names, ", "), more)
}

// run answers from the cache or calls the tool.
func (h *Host) run(ctx context.Context, e *entry, who Caller, t Tier, args json.RawMessage, start time.Time) (r Result) {
	var key string
	if e.Cache > 0 && e.ReadOnly {
		key = cacheKey(e, who, args)
		if a, ok := h.cache.get(start, key); ok {
			r = h.present(e, a)
			r.Cached = true
			return r
		}
	}
	if !e.meter.try(start) {
		return failure(tell(ErrHidden, "%s failed too often just now. Do without it.", e.Name))
	}
	limit := t.Budget()
	if e.limit > 0 {
		limit = min(limit, e.limit)
	}
	at := start.Add(limit)
	if d, ok := ctx.Deadline(); ok && d.Before(at) {
		at = d
	}
	end := &deadline{Context: ctx, at: at}
	defer end.release()

	a, err := h.attempt(end, e, who, args)
	if err != nil && e.retry && end.Err() == nil {
		a, err = h.attempt(end, e, who, args)
	}
	took := time.Since(start)
	now := start.Add(took)
	defer func() { r.Took = took }()
	if err == nil && a.refused {
		h.measure(e, now, took, gauge.Refused)
		text, _ := cut(clean(a.text), h.limits.ShownBytes)
		r = failure(&toolError{text, ErrRefused})
		r.Text = h.mark(e, r.Text)
		return r
	}
	if err == nil {
		h.measure(e, now, took, gauge.OK)
		if key != "" {
			h.cache.put(now, key, a, e.Cache)
		}
		return h.present(e, a)
	}
	switch cause := end.cause(); {
	case cause == nil:
		h.measure(e, now, took, gauge.Failed)
		h.log.Warn("tool failed", "tool", e.Name, "err", err)
		return failure(&toolError{e.Name + " failed: " + errText(err), fmt.Errorf("%w: %w", ErrBroken, err)})
	case errors.Is(cause, errDeadline), errors.Is(cause, context.DeadlineExceeded):
		h.measure(e, now, took, gauge.Late)
		return failure(tell(ErrLate, "%s did not answer within %v. Go on without it.", e.Name, took.Round(10*time.Millisecond)))
	default:
		return failure(&toolError{"The call was given up.", fmt.Errorf("%w: %w", errGivenUp, cause)})
	}
}

// attempt calls the tool once. A tool that panics has failed, no more.
func (h *Host) attempt(ctx context.Context, e *entry, who Caller, args json.RawMessage) (a answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("tool panicked", "tool", e.Name, "panic", p, "stack", string(debug.Stack()))
			err = errors.New("it broke down")
		}
	}()
	return e.run(ctx, who, args)
}

// measure records a call and makes belts look again where that moved the tool.
func (h *Host) measure(e *entry, now time.Time, took time.Duration, o gauge.Outcome) {
	if e.meter.record(now, took, o) {
		h.changed()
	}
}

// present turns an answer into what a model is shown.
func (h *Host) present(e *entry, a answer) Result {
	text, short := cut(clean(a.text), h.limits.ShownBytes)
	return Result{Text: h.mark(e, text), Raw: text, Cut: short}
}

// mark delimits what other people wrote.
func (h *Host) mark(e *entry, text string) string {
	if e.Server == "" && !e.taints {
		return text
	}
	return quote(e.Name, text)
}

// cacheKey is the same for two calls exactly if they may share an answer. Tools
// of our own read memory through the eyes of an NPC, so NPCs share nothing.
func cacheKey(e *entry, who Caller, args json.RawMessage) string {
	var v any
	if json.Unmarshal(args, &v) == nil {
		if b, err := json.Marshal(v); err == nil {
			args = b // sorted keys, no spaces
		}
	}
	npc := ""
	if e.Server == "" {
		npc = who.Campaign + "\x00" + who.NPC
	}
	return e.Name + "\x00" + e.hash + "\x00" + npc + "\x00" + string(args)
}
