package mcp

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestDeadlineEndsEverybodyWhoWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		d := &deadline{Context: t.Context(), at: begin.Add(time.Second)}
		defer d.release()
		child, cancel := context.WithTimeout(d, time.Minute)
		defer cancel()
		told := make(chan time.Duration, 1)
		stop := context.AfterFunc(d, func() { told <- time.Since(begin) })
		defer stop()
		if err := d.Err(); err != nil {
			t.Errorf("at the start: %v", err)
		}
		<-child.Done()
		if took := time.Since(begin); took != time.Second {
			t.Errorf("a child waited %v, want 1s", took)
		}
		if took := <-told; took != time.Second {
			t.Errorf("told after %v, want 1s", took)
		}
		for name, ctx := range map[string]context.Context{"the call": d, "a child": child} {
			if err, cause := ctx.Err(), context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(cause, errDeadline) {
				t.Errorf("%s: %v because %v, want %v because %v", name, err, cause, context.DeadlineExceeded, errDeadline)
			}
		}
	})
}

func TestDeadlineIsKnownWithoutATimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deadline{Context: t.Context(), at: time.Now().Add(time.Second)}
		if at, ok := d.Deadline(); !ok || !at.Equal(d.at) || d.Err() != nil {
			t.Errorf("before: %v %v %v", at, ok, d.Err())
		}
		time.Sleep(time.Second)
		if err := d.Err(); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(d.cause(), errDeadline) {
			t.Errorf("after: %v because %v", err, d.cause())
		}
		if d.armed != nil {
			t.Error("a timer was made, and nobody waits")
		}
	})
}

func TestWhoeverEndsTheCallFirstIsTheCause(t *testing.T) {
	errTalkedOver := errors.New("talked over")
	for _, waited := range []bool{false, true} {
		parent, cancel := context.WithCancelCause(t.Context())
		d := &deadline{Context: parent, at: time.Now().Add(time.Hour)}
		if waited {
			_ = d.Done()
		}
		cancel(errTalkedOver)
		if cause := context.Cause(d); !errors.Is(cause, errTalkedOver) || !errors.Is(d.Err(), context.Canceled) {
			t.Errorf("waited for %v: %v because %v", waited, d.Err(), cause)
		}
		d.release()
	}
}

func TestReleasedDeadlineLeavesNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deadline{Context: context.Background(), at: time.Now().Add(time.Hour)}
		done := d.Done()
		d.release()
		<-done
		if d.Err() == nil {
			t.Error("done, and no error says so")
		}
	})
}

func TestBuiltinCallAllocatesNextToNothing(t *testing.T) {
	var calls atomic.Int64
	h := newTestHost(t, HostOptions{Limits: Limits{ToolSteps: 1000}}, echo("roll", &calls, nil))
	belt := h.Belt(Grant{Caller: Caller{NPC: "bartok"}, Allow: []string{"roll"}})
	ctx := t.Context()
	n := testing.AllocsPerRun(500, func() {
		belt.steps.Store(0)
		belt.Call(ctx, "roll", expr)
	})
	if n > 2 { // the deadline, and the tool's own text
		t.Errorf("%v allocations a call, want 2", n)
	}
}
