package tts

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// teller says how it was asked, instead of speaking: its sound is one sample. It
// fails after the given number of chunks.
type teller struct {
	name  string
	asked []engine.Voice
	after int
	err   error
}

func (e *teller) Name() string { return e.name }

func (e *teller) Speak(_ context.Context, v engine.Voice, _ string) iter.Seq2[engine.Speech, error] {
	e.asked = append(e.asked, v)
	return func(yield func(engine.Speech, error) bool) {
		for i := range 3 {
			if e.err != nil && i == e.after {
				yield(engine.Speech{}, e.err)
				return
			}
			if !yield(engine.Speech{Chunk: pcm.Chunk{Rate: 8000, Samples: []int16{int16(i)}}}, nil) {
				return
			}
		}
	}
}

func TestAMissingEngineIsStoodInForByALikeVoice(t *testing.T) {
	for _, c := range []struct{ has, engine, id, want string }{
		{"espeak", "flite", "slt", "en-us+f3"},
		{"espeak", "flite", "awb", "en-gb-scotland+m2"},
		{"flite", "espeak", "en-gb+f2", "slt"},
		{"flite", "espeak", "en-gb+croak", "rms"},
		{"flite", "espeak", "en-gb-scotland+m2", "awb"},
		{"espeak", "espeak", "+croak", "+croak"},
	} {
		e := &teller{name: c.has}
		s := &Set{}
		s.Add(e)
		v := engine.Voice{Engine: c.engine, ID: c.id, Pitch: 1.1, Language: "en-GB"}
		say(t, s, v, "hello")
		if got := e.asked[0]; got.ID != c.want || got.Pitch != 1.1 || got.Language != "en-GB" {
			t.Errorf("%s %s spoken by %s is %+v, want %s", c.engine, c.id, c.has, got, c.want)
		}
	}
	cloud := &teller{name: "openai"}
	s := &Set{}
	s.Add(cloud)
	say(t, s, engine.Voice{Engine: "flite", ID: "slt"}, "hello")
	if kindOf(cloud.asked[0]) == male || cloud.asked[0].ID == "" {
		t.Errorf("a cloud was asked for voice %q in place of a woman's", cloud.asked[0].ID)
	}
}

func TestAnEngineThatFailsBeforeItsFirstSoundIsStoodInFor(t *testing.T) {
	broken := &teller{name: "openai", err: errors.New("no route to host")}
	spare := &teller{name: "espeak"}
	s := &Set{}
	s.Add(spare)
	s.Prefer(broken)
	if got := say(t, s, engine.Voice{}, "hello"); len(got.Samples) != 3 {
		t.Errorf("got %d chunks of the one that stands in, want all 3", len(got.Samples))
	}
}

// dumb never makes a sound.
type dumb struct{ asked *int }

func (dumb) Name() string { return "openai" }

func (d dumb) Speak(ctx context.Context, _ engine.Voice, _ string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		*d.asked++
		<-ctx.Done()
		yield(engine.Speech{}, context.Cause(ctx))
	}
}

func TestR18AVoiceThatDoesNotBeginIsStoodInForAfterOneAndAHalfSecondsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, told := 0, 0
		s := &Set{Fell: func(string, error) { told++ }}
		s.Add(dumb{&asked})
		s.Add(&teller{name: "espeak"})
		start := time.Now()
		for range 5 {
			if got := say(t, s, engine.Voice{}, "hello"); len(got.Samples) != 3 {
				t.Fatalf("got %d chunks", len(got.Samples))
			}
		}
		if took := time.Since(start); took != tooLate || asked != 1 || told != 1 {
			t.Errorf("five sentences took %v, it was asked %d times and told %d times; want %v, once and once", took, asked, told, tooLate)
		}
		time.Sleep(30 * time.Second)
		say(t, s, engine.Voice{}, "hello")
		if asked != 2 {
			t.Errorf("30 s later it was asked %d times, want one more", asked)
		}
	})
}

func TestR17AVoiceThatFailsThreeTimesIsLeftAlone(t *testing.T) {
	broken := &teller{name: "openai", err: errors.New("no route to host")}
	s := &Set{}
	s.Add(broken)
	s.Add(&teller{name: "espeak"})
	for range 10 {
		say(t, s, engine.Voice{}, "hello")
	}
	if len(broken.asked) != 3 {
		t.Errorf("asked %d times, want 3", len(broken.asked))
	}
}

func TestHalfASentenceIsNotSaidAgain(t *testing.T) {
	lost := errors.New("connection lost")
	broken, spare := &teller{name: "openai", err: lost, after: 2}, &teller{name: "espeak"}
	s := &Set{}
	s.Add(broken)
	s.Add(spare)
	got, err := collect(t.Context(), s, engine.Voice{}, "hello")
	if !errors.Is(err, lost) || len(got.Samples) != 2 || len(spare.asked) > 0 {
		t.Errorf("got %d chunks, %v; the other was asked %d times", len(got.Samples), err, len(spare.asked))
	}
}

func TestWhenAllFailTheErrorIsOfTheOneAskedFor(t *testing.T) {
	want := errors.New("the key has expired")
	s := &Set{}
	s.Add(&teller{name: "espeak", err: errors.New("crashed")})
	s.Add(&teller{name: "openai", err: want})
	if _, err := collect(t.Context(), s, engine.Voice{Engine: "openai"}, "hello"); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

func TestASetChecksVoices(t *testing.T) {
	s, err := Installed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v    engine.Voice
		want string
	}{
		{engine.Voice{}, ""},
		{engine.Voice{Engine: "espeak", ID: "en-gb+croak"}, ""},
		{engine.Voice{Engine: "flite", ID: "onyx"}, "flite has"},
		{engine.Voice{Engine: "elevenlabs"}, "this table has espeak, flite"},
	} {
		err := s.Check(c.v)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: got %v, want %q", c.v, err, c.want)
		}
	}
}

func TestNobodysChoiceIsStableDistinctAndSpeakable(t *testing.T) {
	s, err := Installed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := strings.Fields("bartok greymantle mira gundren sildar toblen linene halia daran elmar")
	for _, name := range []string{"", "espeak", "flite", "openai"} {
		var seen []engine.Voice
		for _, id := range ids {
			v := VoiceFor(Person{ID: id, Language: "en"}, name, seen...)
			if v != VoiceFor(Person{ID: id, Language: "en"}, name, seen...) {
				t.Fatalf("%s changes its voice", id)
			}
			for i, o := range seen {
				if o.ID == v.ID && math.Abs(o.Pitch-v.Pitch) < 0.07 {
					t.Errorf("engine %q: %s and %s both speak as %+v", name, id, ids[i], v)
				}
			}
			seen = append(seen, v)
			if name == "openai" {
				continue
			}
			if err := s.Check(v); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	if v := VoiceFor(Person{ID: "hexe", Language: "de"}, ""); v.Engine != "espeak" || strings.HasPrefix(v.ID, "en") {
		t.Errorf("a German voice is %+v", v)
	}
}

func TestVoicesFitPronouns(t *testing.T) {
	for _, name := range []string{"", "espeak", "openai", "elevenlabs", "cartesia", "deepgram"} {
		for i := range 100 {
			id := fmt.Sprint("npc", i)
			she := VoiceFor(Person{ID: id, Pronouns: "she/her"}, name)
			he := VoiceFor(Person{ID: id, Pronouns: "He/Him"}, name)
			if kindOf(she) == male || kindOf(he) == female || she.ID == "" || he.ID == "" {
				t.Errorf("engine %q: she speaks as %s, he as %s", name, she.ID, he.ID)
			}
		}
	}
}
