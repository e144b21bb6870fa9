package memory_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// A mind is a store whose reads can be slow or fail.
type mind struct {
	memory.Store
	searchTakes time.Duration
	claimsFail  error
	searches    atomic.Int32
}

func (m *mind) Entity(context.Context, memory.Viewer, string) (memory.Entity, error) {
	return memory.Entity{ID: "bartok"}, nil
}

func (m *mind) Recent(context.Context, memory.Viewer, memory.Window) ([]memory.Line, error) {
	return []memory.Line{{ID: "now"}}, nil
}

func (m *mind) Search(ctx context.Context, _ memory.Viewer, q memory.Query) ([]memory.Hit, error) {
	m.searches.Add(1)
	select {
	case <-time.After(m.searchTakes):
		return []memory.Hit{{Line: memory.Line{ID: "now"}}, {Line: memory.Line{ID: "old"}}}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (m *mind) Claims(context.Context, memory.Viewer, memory.ClaimQuery) ([]memory.Claim, error) {
	return []memory.Claim{{ID: "fact"}}, m.claimsFail
}

func (m *mind) FindEntities(_ context.Context, _ memory.Viewer, name string, _ memory.Kind, _ int) ([]memory.Entity, error) {
	return []memory.Entity{{ID: name}}, nil
}

var bartok = memory.Viewer{Campaign: "vale", Entity: "bartok"}

func TestABriefHasAllThatComesToMind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := memory.NewRecaller(&mind{searchTakes: 5 * time.Millisecond})
		defer r.Close()
		b := r.Brief(t.Context(), bartok, memory.Moment{Said: "Tell me about Gundren Rockseeker and the old mill."})
		if len(b.Missing) != 0 || b.Self.ID != "bartok" || len(b.Recent) != 1 || len(b.Known) != 1 {
			t.Errorf("brief %+v is not complete", b)
		}
		if len(b.Recalled) != 1 || b.Recalled[0].ID != "old" {
			t.Errorf("recalled %+v, want the older line alone", b.Recalled)
		}
		if len(b.Mentioned) != 1 || b.Mentioned[0].ID != "gundren rockseeker" {
			t.Errorf("mentioned %+v, want Gundren Rockseeker", b.Mentioned)
		}
	})
}

func TestALateOrBrokenPartDoesNotHoldUpABrief(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		r := memory.NewRecaller(&mind{searchTakes: time.Hour, claimsFail: broken})
		start := time.Now()
		b := r.Brief(t.Context(), bartok, memory.Moment{Said: "where is the silver mine"})
		if took := time.Since(start); took > 40*time.Millisecond {
			t.Errorf("took %v, want at most 40 ms", took)
		}
		if b.Missing["recalled"] == nil || !errors.Is(b.Missing["known"], broken) || len(b.Missing) != 2 {
			t.Errorf("missing: %v, want what was late and what is broken", b.Missing)
		}
		if len(b.Recent) != 1 || b.Self.ID == "" {
			t.Error("the other parts are missing as well")
		}
		if r.Close(); time.Since(start) > time.Second {
			t.Errorf("closed after %v", time.Since(start))
		}
	})
}

func TestASlowRecallIsReadyIfItWasAnticipated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mind{searchTakes: 200 * time.Millisecond}
		r := memory.NewRecaller(m)
		defer r.Close()
		r.Anticipate(bartok, "where is")
		r.Anticipate(bartok, "where is the silver")
		r.Anticipate(bartok, "where is the silver mine of the dwarves")
		r.Anticipate(bartok, "so where is the silver mine of the dwarves")
		time.Sleep(300 * time.Millisecond) // the player speaks on
		b := r.Brief(t.Context(), bartok, memory.Moment{Said: "Where is the silver mine of the dwarves?"})
		if len(b.Recalled) != 1 {
			t.Errorf("recalled %v, missing %v; want what was guessed", b.Recalled, b.Missing)
		}
		if n := m.searches.Load(); n != 1 {
			t.Errorf("%d searches, want one: the rest said too little or nothing new", n)
		}
		for i := range 100 {
			r.Anticipate(memory.Viewer{Campaign: "vale", Entity: string(rune('a' + i))}, "where is the silver mine")
		}
	})
}
