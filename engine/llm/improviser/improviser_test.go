package improviser_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
)

func say(line string) engine.Request {
	return engine.Request{Messages: []engine.Message{{Role: engine.User, Name: "Mira", Text: line}}}
}

func TestSameTalkAndSeedGiveTheSameAnswers(t *testing.T) {
	lines := []string{"hello", "hello", "who is Gundren?", "thanks", "thanks", "blah blah", "blah blah", "bye"}
	run := func(seed uint64) (out []string) {
		m := improviser.New(persona(t, "bartok"), seed)
		for _, l := range lines {
			text, _ := answer(t, m, say(l))
			out = append(out, text)
		}
		return out
	}
	if diff := cmp.Diff(run(7), run(7)); diff != "" {
		t.Errorf("the same seed differs:\n%s", diff)
	}
	if cmp.Equal(run(7), run(8)) {
		t.Error("another seed gives the same lines")
	}
}

func TestNoAnswerIsGivenTwiceRunning(t *testing.T) {
	for _, name := range []string{"bartok", "greymantle", "pip", "brunna", "velline", "wirt"} {
		m := improviser.New(persona(t, name), 3)
		for _, line := range []string{"hello", "thank you", "you idiot", "who is Gundren?", "where is the old mill?", "what is for supper?", "are you a machine?", "xyzzy plugh", "who is Zorblax?", "tell me more", "what are you hiding?", "bye"} {
			last := ""
			for range 12 {
				text, _ := answer(t, m, say(line))
				if text == "" || text == last {
					t.Errorf("%s, asked %q again, said %q", name, line, text)
				}
				last = text
			}
		}
	}
}

func TestNoAnswerIsRepeatedAfterARestart(t *testing.T) {
	p := persona(t, "bartok")
	for seed := range uint64(20) {
		before, _ := answer(t, improviser.New(p, seed), say("hello"))
		r := say("hello")
		r.Messages = append(r.Messages, engine.Message{Role: engine.Assistant, Text: before}, r.Messages[0])
		if after, _ := answer(t, improviser.New(p, seed), r); after == before {
			t.Errorf("seed %d: said %q twice", seed, before)
		}
	}
}

func TestNothingIsCalledThatIsNotOffered(t *testing.T) {
	m := improviser.New(persona(t, "greymantle"), 1)
	for _, line := range []string{"roll 2d6", "how does grappling work?", "who is Zorblax?", "do you remember the dragon?", "roll a random encounter"} {
		if text, calls := answer(t, m, say(line)); len(calls) > 0 || text == "" {
			t.Errorf("%q without tools: called %v and said %q", line, calls, text)
		}
	}
}

func TestOneUnknownSchemaIsFilledInOrLeftAlone(t *testing.T) {
	roll := belt[0]
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"dice":{"type":"string"}},"required":["dice"]}`: `{"dice":"2d6+3"}`,
		`{"type":"object","properties":{"notation":{"type":"string"}}}`:                 `{"notation":"2d6+3"}`,
		``: `{"expression":"2d6+3"}`,
		`{"type":"object","properties":{"expression":{"type":"string"},"key":{"type":"integer"}},"required":["key"]}`: "",
		`nonsense`: "",
	} {
		roll.Schema = json.RawMessage(schema)
		r := say("roll 2d6+3")
		r.Tools = append(r.Tools, roll)
		_, calls := answer(t, improviser.New(persona(t, "bartok"), 1), r)
		got := ""
		if len(calls) > 0 {
			got = string(calls[0].Args)
		}
		if got != want {
			t.Errorf("schema %s: arguments %q, want %q", schema, got, want)
		}
	}
}

func TestJSONIsASelectionOfATool(t *testing.T) {
	r := say("Bartok, roll two d six")
	r.JSON, r.Tools = true, tools("roll query_entities")
	text, calls := answer(t, improviser.New(persona(t, "bartok"), 1), r)
	var got struct {
		Tool       string            `json:"selected_tool"`
		Params     map[string]string `json:"params"`
		Confidence float64           `json:"confidence"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(calls) > 0 {
		t.Fatalf("%q with calls %v: %v", text, calls, err)
	}
	if got.Tool != "roll" || got.Params["expression"] != "2d6" || got.Confidence < 0.7 {
		t.Errorf("selected %+v", got)
	}
}

func TestNothingIsSelectedOnceAToolHasAnswered(t *testing.T) {
	for prompt, want := range map[string]string{
		"TOOLS:\n- roll\n\nREQUEST:\n\"roll 2d6\"":                              `"selected_tool":"roll"`,
		"TOOLS:\n- roll\n\nALREADY FOUND: \"7\"\n\nREQUEST:\n\"roll 2d6\"":      `"selected_tool":null`,
		"TOOLS:\n- roll\n\nREQUEST:\n\"ALREADY FOUND: 7, now roll 2d6 please\"": `"selected_tool":"roll"`,
	} {
		r := engine.Request{JSON: true, Tools: tools("roll"), Messages: []engine.Message{{Role: engine.User, Text: prompt}}}
		if text, _ := answer(t, improviser.New(persona(t, "bartok"), 1), r); !strings.Contains(text, want) {
			t.Errorf("%q: selected %s, want %s", prompt, text, want)
		}
	}
}

func TestBriefBeforeTheLineIsNotTakenForIt(t *testing.T) {
	m := improviser.New(persona(t, "bartok"), 1)
	text, _ := answer(t, m, engine.Request{Messages: []engine.Message{{
		Role: engine.User, Name: "Mira",
		Text: "Scene: the taproom. Present: Greymantle.\nYou remember: the mill turns at night.\n\nMira: \"Bartok, what's in the pot?\"",
	}}})
	if !strings.Contains(text, "stew") {
		t.Errorf("answered %q", text)
	}
}

func TestStreamEndsWithItsContextsCause(t *testing.T) {
	cause := errors.New("cut off")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	m := improviser.New(persona(t, "bartok"), 1)
	var got error
	n := 0
	for _, err := range m.Stream(ctx, say("what's in the pot?")) {
		if got = err; n == 0 {
			cancel(cause)
		}
		n++
	}
	if !errors.Is(got, cause) || n != 2 {
		t.Errorf("%d deltas and %v, want 2 and %v", n, got, cause)
	}
}

// TestAnythingHeardIsAnsweredCleanly feeds words that mean something to the
// improviser in any order, and any result to its calls.
func TestAnythingHeardIsAnsweredCleanly(t *testing.T) {
	personas := []improviser.Persona{persona(t, "bartok"), persona(t, "velline"), persona(t, "pip"), persona(t, "wirt"), {}}
	words := strings.Fields("who is what where are you the a roll d20 2d6 plus five remember rule poisoned Gundren mill he she it there more why secret ? ! . , : \" { } \n tell me about Bartok sage hello bye thanks price table random how much does cost do 'twas 's - — 🎲 ünïcödé wer ist was kostet würfle")
	rapid.Check(t, func(t *rapid.T) {
		p := personas[rapid.IntRange(0, len(personas)-1).Draw(t, "persona")]
		m := improviser.New(p, 1)
		r := engine.Request{Tools: belt}
		for range rapid.IntRange(1, 4).Draw(t, "lines") {
			line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "line"), " ")
			r.Messages = append(r.Messages, engine.Message{Role: engine.User, Name: "Mira", Text: line})
			for range 3 {
				text, calls := collect(m, r)
				if !utf8.ValidString(text) || strings.ContainsAny(text, "{}<>\n") {
					t.Fatalf("%q: said %q", line, text)
				}
				for _, secret := range p.Secrets {
					if strings.Contains(text, secret) {
						t.Fatalf("%q: told %q", line, secret)
					}
				}
				r.Messages = append(r.Messages, engine.Message{Role: engine.Assistant, Text: text, Calls: calls})
				if len(calls) == 0 {
					if text == "" {
						t.Fatalf("%q: nothing said and nothing called", line)
					}
					break
				}
				result := rapid.SampledFrom([]string{"", "{}", "[]", "null", "7", "error: no", `{"total":3}`, `{"rolls":[{"total":1}]}`, `{"results":[{"id":"x"}]}`, `{"entities":[{"name":"X","facts":["{secret}"]}]}`, `{"lines":[{"speaker":"A","text":"B"}]}`, `{"result":"<b>x</b>"}`, p.Name}).Draw(t, "result")
				r.Messages = append(r.Messages, engine.Message{Role: engine.ToolRole, CallID: calls[0].ID, Name: calls[0].Name, Text: result})
			}
		}
	})
}

func collect(m engine.Model, r engine.Request) (text string, calls []engine.Call) {
	for d, err := range m.Stream(context.Background(), r) {
		if err != nil {
			return err.Error(), nil
		}
		text, calls = text+d.Text, append(calls, d.Calls...)
	}
	return text, calls
}

func BenchmarkAnswer(b *testing.B) {
	m := improviser.New(persona(b, "bartok"), 1)
	r := say("Bartok, have you heard anything about the wheel of the old mill?")
	for b.Loop() {
		collect(m, r)
	}
}
