package observe

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// evening is a table that has been played at.
type evening []bot.Event

func (e evening) Events(context.Context, uint64) iter.Seq[bot.Event] { return slices.Values(e) }

func played() evening {
	at := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	turn := bot.Turn{
		ID: 7, NPC: "bartok", Tier: mcp.Fast, Why: "first of the evening", Brain: "gpt-5-mini", Heard: 80 * time.Millisecond, Routed: 81 * time.Millisecond,
		Briefed: 84 * time.Millisecond, FirstToken: 300 * time.Millisecond, FirstSentence: 420 * time.Millisecond,
		FirstSound: 500 * time.Millisecond, Ended: 3 * time.Second, Used: engine.Usage{In: 900, CachedIn: 600, Out: 40, Letters: 55}, Cost: 0.02,
	}
	done := turn
	done.Done = true
	return evening{
		{At: at, Line: &bot.Line{ID: "1", Speaker: bot.Person{Name: "Mira"}, Text: "Bartok, what about the mill?", Final: true}},
		{At: at, Turn: &turn},
		{At: at, Tool: &bot.Tool{Turn: 7, Name: "roll", Took: 2 * time.Millisecond, Began: 310 * time.Millisecond, Done: true}},
		{At: at, Tool: &bot.Tool{Turn: 7, Name: "search", Took: time.Second, Began: 311 * time.Millisecond, Done: true, Error: "too late"}},
		{At: at.Add(3 * time.Second), Turn: &done},
		{At: at.Add(3 * time.Second), Line: &bot.Line{ID: "2", Speaker: bot.Person{Name: "Bartok", NPC: true}, Text: "It turns at night.", Final: true}},
		{At: at, Alert: &bot.Alert{Text: "x", Bad: true}},
	}
}

func TestPrometheusFindsWhatHappenedAndNothingThatWasSaid(t *testing.T) {
	w, err := New(t.Context(), Options{Metrics: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close(t.Context())
	w.Follow(t.Context(), played(), "guild-1")
	res, err := http.Get("http://" + w.Addr() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`glyphoxa_turns_total{end="done",npc="bartok",table="guild-1",tier="fast"} 1`,
		`glyphoxa_first_sound_seconds_bucket{table="guild-1",tier="fast",le="0.5"} 1`,
		`glyphoxa_tokens_total{kind="cached",model="gpt-5-mini",table="guild-1"} 600`,
		`glyphoxa_tokens_total{kind="in",model="gpt-5-mini",table="guild-1"} 300`,
		`glyphoxa_tool_calls_total{end="failed",table="guild-1",tool="search"} 1`,
		`glyphoxa_cost_total{npc="bartok",table="guild-1"} 0.02`,
		`glyphoxa_lines_total{speaker="player",table="guild-1"} 1`,
		`glyphoxa_alerts_total{bad="yes",table="guild-1"} 1`,
		`glyphoxa_tables 0`,
	} {
		if !strings.Contains(string(page), want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	for _, said := range []string{"mill", "Mira", "turns at night"} {
		if strings.Contains(string(page), said) {
			t.Errorf("the metrics tell %q", said)
		}
	}
}

func TestACollectorGetsEachTurnAsATrace(t *testing.T) {
	received := make(chan *coltrace.ExportTraceServiceRequest, 4)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		data, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
		}
		var req coltrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(data, &req); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		received <- &req
	}))
	defer collector.Close()
	w, err := New(t.Context(), Options{Traces: collector.URL})
	if err != nil {
		t.Fatal(err)
	}
	w.Follow(t.Context(), played(), "")
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	took := map[string]time.Duration{}
	var roots int
	for _, s := range (<-received).ResourceSpans[0].ScopeSpans[0].Spans {
		took[s.Name] = time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano)
		if len(s.ParentSpanId) == 0 {
			roots++
		}
		if s.Name == "tool search" && s.Status.GetMessage() != "too late" {
			t.Errorf("the failed call says %q", s.Status.GetMessage())
		}
	}
	for name, want := range map[string]time.Duration{
		"turn bartok": 3 * time.Second, "hear": 80 * time.Millisecond, "route": time.Millisecond, "brief": 3 * time.Millisecond,
		"think": 216 * time.Millisecond, "sentence": 120 * time.Millisecond, "synthesise": 80 * time.Millisecond,
		"speak": 2500 * time.Millisecond, "tool roll": 2 * time.Millisecond, "tool search": time.Second,
	} {
		if took[name] != want {
			t.Errorf("%s took %v, want %v", name, took[name], want)
		}
	}
	if roots != 1 {
		t.Errorf("%d spans have no parent", roots)
	}
}

func TestACollectorThatIsGoneIsToldOfAndHoldsNothingUp(t *testing.T) {
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer collector.Close()
	var warned []error
	w, err := New(t.Context(), Options{Traces: collector.URL, Warn: func(err error) { warned = append(warned, err) }})
	if err != nil {
		t.Fatal(err)
	}
	w.Follow(t.Context(), played(), "")
	if err := w.Close(t.Context()); err != nil {
		t.Errorf("closing: %v", err)
	}
	if len(warned) != 1 || errors.Unwrap(warned[0]) == nil {
		t.Errorf("warned of %v", warned)
	}
}

func TestAnAddressThatIsTakenIsNamed(t *testing.T) {
	first, err := New(t.Context(), Options{Metrics: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close(t.Context())
	if _, err := New(t.Context(), Options{Metrics: first.Addr()}); err == nil || !strings.Contains(err.Error(), "observe.metrics") {
		t.Errorf("got %v", err)
	}
}
