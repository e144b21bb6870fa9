package tts

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
)

// ErrNone is what a [Set] without any synthesiser answers.
var ErrNone = errors.New("no synthesiser: install espeak-ng: sudo apt install espeak-ng")

// A Set is the synthesisers of one table, in the order in which they stand in for
// each other. It is itself a synthesiser. Add everything before the first Speak;
// then it is safe for concurrent use.
type Set struct {
	// Log receives one line for each sentence that another engine had to speak.
	// Nil discards them.
	Log *slog.Logger
	// Fell is told once when another engine begins to stand in for one that fails. It
	// must not block. Nil is fine.
	Fell func(name string, err error)

	engines []standIn
}

// standIn is a synthesiser, and whether it works.
type standIn struct {
	engine.Synthesizer
	breaker *engine.Breaker
}

// tooLate is how long an engine may take to begin, if there is another: sentences that
// come later are a pause that everybody hears.
const tooLate = 1500 * time.Millisecond

// Installed is the synthesisers that this machine has: espeak-ng, and flite, which is
// nicer for English. One of them is enough; without either the error says how to
// install one.
func Installed(ctx context.Context) (*Set, error) {
	s := &Set{}
	e, missingEspeak := NewEspeak(ctx)
	if missingEspeak == nil {
		s.Add(e)
	}
	f, missingFlite := NewFlite(ctx)
	if missingFlite == nil {
		s.Add(f)
	}
	if len(s.engines) == 0 {
		return s, errors.Join(missingEspeak, missingFlite)
	}
	return s, nil
}

// Add adds a synthesiser as the last to stand in.
func (s *Set) Add(e engine.Synthesizer) {
	s.engines = append(s.engines, standIn{e, engine.NewBreaker()})
}

// Prefer adds a synthesiser as the first: what is configured goes before what the
// machine happens to have.
func (s *Set) Prefer(e engine.Synthesizer) {
	s.engines = slices.Insert(s.engines, 0, standIn{e, engine.NewBreaker()})
}

// Name lists the engines, such as "espeak, flite".
func (s *Set) Name() string {
	var names []string
	for _, e := range s.engines {
		names = append(names, e.Name())
	}
	return strings.Join(names, ", ")
}

// checker is a synthesiser that knows its voices.
type checker interface {
	Check(engine.Voice) error
}

// Check says what is wrong with a voice on this machine: no such engine, or no such
// voice of it.
func (s *Set) Check(v engine.Voice) error {
	if len(s.engines) == 0 {
		return ErrNone
	}
	if v.Engine == "" {
		return nil
	}
	i := s.index(v.Engine)
	if i < 0 {
		return fmt.Errorf("voice engine %q: this table has %s", v.Engine, s.Name())
	}
	if c, ok := s.engines[i].Synthesizer.(checker); ok {
		return c.Check(v)
	}
	return nil
}

func (s *Set) index(name string) int {
	return slices.IndexFunc(s.engines, func(e standIn) bool { return e.Name() == name })
}

// Speak speaks with the voice's engine, or with the next one that can, as long as
// nothing has been heard: half a sentence is not said again in another voice. One that
// does not begin within 1.5 s, or that failed at the last three sentences, is passed
// over.
func (s *Set) Speak(ctx context.Context, v engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		err := ErrNone
		first := max(0, s.index(v.Engine))
		for i := range s.engines {
			e := s.engines[(first+i)%len(s.engines)]
			last := i == len(s.engines)-1
			if !last && !e.breaker.Allow() {
				continue
			}
			heard, stopped, failed := e.try(ctx, v, text, !last, yield)
			if stopped {
				return
			}
			if failed == nil {
				e.breaker.Worked()
				return
			}
			if heard || ctx.Err() != nil {
				yield(engine.Speech{}, failed)
				return
			}
			if !last {
				s.fell(e, failed)
			}
			if i == 0 || errors.Is(err, ErrNone) {
				err = failed // what was asked for is what the reader should mend
			}
		}
		yield(engine.Speech{}, err)
	}
}

// fell notes that another engine has to stand in.
func (s *Set) fell(e standIn, err error) {
	note := e.breaker.Failed
	if errors.Is(err, errTooLate) {
		note = e.breaker.Trip // it costs a pause each time
	}
	if note() && s.Fell != nil {
		s.Fell(e.Name(), err)
	}
	if s.Log != nil {
		s.Log.Warn("another voice stands in", "failed", e.Name(), "error", err)
	}
}

// errTooLate is an engine that does not begin.
var errTooLate = fmt.Errorf("no sound within %v", tooLate)

// try speaks with one engine. stopped is set if nobody listens any more.
func (e standIn) try(ctx context.Context, v engine.Voice, text string, hurry bool, yield func(engine.Speech, error) bool) (heard, stopped bool, failed error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(tooLate, func() { cancel(errTooLate) })
	defer late.Stop()
	if !hurry {
		late.Stop()
	}
	for sound, err := range e.Speak(ctx, likeness(v, e.Name()), text) {
		late.Stop()
		if err != nil {
			return heard, false, err
		}
		heard = true
		if !yield(sound, nil) {
			return true, true, nil
		}
	}
	return heard, false, nil
}

// likeness is a voice as another engine can come near it: same language, pitch and
// rate, and a voice of the same kind.
func likeness(v engine.Voice, name string) engine.Voice {
	if v.Engine == name || v.Engine == "" && v.ID == "" {
		return v
	}
	id, k := v.ID, kindOf(v)
	v.Engine = name
	switch {
	case name == "espeak" && id == "slt":
		v.ID = "en-us+f3"
	case name == "espeak" && id == "awb":
		v.ID = "en-gb-scotland+m2"
	case name == "espeak" && id == "rms":
		v.ID = "en-us+m3"
	case name == "flite" && k == female:
		v.ID = "slt"
	case name == "flite" && strings.Contains(id, "scotland"):
		v.ID = "awb"
	case name == "flite":
		v.ID = "rms"
	default:
		v.ID = VoiceFor(Person{ID: id, Language: v.Language, Pronouns: [...]string{"", "she", "he"}[k]}, name).ID
	}
	return v
}

// A Person is somebody who needs a voice.
type Person struct {
	ID       string
	Language string // BCP 47
	Pronouns string // "she/her", "he/him", or anything
}

// VoiceFor is the voice of somebody nobody chose a voice for: always the same for
// the same id, fitting the pronouns, and not taken by anybody before, as far as
// there are voices enough. name is the engine's; for "" the voice is one of this
// machine's, as English with flite's voices.
func VoiceFor(p Person, name string, taken ...engine.Voice) engine.Voice {
	h := fnv.New64a()
	h.Write([]byte(p.ID)) // never fails
	n := h.Sum64()
	want := kindFor(p.Pronouns)
	var second engine.Voice
	// Three people can share a timbre and still be told apart; a table with more
	// people than voices has to live with twins in the end.
	for range 100 {
		n = stir(n)
		v := voiceOf(n, p.Language, name)
		if k := kindOf(v); want != either && k != either && k != want {
			continue
		}
		if second == (engine.Voice{}) {
			second = v
		}
		if !slices.ContainsFunc(taken, func(o engine.Voice) bool {
			return o.Engine == v.Engine && o.ID == v.ID && math.Abs(usual(o.Pitch)-usual(v.Pitch)) < 0.1
		}) {
			return v
		}
	}
	return second
}

// stir is one step of the splitmix64 generator.
func stir(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// voiceOf turns a number into a voice.
func voiceOf(n uint64, language, name string) engine.Voice {
	pick := func(of int) int {
		i := int(n % uint64(of))
		n /= uint64(of)
		return i
	}
	v := engine.Voice{Engine: name, Language: language}
	inEnglish := language == "" || english(language)
	if v.Engine == "" {
		v.Engine = "espeak"
		if inEnglish {
			v.Engine = "flite"
		}
	}
	if voices := stock[v.Engine]; len(voices) > 0 {
		v.ID = voices[pick(len(voices))].id
	}
	if v.Engine == "espeak" && inEnglish {
		v.ID = []string{"en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029"}[pick(5)] + v.ID
	}
	// A semitone is easily told apart; beyond these it sounds ill.
	v.Pitch = []float64{0.80, 0.86, 0.93, 1.00, 1.07, 1.15, 1.23}[pick(7)]
	v.Rate = []float64{0.88, 0.96, 1.04, 1.12}[pick(4)]
	return v
}
