package llm

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/secret"
)

func claude(t testing.TB, server *enginetest.Anthropic) *Anthropic {
	t.Helper()
	server.Key = "hunter2"
	m, err := NewAnthropic(AnthropicOptions{URL: "http://vendor", Key: secret.New("hunter2"), Client: enginetest.Client(server)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAnthropicsTextAndCallsArriveWhole(t *testing.T) {
	for _, fault := range []enginetest.Fault{"", enginetest.Unknown, enginetest.ThinkAloud, enginetest.Overloaded, enginetest.RateLimited} {
		t.Run(string(fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.Anthropic{Chat: func(enginetest.AnthropicRequest) enginetest.Answer { return two() }}
				server.Next(fault)
				got, err := collect(t.Context(), claude(t, server), asked())
				if err != nil {
					t.Fatal(err)
				}
				want := reply{Text: two().Text, Calls: []engine.Call{
					{ID: "toolu_1", Name: "roll", Args: json.RawMessage(`{"dice":"2d6+3"}`)},
					{ID: "toolu_2", Name: "roll", Args: json.RawMessage(`{"dice":"1d20"}`)},
				}, Usage: engine.Usage{In: 100, CachedIn: 64, Out: 20}, Done: 1}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestAnthropicsFaultsAreErrorsInWords(t *testing.T) {
	for fault, want := range map[enginetest.Fault]string{
		enginetest.BadKey: "check the API key", enginetest.NoEnd: "cut off", enginetest.CutStream: "unexpected EOF",
		enginetest.ErrorEvent: "Overloaded", enginetest.StallStream: "fell silent", enginetest.WebPage: "text/html",
	} {
		t.Run(string(fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.Anthropic{Chat: func(enginetest.AnthropicRequest) enginetest.Answer { return two() }}
				server.Next(fault, fault, fault)
				_, err := collect(t.Context(), claude(t, server), asked())
				if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("got %v, want %q", err, want)
				}
			})
		})
	}
}

// oddTalk is a talk in an order that a vendor would refuse as it is: an NPC begins,
// calls are unanswered or answered late, and the last word is the NPC's.
func oddTalk() []engine.Message {
	return []engine.Message{
		{Role: engine.Assistant, Text: "Welcome, strangers."},
		{Role: engine.User, Name: "Mira", Text: "Roll twice."},
		{Role: engine.Assistant, Text: "Let me see. ", Calls: []engine.Call{
			{ID: "a", Name: "roll", Args: json.RawMessage(`{"dice":"1d6"}`)}, {ID: "b", Name: "roll", Args: json.RawMessage(`"broken`)},
		}},
		{Role: engine.User, Text: "Wait!"},
		{Role: engine.ToolRole, CallID: "b", Text: "9"},
		{Role: engine.User, Text: ""},
		{Role: engine.Assistant, Text: "A nine."},
	}
}

func TestAnthropicTakesAnyTalkAndCachesWhatStays(t *testing.T) {
	var seen enginetest.AnthropicRequest
	server := &enginetest.Anthropic{Chat: func(q enginetest.AnthropicRequest) enginetest.Answer {
		seen = q
		return enginetest.Answer{Text: "{}"}
	}}
	r := asked()
	r.Messages, r.JSON, r.Temperature = oddTalk(), true, new(1.5)
	if _, err := collect(t.Context(), claude(t, server), r); err != nil {
		t.Fatal(err)
	}
	var talk []string
	for _, m := range seen.Messages {
		for _, b := range m.Content {
			mark := ""
			if b.CacheControl != nil {
				mark = " (cached)"
			}
			talk = append(talk, m.Role+"|"+b.Type+"|"+b.Text+b.Content+mark)
		}
	}
	want := []string{
		"user|text|(The scene is set.)", "assistant|text|Welcome, strangers.", "user|text|Mira: Roll twice.",
		"assistant|text|Let me see.", "assistant|tool_use|", "assistant|tool_use|",
		`user|tool_result|{"status":"cancelled"}`, "user|tool_result|9", "user|text|Wait! (cached)",
		"assistant|text|A nine.", "user|text|(Go on.)",
	}
	if diff := cmp.Diff(want, talk); diff != "" {
		t.Error(diff)
	}
	if seen.System[0].CacheControl["type"] != "ephemeral" || !strings.Contains(seen.System[0].Text, "JSON") || *seen.Temperature != 1 {
		t.Errorf("system %+v, temperature %v", seen.System, *seen.Temperature)
	}
}
