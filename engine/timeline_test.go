package engine

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A timeline is one player's turn as a recogniser hears it: stretches of speech with
// pauses between them, and what a recogniser would have made of the text.
type timeline struct {
	language string
	pieces   []stretch
}

type stretch struct {
	spoken time.Duration
	text   string
	pause  time.Duration // behind it; 0 behind the last
}

// player is how one speaker speaks. Pauses within a turn are log-normal, as in
// Campione and Véronis, "A large-scale multilingual study of silent pause duration"
// (2002), whose medians for single speakers lie between 340 and 560 ms.
type player struct {
	median float64 // of the pauses, ms
	often  float64 // probability of a pause where there may be one
	rng    *rand.Rand
}

// hangover is how long a Discord client goes on sending after speech; its voice
// gate closes after about 200 ms, and push to talk after 20.
func (p *player) hangover() time.Duration {
	return time.Duration(120+p.rng.IntN(160)) * time.Millisecond
}

// punctuated is a stretch's text as a recogniser gives it: whole sentences mostly
// with their marks, broken ones often with a full stop that means nothing.
func (p *player) punctuated(text string, last, marks bool) string {
	text = strings.TrimSpace(text)
	plain := strings.TrimRight(text, ".,!?")
	x := p.rng.Float64()
	whole := strings.TrimRight(text, ".!?") != text
	switch {
	case !marks:
		return strings.ToLower(strings.ReplaceAll(plain, ",", ""))
	case last || whole:
		if x < 0.9 {
			return text
		}
		return plain
	case x < 0.3:
		return plain + "."
	case x < 0.55:
		return plain + ","
	default:
		return plain
	}
}

func (p *player) says(language, line string, marks bool) timeline {
	t := timeline{language: language}
	parts := strings.Split(line, "|")
	now := ""
	for i, part := range parts {
		now += part
		last := i == len(parts)-1
		if !last && p.rng.Float64() >= p.often {
			continue
		}
		words := len(strings.Fields(now))
		s := stretch{
			spoken: time.Duration(words)*320*time.Millisecond + 100*time.Millisecond,
			text:   p.punctuated(now, last, marks),
		}
		if !last {
			ms := p.median * math.Exp(0.55*p.rng.NormFloat64())
			s.pause = time.Duration(min(ms, 4000) * float64(time.Millisecond))
		}
		t.pieces = append(t.pieces, s)
		now = ""
	}
	return t
}

// turnsOf reads the lines of testdata/turns.txt with their languages.
func turnsOf(tb testing.TB) (languages, lines []string) {
	tb.Helper()
	f, err := os.Open("testdata/turns.txt")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	language := ""
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			language = strings.Trim(line, "[]")
		default:
			languages, lines = append(languages, language), append(lines, line)
		}
	}
	if len(lines) < 50 {
		tb.Fatalf("testdata/turns.txt has %d lines, want at least 50", len(lines))
	}
	return languages, lines
}

// evening is what a few players say, turn by turn. The same seed says the same.
func evening(tb testing.TB, seed uint64, marks bool) (timelines [][]timeline) {
	languages, lines := turnsOf(tb)
	for i, median := range []float64{340, 420, 500, 560} {
		p := &player{median: median, often: 0.3, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
		var said []timeline
		for range 400 {
			k := p.rng.IntN(len(lines))
			said = append(said, p.says(languages[k], lines[k], marks))
		}
		timelines = append(timelines, said)
	}
	return timelines
}

// A judgement is what an endpointer did on timelines.
type judgement struct {
	turns, cut int
	delays     []time.Duration // from the end of the transmission
}

func (j *judgement) quantile(q float64) time.Duration {
	slices.Sort(j.delays)
	return j.delays[int(q*float64(len(j.delays)-1))]
}

func (j *judgement) cutOffs() float64 { return 100 * float64(j.cut) / float64(j.turns) }

func (j *judgement) String() string {
	return fmt.Sprintf("p50 %4d ms  p95 %4d ms  %4.1f %% cut off", j.quantile(0.5).Milliseconds(), j.quantile(0.95).Milliseconds(), j.cutOffs())
}

// A gate is how the end of a stretch of speech is noticed, and how long behind it.
type gate struct {
	how   stop
	after func(p *player) time.Duration
}

var (
	// discordGate is a client's own, with its hangover; it says that it stops with
	// silence frames, the second of which is believed.
	discordGate = gate{ended, func(p *player) time.Duration { return p.hangover() }}
	// browserGate is ours: the microphone is open all the time.
	browserGate = gate{silence, func(*player) time.Duration { return pauseEnds }}
)

// believed is how long two silence frames take.
const believed = 40 * time.Millisecond

// noticed is a turn with the pauses that g notices: shorter ones are part of the
// speech. hold is by how much the gate is late behind each stretch.
func (t timeline) noticed(g gate, p *player) (pieces []stretch, hold []time.Duration) {
	var now stretch
	for _, s := range t.pieces {
		now.spoken += s.spoken
		now.text = strings.TrimSpace(now.text + " " + s.text)
		after := g.after(p)
		if s.pause > 0 && s.pause <= after {
			now.spoken += s.pause
			continue
		}
		now.pause = s.pause
		pieces, hold = append(pieces, now), append(hold, after)
		now = stretch{}
	}
	return pieces, hold
}

// judge plays timelines through the state machine that finds the ends of turns. The
// text of a stretch comes late behind the end of its sound. A turn is cut off if it
// is taken before its speaker has said all of it; delays count from the last sound
// that was sent, as they do for a timer.
func judge(timelines [][]timeline, g gate, patience Patience, late time.Duration) judgement {
	var j judgement
	for i, said := range timelines {
		p := &player{rng: rand.New(rand.NewPCG(7, uint64(i)))}
		m := &ending{pauses: new(Pauses)}
		m.pauses.SetPatience(patience)
		var now time.Duration
		n := 0
		for _, t := range said {
			m.language = t.language
			pieces, hold := t.noticed(g, p)
			cut := false
			for k, s := range pieces {
				n++
				id := fmt.Sprint(n)
				m.step(pieceBegan{id, now})
				spoken := now + s.spoken
				sent, known := spoken, spoken+hold[k] // the last sound; when it is known to be that
				if g.how == ended {
					sent, known = spoken+hold[k], spoken+hold[k]+believed
					m.step(pieceEnded{at: known, how: ended})
				} else {
					m.step(pieceEnded{at: spoken, how: silence})
				}
				last := k == len(pieces)-1
				next := spoken + s.pause
				if last {
					next = known + 5*time.Second
				}
				takes := func(actions []any, at time.Duration) {
					for _, a := range actions {
						if _, ok := a.(turnIsTaken); !ok {
							continue
						}
						if last {
							j.delays = append(j.delays, at-sent)
						} else {
							cut = true
						}
					}
				}
				if heard := known + late; heard < next {
					takes(m.step(pieceDone{id: id, text: Transcript{Text: s.text}, at: heard}), heard)
					for due, ok := m.due(); ok && due < next; due, ok = m.due() {
						takes(m.step(timePassed{due}), due)
					}
				} else {
					m.step(pieceDone{id: id, text: Transcript{Text: s.text}, at: -1})
				}
				now = next
			}
			j.turns++
			if cut {
				j.cut++
			}
		}
	}
	return j
}

// timer judges what waits for the same time whatever was said.
func timer(timelines [][]timeline, g gate, limit time.Duration) judgement {
	var j judgement
	for i, said := range timelines {
		p := &player{rng: rand.New(rand.NewPCG(7, uint64(i)))}
		for _, t := range said {
			pieces, hold := t.noticed(g, p)
			cut := false
			for k, s := range pieces {
				silent := s.pause
				if g.how == ended {
					silent -= hold[k] // the client goes on sending into the pause
				}
				cut = cut || silent > limit
			}
			j.turns++
			if cut {
				j.cut++
			}
			j.delays = append(j.delays, limit)
		}
	}
	return j
}

// TestEndOfATurnIsFoundQuicklyAndRarelyTooEarly holds the budget of the end of a
// turn on 8,000 turns with other seeds than the waits were chosen with.
func TestEndOfATurnIsFoundQuicklyAndRarelyTooEarly(t *testing.T) {
	var said [][]timeline
	for seed := range uint64(5) {
		said = append(said, evening(t, 21+seed, true)...)
	}
	ours, fixed := judge(said, discordGate, NormalPatience, 0), timer(said, discordGate, 500*time.Millisecond)
	t.Logf("%v; a timer of 500 ms: %v", &ours, &fixed)
	if p50, cut := ours.quantile(0.5), ours.cutOffs(); p50 > 120*time.Millisecond || cut > 5 {
		t.Errorf("%v, want p50 within 120 ms and at most 5 %% cut off", &ours)
	}
	if got, want := len(ours.delays), ours.turns; got < want*99/100 {
		t.Errorf("%d of %d turns were taken", got, want)
	}
}

// BenchmarkEndOfTurn prints the curve of delay against turns cut off, ours and that
// of fixed timers, on the same timelines.
func BenchmarkEndOfTurn(b *testing.B) {
	show := func(b *testing.B, run func() judgement) {
		var j judgement
		for b.Loop() {
			j = run()
		}
		b.ReportMetric(float64(j.quantile(0.5).Milliseconds()), "p50-ms")
		b.ReportMetric(float64(j.quantile(0.95).Milliseconds()), "p95-ms")
		b.ReportMetric(j.cutOffs(), "%cut-off")
	}
	for _, from := range []struct {
		name  string
		gate  gate
		marks bool
	}{{"discord", discordGate, true}, {"discord-without-punctuation", discordGate, false}, {"browser", browserGate, true}} {
		said := evening(b, 11, from.marks)
		for _, patience := range []Patience{QuickPatience, NormalPatience, LongPatience} {
			b.Run(fmt.Sprintf("%s/patience=%v", from.name, patience), func(b *testing.B) {
				show(b, func() judgement { return judge(said, from.gate, patience, 0) })
			})
		}
		b.Run(from.name+"/patience=normal,text-250ms-late", func(b *testing.B) {
			show(b, func() judgement { return judge(said, from.gate, NormalPatience, 250*time.Millisecond) })
		})
		for _, limit := range []time.Duration{100, 300, 500, 800, 2000} {
			limit *= time.Millisecond
			b.Run(fmt.Sprintf("%s/timer=%v", from.name, limit), func(b *testing.B) {
				show(b, func() judgement { return timer(said, from.gate, limit) })
			})
		}
	}
}
