package memory

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A Length is how long a recap is.
type Length int

// The lengths of a recap, in lines retold.
const (
	Short  Length = 6  // "previously on", half a minute read aloud
	Medium Length = 15 // a page
	Long   Length = 40 // an evening in some detail
)

// Lengths are all lengths, the shortest first.
var Lengths = []Length{Short, Medium, Long}

// String is how people choose a length.
func (n Length) String() string {
	switch n {
	case Short:
		return "short"
	case Medium:
		return "medium"
	}
	return "long"
}

// LengthOf is the length with a name.
func LengthOf(name string) (Length, error) {
	for _, n := range Lengths {
		if n.String() == name {
			return n, nil
		}
	}
	return 0, fmt.Errorf("recap of length %.20q: want short, medium or long", name)
}

// A Recap tells what happened in a session.
type Recap struct {
	Session string `json:"session"`
	Length  string `json:"length"`
	// Players marks one that gives away nothing that not the whole table heard.
	Players bool `json:"players"`
	// Author is the model that wrote it; "" means that it consists of lines.
	Author string `json:"author,omitempty"`
	// Lines is how many lines the session had by then.
	Lines     int        `json:"lines"`
	At        time.Time  `json:"at"`
	Sentences []Sentence `json:"sentences"`
}

// A Sentence of a recap, and the ids of the lines that prove it.
type Sentence struct {
	Text  string   `json:"text"`
	Proof []string `json:"proof"`
}

// RecapOf returns a session's recap: the one that was written after it, or, for
// other eyes than the game master's and for a session that has gone on since,
// some of its own lines.
func RecapOf(ctx context.Context, s Store, v Viewer, session string, n Length, players bool) (Recap, error) {
	if v.Entity == "" && v.AsOf.IsZero() {
		written, err := s.Recaps(ctx, v, session)
		if err != nil {
			return Recap{}, err
		}
		for _, r := range written {
			if r.Length == n.String() && r.Players == players {
				return r, nil
			}
		}
	}
	lines, err := Transcript(ctx, s, v, session)
	if err != nil {
		return Recap{}, err
	}
	if players {
		lines = PlayerSafe(lines)
	}
	return retold(lines, session, n, players), nil
}

// retold is a recap of lines alone.
func retold(lines []Line, session string, n Length, players bool) Recap {
	r := Recap{Session: session, Length: n.String(), Players: players}
	for _, l := range Retell(lines, n) {
		r.Sentences = append(r.Sentences, Sentence{l.Speaker.Name + ": " + l.Text, []string{l.ID}})
	}
	return r
}

// Retell picks the lines that tell what happened, in the order they were said.
// It needs no model: a line matters when it says what the talk kept coming back
// to, names things, and is no greeting. Every line retold is a line that was
// said, so nothing is made up, and its id is the proof. The recap knows what its
// viewer knows, because the viewer's lines are all that it is given.
func Retell(lines []Line, n Length) []Line {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.Aside || len(words(l.Text)) < 4 })
	in := map[string]float64{} // in how many lines a term occurs
	for _, l := range lines {
		for _, t := range topics(l) {
			in[t]++
		}
	}
	type weighed struct {
		at    int
		score float64
	}
	var all []weighed
	for i, l := range lines {
		all = append(all, weighed{i, weight(l, in, float64(len(lines)))})
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Compare(b.score, a.score) })
	// What has been retold once says less the second time.
	told := map[string]bool{}
	var picked []int
	for len(picked) < int(n) && len(all) > 0 {
		best, score := -1, 0.0
		for i, w := range all[:min(len(all), 8*int(n))] {
			fresh := 0.0
			ts := topics(lines[w.at])
			for _, t := range ts {
				if !told[t] {
					fresh++
				}
			}
			if s := w.score * (0.2 + fresh/float64(max(1, len(ts)))); s > score {
				best, score = i, s
			}
		}
		if best < 0 {
			break
		}
		for _, t := range topics(lines[all[best].at]) {
			told[t] = true
		}
		picked = append(picked, all[best].at)
		all = slices.Delete(all, best, best+1)
	}
	slices.Sort(picked)
	out := make([]Line, 0, len(picked))
	for _, i := range picked {
		out = append(out, lines[i])
	}
	return out
}

// maxTranscript bounds what is read of one session: eight times a long evening.
const maxTranscript = 20_000

// Transcript reads all that a viewer heard in a session, oldest first.
func Transcript(ctx context.Context, s Store, v Viewer, session string) ([]Line, error) {
	var pages [][]Line
	w := Window{Session: session, Limit: MaxHits}
	for n := 0; n < maxTranscript; n += MaxHits {
		page, err := s.Recent(ctx, v, w)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
		if len(page) < w.Limit {
			break
		}
		w.Before = page[0].ID
	}
	slices.Reverse(pages)
	return slices.Concat(pages...), nil
}

// PlayerSafe leaves of the game master's lines those that the whole table heard:
// no whispers, and nothing that was meant for the game master alone.
func PlayerSafe(lines []Line) []Line {
	return slices.DeleteFunc(slices.Clone(lines), func(l Line) bool {
		return l.Whisper || l.Aside || l.Speaker.Kind != PlayerSpeaker && len(l.Audience) == 0
	})
}

// topics are the distinct terms of a line that carry meaning.
func topics(l Line) []string {
	var out []string
	for _, w := range words(l.Text) {
		if content(w) && len(w) > 2 {
			out = append(out, term(w))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// weight says how much a line tells. A term counts most when the evening kept
// coming back to it without its being in every line.
func weight(l Line, in map[string]float64, total float64) float64 {
	ts := topics(l)
	sum := 0.0
	for _, t := range ts {
		sum += math.Log(1+in[t]) * math.Log(1+total/in[t])
	}
	// A little longer than average is best: long enough to tell, short enough to
	// be retold.
	sum /= math.Sqrt(float64(len(ts)) + 4)
	sum *= 1 + 0.15*float64(min(4, names(l.Text)))
	if strings.HasSuffix(strings.TrimSpace(l.Text), "?") {
		sum *= 0.6 // its answer tells more
	}
	if l.Speaker.Kind == DMSpeaker {
		sum *= 1.3 // the narrator says what happens
	}
	return sum
}

// names counts capitalised words that do not begin a sentence.
func names(text string) int {
	n, first := 0, true
	for f := range strings.FieldsSeq(text) {
		if !first && f[0] >= 'A' && f[0] <= 'Z' && f != "I" && !strings.HasPrefix(f, "I'") {
			n++
		}
		first = strings.ContainsAny(f[len(f)-1:], ".!?:\"")
	}
	return n
}
