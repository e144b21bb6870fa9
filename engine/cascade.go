package engine

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"
)

// OpenerTime is how long the fast model of a [Cascade] may take for its sentence.
// Later the strong one may as well begin by itself.
const OpenerTime = 700 * time.Millisecond

const (
	// openerWords bounds an opener: what is longer says something.
	openerWords = 14
	openerMax   = 200 // bytes
	// same is the share of an opener's words in a sentence that repeats it.
	same = 0.6
)

// openerOrder is what the fast model is told behind the talk.
const openerOrder = "[Say only the first sentence of your answer: at most ten words that show how you take what was said. " +
	"State no fact, number, name, price or place, promise nothing, and say neither yes nor no. The rest follows later.]"

// A Cascade is a [Model] of two: a fast one says the first sentence, which holds no
// facts, and the strong one goes on from it with the tools. The strong one is told
// what has been said, and where it says it again the repetition is left out. An
// opener that is late or says something that could be wrong is not used.
type Cascade struct {
	fast, strong Model
	language     string
}

// NewCascade makes a cascade for talk in a language, a BCP 47 tag.
func NewCascade(fast, strong Model, language string) *Cascade {
	return &Cascade{fast, strong, language}
}

// Name is the strong model's: it answers.
func (c *Cascade) Name() string { return c.strong.Name() }

// Stream opens with the fast model, except where the strong one has begun already.
func (c *Cascade) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	n := len(r.Messages)
	if r.JSON || n == 0 {
		return c.strong.Stream(ctx, r)
	}
	return func(yield func(Delta, error) bool) {
		if r.Messages[n-1].Role == ToolRole { // what was said is in the message that asked for the tools
			c.pass(ctx, r, lastSaid(r.Messages), Usage{}, yield)
			return
		}
		opener, used := c.open(ctx, r)
		if opener == "" {
			c.pass(ctx, r, "", used, yield)
			return
		}
		if yield(Delta{Text: opener + " "}, nil) {
			c.pass(ctx, r.After(opener), opener, used, yield)
		}
	}
}

// lastSaid is the text of the last message of the model's own.
func lastSaid(messages []Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == Assistant {
			return m.Text
		}
	}
	return ""
}

// open is the fast model's sentence, or "" if it is not to be said.
func (c *Cascade) open(ctx context.Context, r Request) (opener string, used Usage) {
	ctx, cancel := context.WithTimeout(ctx, OpenerTime)
	defer cancel()
	r.Messages = slices.Clone(r.Messages)
	last := &r.Messages[len(r.Messages)-1]
	asked := last.Text
	last.Text += "\n" + openerOrder
	r.Tools, r.MaxTokens = nil, 40
	var split splitter
	size := 0
	for d, err := range c.fast.Stream(ctx, r) {
		if err != nil {
			return "", estimate(r, size)
		}
		used = used.Plus(d.Usage)
		if size += len(d.Text); size > openerMax {
			return "", estimate(r, size)
		}
		done := split.push(d.Text)
		if d.Done {
			done = append(done, split.flush()...)
		}
		if len(done) > 0 {
			opener = done[0]
			break
		}
	}
	if used == (Usage{}) { // it was not let come to its end
		used = estimate(r, size)
	}
	if !factless(opener, asked, c.language) {
		return "", used
	}
	return opener, used
}

// After is the request for what follows when something has been said already. Models
// do not go on with a message of their own, so they are told.
func (r Request) After(said string) Request {
	r.Messages = slices.Clone(r.Messages)
	if n := len(r.Messages); n > 0 {
		r.Messages[n-1].Text += fmt.Sprintf("\n[You have already answered aloud: %q. Go on from there, and do not say it again.]", said)
	}
	return r
}

// pass streams the strong model. Behind an opener its first sentence is held until it
// is known to be another one.
func (c *Cascade) pass(ctx context.Context, r Request, opener string, used Usage, yield func(Delta, error) bool) {
	var split splitter
	joined := opener == ""
	for d, err := range c.strong.Stream(ctx, r) {
		if err != nil {
			yield(d, err)
			return
		}
		if !joined {
			done := split.push(d.Text)
			if d.Done || len(d.Calls) > 0 {
				done = append(done, split.flush()...)
			}
			d.Text = ""
			for _, s := range done {
				if s = join(opener, s); s != "" {
					d.Text += s + " "
					joined = true
				}
			}
			if joined {
				d.Text += split.rest
			}
		}
		if d.Done {
			d.Usage = d.Usage.Plus(used)
		}
		if d.Text == "" && len(d.Calls) == 0 && !d.Done {
			continue
		}
		if !yield(d, nil) {
			return
		}
	}
}

// factless reports whether a sentence can be said before the answer is known: it is
// short, names nothing that was not named, and counts, agrees or denies nothing.
func factless(s, asked, language string) bool {
	g := grammarOf(language)
	words := wordsOf(s)
	if len(words) == 0 || len(words) > openerWords || strings.ContainsAny(s, "*_#{}[]<>|\n") || strings.ContainsFunc(s, unicode.IsDigit) {
		return false
	}
	if g.decides[words[0]] || slices.ContainsFunc(words, func(w string) bool { return g.counts[w] }) {
		return false
	}
	if g == &german { // in German every noun begins with a capital
		return true
	}
	known := wordsOf(asked)
	for i, w := range strings.Fields(s) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
		first := []rune(w + " ")[0]
		if i > 0 && unicode.IsUpper(first) && w != "I" && !strings.HasPrefix(w, "I'") && !slices.Contains(known, strings.ToLower(w)) {
			return false
		}
	}
	return true
}

// join is what of a sentence is new behind an opener: all of it, what follows the
// opener in it, or nothing.
func join(opener, s string) string {
	said, now := wordsOf(opener), wordsOf(s)
	if len(said) == 0 || len(now) == 0 {
		return s
	}
	k := 0
	for k < min(len(said), len(now)) && said[k] == now[k] {
		k++
	}
	if k == len(said) || k >= 3 && float64(k) >= same*float64(len(said)) {
		return strings.TrimLeft(afterWords(s, k), " ,;:.!?-–—…")
	}
	again := 0
	for _, w := range now {
		if slices.Contains(said, w) {
			again++
		}
	}
	if float64(again) >= same*float64(len(now)) && float64(again) >= same*float64(len(said)) {
		return ""
	}
	return s
}

// afterWords is s behind its first n words.
func afterWords(s string, n int) string {
	in := false
	for i, r := range s {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '’'
		if in && !letter {
			if n--; n == 0 {
				return s[i:]
			}
		}
		in = letter
	}
	return ""
}
