package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/secret"
)

func gemini(t testing.TB, server *enginetest.Gemini) *Gemini {
	t.Helper()
	server.Key = "hunter2"
	m, err := NewGemini(GeminiOptions{URL: "http://vendor", Key: secret.New("hunter2"), Client: enginetest.Client(server)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGeminisTextAndCallsArriveWhole(t *testing.T) {
	for _, fault := range []enginetest.Fault{"", enginetest.Unknown, enginetest.ThinkAloud, enginetest.Overloaded} {
		t.Run(string(fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.Gemini{Chat: func(enginetest.GeminiRequest) enginetest.Answer { return two() }}
				server.Next(fault)
				got, err := collect(t.Context(), gemini(t, server), asked())
				if err != nil {
					t.Fatal(err)
				}
				want := reply{Text: two().Text, Calls: []engine.Call{
					{ID: "call_1", Name: "roll", Args: json.RawMessage(`{"dice":"2d6+3"}`)},
					{ID: "call_2", Name: "roll", Args: json.RawMessage(`{"dice":"1d20"}`)},
				}, Usage: engine.Usage{In: 100, CachedIn: 64, Out: 20}, Done: 1}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestGeminisFaultsAreErrorsInWords(t *testing.T) {
	for fault, want := range map[enginetest.Fault]string{
		enginetest.BadKey: "check the API key", enginetest.NoEnd: "cut off", enginetest.CutStream: "unexpected EOF",
		enginetest.ErrorInStream: "ran out of memory", enginetest.StallStream: "fell silent", enginetest.FinishError: "SAFETY",
	} {
		t.Run(string(fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.Gemini{Chat: func(enginetest.GeminiRequest) enginetest.Answer { return two() }}
				server.Next(fault, fault, fault)
				_, err := collect(t.Context(), gemini(t, server), asked())
				if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("got %v, want %q", err, want)
				}
			})
		})
	}
}

func TestThoughtSignaturesComeBackWithTheirCalls(t *testing.T) {
	var seen []enginetest.GeminiRequest
	server := &enginetest.Gemini{Chat: func(q enginetest.GeminiRequest) enginetest.Answer {
		if seen = append(seen, q); len(seen) == 1 {
			return two()
		}
		return enginetest.Answer{Text: "A nine."}
	}}
	m := gemini(t, server)
	r := asked()
	first, err := collect(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, engine.Message{Role: engine.Assistant, Text: first.Text, Calls: first.Calls},
		engine.Message{Role: engine.ToolRole, CallID: first.Calls[1].ID, Text: "17"},
		engine.Message{Role: engine.ToolRole, CallID: first.Calls[0].ID, Text: "9"})
	if _, err := collect(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	contents := seen[1].Contents
	calls, answers := contents[len(contents)-2].Parts, contents[len(contents)-1].Parts
	if calls[1].ThoughtSignature != "c2lnbmVk" || calls[2].ThoughtSignature != "" {
		t.Errorf("signatures %q and %q, want them as they came", calls[1].ThoughtSignature, calls[2].ThoughtSignature)
	}
	if got := fmt.Sprint(answers[0].FunctionResponse.Response, answers[1].FunctionResponse.Response); got != "map[output:9] map[output:17]" || answers[0].FunctionResponse.Name != "roll" {
		t.Errorf("answers %s", got)
	}
}

func TestGeminiTakesAnyTalk(t *testing.T) {
	var seen enginetest.GeminiRequest
	server := &enginetest.Gemini{Chat: func(q enginetest.GeminiRequest) enginetest.Answer {
		seen = q
		return enginetest.Answer{Text: "Well."}
	}}
	r := asked()
	r.Messages = oddTalk() // with calls of another model's, which have no signature
	if _, err := collect(t.Context(), gemini(t, server), r); err != nil {
		t.Fatal(err)
	}
	if seen.GenerationConfig.MaxOutputTokens <= 300 || seen.SystemInstruction.Parts[0].Text != r.System {
		t.Errorf("asked %+v", seen.GenerationConfig)
	}
}

func TestSignaturesDoNotPileUp(t *testing.T) {
	m := gemini(t, &enginetest.Gemini{})
	for i := range 3 * maxSignatures {
		m.sign(fmt.Sprint(i), "s")
	}
	if len(m.signatures) != maxSignatures || len(m.order) != maxSignatures || m.signature(fmt.Sprint(3*maxSignatures-1)) != "s" {
		t.Errorf("%d signatures are kept in order of %d", len(m.signatures), len(m.order))
	}
}
