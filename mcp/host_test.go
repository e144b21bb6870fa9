package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const rollSchema = `{"type":"object","properties":{"expression":{"type":"string","maxLength":100}},"required":["expression"],"additionalProperties":false}`

// echo is a tool that answers with its arguments and counts its calls.
func echo(name string, calls *atomic.Int64, change func(*Tool)) Builtin {
	t := Tool{
		Name: name, Description: "says it back", Schema: json.RawMessage(rollSchema),
		Estimated: 10 * time.Millisecond, ReadOnly: true, Idempotent: true,
	}
	if change != nil {
		change(&t)
	}
	return Builtin{Tool: t, Call: func(_ context.Context, _ Caller, args json.RawMessage) (string, error) {
		calls.Add(1)
		return string(args), nil
	}}
}

func newTestHost(t testing.TB, o HostOptions, tools ...Builtin) *Host {
	t.Helper()
	h, err := NewHost(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(tools...); err != nil {
		t.Fatal(err)
	}
	return h
}

func names(tools []Tool) []string {
	var n []string
	for _, t := range tools {
		n = append(n, t.Name)
	}
	return n
}

var expr = json.RawMessage(`{"expression":"2d6"}`)

func TestBeltIsWhitelistCutDownToTheTier(t *testing.T) {
	var calls atomic.Int64
	h := newTestHost(t, HostOptions{},
		echo("roll", &calls, nil),
		echo("search_sessions", &calls, func(t *Tool) { t.Estimated = 900 * time.Millisecond }),
		echo("paint", &calls, func(t *Tool) { t.Estimated = 3200 * time.Millisecond }),
		echo("mystery", &calls, func(t *Tool) { t.Estimated = 0 }),
		echo("secret", &calls, nil),
	)
	allow := []string{"roll", "search_sessions", "paint", "mystery", "gone"}
	for _, c := range []struct {
		tier Tier
		want []string
	}{
		{Fast, []string{"roll"}},
		{Standard, []string{"roll", "search_sessions"}},
		{Deep, []string{"mystery", "paint", "roll", "search_sessions"}},
	} {
		b := h.Belt(Grant{Allow: allow, Tier: c.tier})
		if d := cmp.Diff(c.want, names(b.Tools())); d != "" {
			t.Errorf("%v: %s", c.tier, d)
		}
		if got, want := len(b.Tools())+len(b.Hidden()), len(allow); got != want {
			t.Errorf("%v: %d shown and hidden, want %d", c.tier, got, want)
		}
	}
	want := []Hidden{
		{"gone", "no such tool"},
		{"mystery", "needs the deep tier (nothing known about its speed)"},
		{"paint", "needs the deep tier (declared)"},
	}
	if d := cmp.Diff(want, h.Belt(Grant{Allow: allow, Tier: Standard}).Hidden()); d != "" {
		t.Error(d)
	}
}

func TestEmptyWhitelistGrantsNothing(t *testing.T) {
	var calls atomic.Int64
	h := newTestHost(t, HostOptions{}, echo("roll", &calls, nil))
	b := h.Belt(Grant{Tier: Deep})
	if len(b.Tools()) != 0 {
		t.Errorf("tools %v, want none", names(b.Tools()))
	}
	if r := b.Call(t.Context(), "roll", expr); !errors.Is(r.Err, ErrNotGranted) || calls.Load() != 0 {
		t.Errorf("err %v, calls %d; want ErrNotGranted and none", r.Err, calls.Load())
	}
}

func TestRefusedCallsTellTheModelWhatToDo(t *testing.T) {
	var calls atomic.Int64
	h := newTestHost(t, HostOptions{Limits: Limits{ToolSteps: 3}},
		echo("roll", &calls, nil),
		echo("paint", &calls, func(t *Tool) { t.Estimated = 3 * time.Second }),
		echo("write_file", &calls, func(t *Tool) { t.ReadOnly, t.Writes = false, true }),
	)
	b := h.Belt(Grant{Allow: []string{"roll", "paint", "write_file"}})
	for _, c := range []struct {
		name, args string
		err        error
		text       string
	}{
		{"rol", `{}`, ErrNotGranted, "You have: roll, write_file"},
		{"paint", `{"expression":"x"}`, ErrHidden, "needs the deep tier"},
		{"roll", `{"expression":7}`, ErrArguments, "expression"},
		{"roll", `[1]`, ErrArguments, "object"},
		{"write_file", `{"expression":"x"}`, ErrDryRun, "Nothing was done"},
		{"roll", `{"expression":"1d6"}`, ErrSteps, "Answer with what you have"},
	} {
		r := b.Call(t.Context(), c.name, json.RawMessage(c.args))
		if !errors.Is(r.Err, c.err) || !strings.Contains(r.Text, c.text) {
			t.Errorf("%s(%s): %v, %q; want %v and %q", c.name, c.args, r.Err, r.Text, c.err, c.text)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("%d calls reached a tool, want none", n)
	}
}

// S3: whatever a model asks for, what is executed is a subset of what was granted.
func TestExecutedIsASubsetOfGranted(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	usual := checks.Value.String()
	if !testing.Short() {
		_ = checks.Value.Set("10000")
		defer func() { _ = checks.Value.Set(usual) }()
	}
	var ran []string // in the turn that is played
	h, err := NewHost(HostOptions{Limits: Limits{ToolSteps: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	pool := map[string]Tool{
		"a": {Least: Fast, ReadOnly: true}, "b": {Least: Fast}, "c": {Least: Standard, ReadOnly: true},
		"d": {Least: Fast, Writes: true}, "e": {Least: Fast, ReadOnly: true, OpenWorld: true}, "f": {Least: Deep},
	}
	for n, tool := range pool {
		tool.Name, tool.Estimated = n, time.Millisecond
		if err := h.Add(Builtin{tool, func(context.Context, Caller, json.RawMessage) (string, error) {
			ran = append(ran, n)
			return "done", nil
		}}); err != nil {
			t.Fatal(err)
		}
	}
	known := slices.Sorted(maps.Keys(pool))
	asked := rapid.OneOf(rapid.SampledFrom(known), rapid.StringN(0, 12, 40))
	executed, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		ran = nil
		allow := rapid.SliceOf(rapid.SampledFrom(append([]string{"g__*", "zz"}, known...))).Draw(rt, "allow")
		tier := rapid.SampledFrom([]Tier{Fast, Standard, Deep}).Draw(rt, "tier")
		b := h.Belt(Grant{Allow: allow, Tier: tier})
		for range rapid.IntRange(1, 20).Draw(rt, "calls") {
			args := rapid.SampledFrom([]string{`{}`, ``, `null`, `{"x":1}`, `[]`, `{`}).Draw(rt, "args")
			before := len(b.Tools())
			if r := b.Call(context.Background(), asked.Draw(rt, "name"), json.RawMessage(args)); r.Err == nil {
				executed++
			} else {
				refused++
			}
			if len(b.Tools()) > before {
				rt.Fatal("the belt grew within a turn")
			}
		}
		tainted := false
		for _, n := range ran {
			switch tool := pool[n]; {
			case !slices.Contains(allow, n):
				rt.Fatalf("%s ran and is not on the whitelist %v", n, allow)
			case tool.Least > tier:
				rt.Fatalf("%s ran in the tier %v and needs %v", n, tier, tool.Least)
			case tool.Writes:
				rt.Fatalf("%s ran in a dry run", n)
			case tainted && !tool.ReadOnly:
				rt.Fatalf("%s ran after something had brought in text that is not trusted", n)
			}
			tainted = tainted || pool[n].OpenWorld
		}
	})
	if executed < 100 || refused < 100 {
		t.Errorf("%d calls were executed and %d refused: too few of a kind to prove anything", executed, refused)
	}
}

func TestDeadlineIsTheSmallestOfToolTierAndTurn(t *testing.T) {
	hang := Builtin{Tool{Name: "hang", Max: 2 * time.Second, Estimated: time.Millisecond, ReadOnly: true},
		func(ctx context.Context, _ Caller, _ json.RawMessage) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}}
	for _, c := range []struct {
		tier Tier
		left time.Duration
		want time.Duration
	}{
		{Fast, time.Hour, 500 * time.Millisecond},
		{Deep, time.Hour, 2 * time.Second},
		{Deep, 300 * time.Millisecond, 300 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newTestHost(t, HostOptions{}, hang)
			ctx, cancel := context.WithTimeout(t.Context(), c.left)
			defer cancel()
			r := h.Belt(Grant{Allow: []string{"hang"}, Tier: c.tier}).Call(ctx, "hang", nil)
			if !errors.Is(r.Err, ErrLate) || r.Took != c.want {
				t.Errorf("%v with %v left: %v after %v, want ErrLate after %v", c.tier, c.left, r.Err, r.Took, c.want)
			}
		})
	}
}

func TestInterruptedCallIsNotTheToolsFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t, HostOptions{}, Builtin{Tool{Name: "hang", Estimated: time.Millisecond},
			func(ctx context.Context, _ Caller, _ json.RawMessage) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(errors.New("a player talks")) })
		r := h.Belt(Grant{Allow: []string{"hang"}}).Call(ctx, "hang", nil)
		if got := outcomeOf(r.Err); got != GivenUp {
			t.Errorf("outcome %q, want %q", got, GivenUp)
		}
		if n := len(h.catalog.Load().find("hang").meter.gauge.Samples()); n != 0 {
			t.Errorf("%d samples, want none", n)
		}
	})
}

func TestAnswersAreCachedPerNPCUntilTheyExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		h := newTestHost(t, HostOptions{}, echo("search", &calls, func(t *Tool) { t.Cache = time.Minute }))
		call := func(npc, args string) Result {
			return h.Belt(Grant{Caller: Caller{NPC: npc}, Allow: []string{"search"}}).Call(t.Context(), "search", json.RawMessage(args))
		}
		call("bartok", `{"expression":"x"}`)
		if r := call("bartok", ` { "expression" : "x" }`); !r.Cached || r.Text != `{"expression":"x"}` {
			t.Errorf("second call: %+v, want the cached answer", r)
		}
		if r := call("greymantle", `{"expression":"x"}`); r.Cached {
			t.Error("an NPC was given what another one was told")
		}
		time.Sleep(time.Minute)
		if r := call("bartok", `{"expression":"x"}`); r.Cached {
			t.Error("an expired answer was used")
		}
		if n := calls.Load(); n != 3 {
			t.Errorf("%d calls, want 3", n)
		}
	})
}

func TestUntrustedResultTakesWritingToolsOffForTheTurn(t *testing.T) {
	var calls atomic.Int64
	h := newTestHost(t, HostOptions{},
		echo("fetch", &calls, func(t *Tool) { t.OpenWorld = true }),
		echo("roll", &calls, nil),
		echo("play_track", &calls, func(t *Tool) { t.ReadOnly = false }),
	)
	g := Grant{Allow: []string{"fetch", "roll", "play_track"}}
	b := h.Belt(g)
	if d := cmp.Diff([]string{"fetch", "play_track", "roll"}, names(b.Tools())); d != "" {
		t.Error(d)
	}
	if r := b.Call(t.Context(), "fetch", expr); r.Err != nil || !strings.HasPrefix(r.Text, `<tool_result from="fetch">`) {
		t.Errorf("fetch: %v %q", r.Err, r.Text)
	}
	if d := cmp.Diff([]string{"fetch", "roll"}, names(b.Tools())); d != "" {
		t.Error(d)
	}
	if r := b.Call(t.Context(), "play_track", expr); !errors.Is(r.Err, ErrHidden) {
		t.Errorf("play_track after the fetch: %v, want ErrHidden", r.Err)
	}
	if r := h.Belt(g).Call(t.Context(), "play_track", expr); r.Err != nil {
		t.Errorf("play_track in the next turn: %v", r.Err)
	}
}

func TestToolThatPanicsHasOnlyFailed(t *testing.T) {
	h := newTestHost(t, HostOptions{}, Builtin{Tool{Name: "bomb", Estimated: 1}, func(context.Context, Caller, json.RawMessage) (string, error) { panic("boom") }})
	r := h.Belt(Grant{Allow: []string{"bomb"}}).Call(t.Context(), "bomb", nil)
	if !errors.Is(r.Err, ErrBroken) {
		t.Errorf("err %v, want ErrBroken", r.Err)
	}
}

func TestLongResultsAreCutAndSaySo(t *testing.T) {
	h := newTestHost(t, HostOptions{Limits: Limits{ShownBytes: 100}}, Builtin{Tool{Name: "long", Estimated: 1}, func(context.Context, Caller, json.RawMessage) (string, error) {
		return strings.Repeat("ä", 1000), nil
	}})
	r := h.Belt(Grant{Allow: []string{"long"}}).Call(t.Context(), "long", nil)
	if want := strings.Repeat("ä", 50) + "\n[cut: 100 of 2000 bytes shown]"; r.Text != want || !r.Cut {
		t.Errorf("got %q", r.Text)
	}
}

func TestConstraintsNarrowBeforeTheTierAndSayWhy(t *testing.T) {
	var calls atomic.Int64
	h := newTestHost(t, HostOptions{Constraints: []Constraint{
		{ID: "rules", Keywords: []string{"poisoned", "saving throw"}, Tools: []string{"search_rules"}},
		{ID: "music", Keywords: []string{"song"}, Tools: []string{"play_track"}},
	}}, echo("search_rules", &calls, nil), echo("play_track", &calls, nil), echo("roll", &calls, nil))
	g := Grant{Allow: []string{"search_rules", "play_track", "roll"}}
	for _, c := range []struct {
		utterance string
		want      []string
	}{
		{"", []string{"play_track", "roll", "search_rules"}},
		{"Good evening!", []string{"play_track", "roll", "search_rules"}},
		{"What if I am POISONED?", []string{"roll", "search_rules"}},
		{"a saving  throw, please", []string{"roll", "search_rules"}},
		{"songs are poisonedly", []string{"play_track", "roll", "search_rules"}},
		{"a song about being poisoned", []string{"play_track", "roll", "search_rules"}},
	} {
		g.Utterance = c.utterance
		if d := cmp.Diff(c.want, names(h.Belt(g).Tools())); d != "" {
			t.Errorf("%q: %s", c.utterance, d)
		}
	}
	g.Utterance = "poisoned?"
	want := []Hidden{{"play_track", "for talk about music; this is about rules"}}
	if d := cmp.Diff(want, h.Belt(g).Hidden()); d != "" {
		t.Error(d)
	}
}

func TestApprovalIsForOneCallOnceAndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		h := newTestHost(t, HostOptions{}, echo("write_file", &calls, func(t *Tool) { t.ReadOnly, t.Writes = false, true }))
		ask := func(args string) *Approval {
			t.Helper()
			r := h.Belt(Grant{Allow: []string{"write_file"}, Writes: WriteAsk}).Call(t.Context(), "write_file", json.RawMessage(args))
			if !errors.Is(r.Err, ErrApproval) || r.Approval == nil {
				t.Fatalf("got %+v, want an approval to wait for", r)
			}
			return r.Approval
		}
		a := ask(`{"expression":"a"}`)
		if b := ask(`{"expression":"a"}`); b.ID != a.ID {
			t.Error("the same call waits twice")
		}
		if _, err := h.Approve(t.Context(), a.ID, "forged", "dm"); !errors.Is(err, ErrNoApproval) {
			t.Errorf("forged hash: %v", err)
		}
		if _, err := h.Approve(t.Context(), "forged", a.Hash, "dm"); !errors.Is(err, ErrNoApproval) {
			t.Errorf("forged id: %v", err)
		}
		r, err := h.Approve(t.Context(), a.ID, a.Hash, "dm")
		if err != nil || r.Raw != `{"expression":"a"}` {
			t.Errorf("approve: %v %+v", err, r)
		}
		if _, err := h.Approve(t.Context(), a.ID, a.Hash, "dm"); !errors.Is(err, ErrNoApproval) {
			t.Errorf("replay: %v", err)
		}
		late := ask(`{"expression":"b"}`)
		time.Sleep(approvalLife)
		if _, err := h.Approve(t.Context(), late.ID, late.Hash, "dm"); !errors.Is(err, ErrNoApproval) {
			t.Errorf("expired: %v", err)
		}
		no := ask(`{"expression":"c"}`)
		if err := h.Deny(no.ID, no.Hash, "dm"); err != nil {
			t.Error(err)
		}
		if n := calls.Load(); n != 1 {
			t.Errorf("%d calls, want 1", n)
		}
	})
}

func BenchmarkBelt(b *testing.B) {
	for _, n := range []int{50, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var calls atomic.Int64
			var tools []Builtin
			var allow []string
			for i := range n {
				name := fmt.Sprintf("tool_%03d", i)
				allow = append(allow, name)
				tools = append(tools, echo(name, &calls, nil))
			}
			h := newTestHost(b, HostOptions{}, tools...)
			g := Grant{Caller: Caller{NPC: "bartok"}, Allow: allow, Utterance: "a pint of your best, please"}
			b.ReportAllocs()
			for b.Loop() {
				if len(h.Belt(g).Tools()) == 0 {
					b.Fatal("no tools")
				}
			}
		})
	}
}

func BenchmarkBuiltinCall(b *testing.B) {
	var calls atomic.Int64
	h := newTestHost(b, HostOptions{Limits: Limits{ToolSteps: 1000}}, echo("roll", &calls, nil))
	g := Grant{Caller: Caller{NPC: "bartok"}, Allow: []string{"roll"}}
	belt := h.Belt(g)
	b.ReportAllocs()
	for b.Loop() {
		belt.steps.Store(0)
		if r := belt.Call(b.Context(), "roll", expr); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}
