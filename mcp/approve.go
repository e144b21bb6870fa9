package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// approvalLife is how long a game master may take to press the button. After
	// a minute the scene has moved on.
	approvalLife = 60 * time.Second
	// maxApprovals bounds the calls that wait.
	maxApprovals = 16
)

// An Approval is a call that waits for the game master. What is approved is this
// call with these arguments, once.
type Approval struct {
	ID   string
	Tool Tool
	// Args are exactly what the tool will be given.
	Args json.RawMessage
	// Hash binds the approval to name and arguments.
	Hash    string
	Caller  Caller
	Expires time.Time

	entry *entry
}

type approvals struct {
	mu   sync.Mutex // guards list
	list []*Approval
}

// ErrNoApproval means that nothing of that id waits: never asked, decided
// already, or expired.
var ErrNoApproval = errors.New("nothing of that id waits for approval")

// ask keeps a call for the game master.
func (h *Host) ask(g Grant, e *entry, args json.RawMessage, now time.Time) Result {
	sum := sha256.Sum256([]byte(e.Name + "\x00" + e.hash + "\x00" + string(args)))
	a := &Approval{
		ID: rand.Text(), Tool: e.Tool, Args: slices.Clone(args), Hash: hex.EncodeToString(sum[:8]),
		Caller: g.Caller, Expires: now.Add(approvalLife), entry: e,
	}
	w := &h.approvals
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expire(now)
	for _, x := range w.list {
		if x.Hash == a.Hash && x.Caller.NPC == a.Caller.NPC {
			return waiting(x) // asked for twice is still one call
		}
	}
	if len(w.list) >= maxApprovals {
		return failure(tell(ErrApproval, "%s needs the game master's approval, and too much waits for it already. Nothing was done.", e.Name))
	}
	w.list = append(w.list, a)
	return waiting(a)
}

func waiting(a *Approval) Result {
	r := failure(tell(ErrApproval, "%s waits for the game master's approval. Nothing has been done yet; do not say that it was.", a.Tool.Name))
	r.Approval = a
	return r
}

func (w *approvals) expire(now time.Time) {
	w.list = slices.DeleteFunc(w.list, func(a *Approval) bool { return !now.Before(a.Expires) })
}

// take removes an approval, if id and hash are right and it is in time.
func (w *approvals) take(id, hash string, now time.Time) *Approval {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expire(now)
	i := slices.IndexFunc(w.list, func(a *Approval) bool { return a.ID == id && a.Hash == hash })
	if i < 0 {
		return nil
	}
	a := w.list[i]
	w.list = slices.Delete(w.list, i, i+1)
	return a
}

// Approvals returns the calls that wait, oldest first.
func (h *Host) Approvals() []Approval {
	w := &h.approvals
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expire(time.Now())
	list := make([]Approval, 0, len(w.list))
	for _, a := range w.list {
		list = append(list, *a)
	}
	return list
}

// Approve runs a waiting call, once, within the slowest tier's time. hash is the
// approval's as it was shown to the person who pressed the button; by names that
// person for the audit log. Whether they may approve is the caller's to check.
func (h *Host) Approve(ctx context.Context, id, hash, by string) (Result, error) {
	start := time.Now()
	a := h.approvals.take(id, hash, start)
	if a == nil {
		return Result{}, ErrNoApproval
	}
	now := h.catalog.Load().find(a.Tool.Name)
	if now == nil || now.hash != a.entry.hash || now.block != "" {
		return Result{}, fmt.Errorf("%s has changed or gone away since it was asked for: %w", a.Tool.Name, ErrHidden)
	}
	r := h.run(ctx, now, a.Caller, Deep, a.Args, start)
	r.Took = time.Since(start)
	rec := CallRecord{At: start, Caller: a.Caller, Tool: now.Name, Server: now.Server, Tier: Deep, Args: a.Args, Took: r.Took, By: by}
	if rec.Outcome = outcomeOf(r.Err); r.Err != nil {
		rec.Error = errText(r.Err)
	} else {
		rec.Outcome = Approved
	}
	h.record(rec)
	return r, nil
}

// Deny drops a waiting call.
func (h *Host) Deny(id, hash, by string) error {
	a := h.approvals.take(id, hash, time.Now())
	if a == nil {
		return ErrNoApproval
	}
	h.record(CallRecord{Caller: a.Caller, Tool: a.Tool.Name, Server: a.Tool.Server, Args: a.Args, Outcome: Denied, By: by})
	return nil
}
