// Package improviser is a brain without a language model: it plays one NPC from
// the NPC's own lines, knowledge and view of the world. It finds out what a line
// wants (a greeting, a roll, a rule, somebody's whereabouts), calls a tool where
// one helps, and says the result in the NPC's manner. It is what answers when
// there is no key, and what an NPC falls back to when every model is down.
//
// # Promises
//
//   - It says nothing that is not in its [Persona], in a tool's result or in the
//     talk it is shown; it makes no facts up, and never says a secret.
//   - What players say and tools return is matched and quoted, never obeyed.
//   - It calls only tools that the request offers.
//   - It does not say the same line twice running while it has another.
//   - With the same persona and seed, the same talk gives the same answers.
//
// It understands English, and German or Spanish if that is the persona's language. Lines of
// up to 600 bytes are looked at; an answer takes well under a millisecond.
package improviser

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/glyphoxa/glyphoxa/engine"
)

// A Model plays one NPC. It is an [engine.Model], and may be used by several
// goroutines at once. The player's line is the last paragraph of a request's last
// user message.
type Model struct {
	persona Persona
	tongue  *tongue
	lore    *library
	seed    uint64

	mu    sync.Mutex // guards the rest
	used  []string   // lines and facts said lately, the newest last
	topic topic      // what the talk is about
	turns uint64
}

// remembered is how many of its lines and facts an improviser avoids repeating:
// about half an hour of talk.
const remembered = 48

// New returns a model that plays p. Models with different seeds choose different
// lines.
func New(p Persona, seed uint64) *Model {
	t := tongueFor(p.Language)
	return &Model{persona: p, tongue: t, lore: newLibrary(p, t), seed: seed}
}

// Name says what it is, as honestly as the NPC does when asked.
func (m *Model) Name() string { return "the improviser (no language model)" }

// maxHeard bounds the line that is looked at. Nobody says more in one breath.
const maxHeard = 600

// Stream answers the last user message of r, with speech or with tool calls.
func (m *Model) Stream(ctx context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		text, calls := m.answer(r)
		for _, piece := range pieces(text) {
			if ctx.Err() != nil {
				yield(engine.Delta{}, context.Cause(ctx))
				return
			}
			if !yield(engine.Delta{Text: piece}, nil) {
				return
			}
		}
		if len(calls) > 0 && !yield(engine.Delta{Calls: calls}, nil) {
			return
		}
		yield(engine.Delta{Done: true}, nil)
	}
}

// pieces cuts text after about every third word, as a model would send it.
func pieces(text string) []string {
	const size = 18 // bytes
	var out []string
	for len(text) > 0 {
		i := strings.IndexByte(text[min(size, len(text)):], ' ')
		if i < 0 {
			return append(out, text)
		}
		i += min(size, len(text)) + 1
		out, text = append(out, text[:i]), text[i:]
	}
	return out
}

// answer is what to say and what to call.
func (m *Model) answer(r engine.Request) (string, []engine.Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := hear(r)
	t := turn{
		Model: m, hearing: h, request: r,
		dice: rand.New(rand.NewPCG(m.seed, fingerprint(h.heard, m.turns))),
	}
	if r.JSON {
		return t.selection(), nil
	}
	if about := t.directed(h.whisper); about != "" {
		t.heard = about // told what to speak about
	}
	answer := t.report
	if len(h.results) == 0 {
		m.turns++
		answer = t.reply
	}
	text, calls := answer()
	if text == "" && len(calls) == 0 {
		text = t.line(string(wantsChat), nil) // a silent NPC looks broken
	}
	return text, calls
}

// fingerprint makes the same talk take the same turns.
func fingerprint(line string, turns uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", turns, line)
	return h.Sum64()
}

// A hearing is what one request says that matters.
type hearing struct {
	speaker string // of the last user message; "" if not told
	heard   string // what was said
	// found is set if a request for JSON says that a tool has answered already.
	found bool
	// here are the others who are there, memories what the line brings back, and
	// whisper what the game master lets the NPC know, as the brief tells them.
	here, memories []string
	whisper        string
	// past are the messages before that line, oldest first.
	past []engine.Message
	// results are the tools' results since that line, oldest first, with the
	// calls that they answer.
	results []result
}

type result struct {
	call engine.Call
	text string
}

// hear finds the player's line and what tools have answered to it.
func hear(r engine.Request) hearing {
	var h hearing
	last := -1
	for i, msg := range r.Messages {
		if msg.Role == engine.User {
			last = i
		}
	}
	if last < 0 {
		return h
	}
	h.past = r.Messages[:last]
	h.speaker, h.heard = lastParagraph(r.Messages[last])
	before, _, ok := cutLast(r.Messages[last].Text, "\n")
	h.found = ok && r.JSON && strings.Contains(before, "\nALREADY FOUND: ")
	if !r.JSON {
		h.notes(r.Messages[last].Text)
	}
	calls := map[string]engine.Call{}
	for _, msg := range r.Messages[last+1:] {
		for _, c := range msg.Calls {
			calls[c.ID] = c
		}
		if msg.Role == engine.ToolRole {
			c, ok := calls[msg.CallID]
			if !ok {
				c = engine.Call{ID: msg.CallID, Name: msg.Name}
			}
			h.results = append(h.results, result{c, msg.Text})
		}
	}
	return h
}

// cutLast cuts text at the last separator.
func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(sep):], true
}

// lastParagraph takes the player's line out of a message that may begin with
// the volatile part of the brief, and a label or quotation marks off it.
func lastParagraph(msg engine.Message) (speaker, line string) {
	_, line, _ = cutLast(strings.TrimSpace(msg.Text), "\n")
	line = strings.TrimSpace(line)
	speaker = msg.Name
	if name, rest, ok := strings.Cut(line, ": "); ok && len(name) <= 40 && strings.Count(name, " ") <= 3 &&
		(speaker == "" || strings.EqualFold(name, speaker)) && !strings.ContainsAny(name, `.,?!"`) {
		speaker, line = name, rest
	}
	line = strings.Trim(strings.TrimSpace(line), "\"“”„")
	if len(line) > maxHeard {
		line = line[:maxHeard]
		for !utf8.ValidString(line) {
			line = line[:len(line)-1]
		}
	}
	return speaker, strings.ToValidUTF8(line, "")
}

// A chosen tool, as models that cannot call tools are asked to write it.
type selection struct {
	Tool         *string         `json:"selected_tool"`
	Params       json.RawMessage `json:"params,omitempty"`
	Reasoning    string          `json:"reasoning"`
	Confidence   float64         `json:"confidence"`
	Alternatives []string        `json:"alternatives"`
}

// selection answers a request for a JSON object: which tool the line needs.
func (t *turn) selection() string {
	s := selection{Reasoning: "nothing in the line asks for a tool", Confidence: 1, Alternatives: []string{}}
	u := t.understand()
	if t.found {
		s.Reasoning = "what the line asks for has been found"
	} else if calls := t.choose(u); len(calls) > 0 {
		c := calls[0]
		s = selection{&c.Name, c.Args, "the line asks for: " + string(u.intent), 0.9, []string{}}
	}
	out, err := json.Marshal(s)
	if err != nil { // Params is the only part that could fail, and we wrote it
		return `{"selected_tool":null,"reasoning":"the choice could not be written","confidence":0}`
	}
	return string(out)
}
