package tts

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

func openAI(t testing.TB, server *enginetest.OpenAI, o OpenAIOptions) *OpenAI {
	t.Helper()
	o.URL, o.Client = "http://vendor/v1/", enginetest.Client(server)
	if o.Model == "" {
		o.Model = "fake"
	}
	a, err := NewOpenAI(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAServersSoundArrivesWhole(t *testing.T) {
	want := enginetest.Tones(enginetest.SpeechRequest{Input: "one two three four five six"})
	for _, c := range []struct {
		format string
		fault  enginetest.Fault
	}{{"pcm", ""}, {"wav", ""}, {"", enginetest.OddPieces}, {"", enginetest.SendWAV}} {
		server := &enginetest.OpenAI{Key: "hunter2"}
		server.Next(c.fault)
		a := openAI(t, server, OpenAIOptions{Key: secret.New("hunter2"), Format: c.format})
		got := say(t, a, engine.Voice{ID: "onyx"}, "one two three four five six")
		if got.Rate != 24000 || len(got.Samples) != len(want.Samples) {
			t.Fatalf("%q, %q: %d samples at %d Hz, want %d at 24000", c.format, c.fault, len(got.Samples), got.Rate, len(want.Samples))
		}
		for i := range want.Samples {
			if math.Abs(float64(got.Samples[i]-want.Samples[i])) > 1 {
				t.Fatalf("%q, %q: sample %d is %d, want %d", c.format, c.fault, i, got.Samples[i], want.Samples[i])
			}
		}
	}
}

func TestTheRequestSaysHowToSpeak(t *testing.T) {
	var asked []enginetest.SpeechRequest
	server := &enginetest.OpenAI{Speech: func(q enginetest.SpeechRequest) pcm.Chunk {
		asked = append(asked, q)
		return enginetest.Tones(q)
	}}
	a := openAI(t, server, OpenAIOptions{Voice: "sage"})
	say(t, a, engine.Voice{ID: "onyx", Rate: 1.25}, " Good day. ")
	say(t, a, engine.Voice{Rate: 99}, "Good night.")
	say(t, a, engine.Voice{}, "…")
	want := []enginetest.SpeechRequest{
		{Model: "fake", Input: "Good day.", Voice: "onyx", ResponseFormat: "pcm", Speed: 1.25},
		{Model: "fake", Input: "Good night.", Voice: "sage", ResponseFormat: "pcm", Speed: 4},
	}
	if len(asked) != 2 || asked[0] != want[0] || asked[1] != want[1] {
		t.Errorf("asked %+v, want %+v", asked, want)
	}
}

func TestAServersFaultsAreSaidInWords(t *testing.T) {
	for _, c := range []struct {
		fault enginetest.Fault
		want  string
	}{
		{enginetest.BadKey, "check the API key"},
		{enginetest.Overloaded, "overloaded"},
		{enginetest.RateLimited, "HTTP 429"},
		{enginetest.WebPage, "text/html instead of sound"},
		{enginetest.SendMP3, "audio/mpeg, asked for pcm"},
		{enginetest.NoSound, "no sound"},
		{enginetest.CutSound, "unexpected EOF"},
		{enginetest.Drop, "EOF"},
		{enginetest.Hang, "stopped sending sound"},
		{enginetest.StallSound, "stopped sending sound"},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.OpenAI{}
				server.Next(c.fault)
				_, err := collect(t.Context(), openAI(t, server, OpenAIOptions{}), engine.Voice{}, "one two three four five six seven")
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		})
	}
}

func TestAServersSpeechStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.OpenAI{}
		server.Next(enginetest.StallSound)
		why := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		time.AfterFunc(time.Second, func() { cancel(why) })
		start := time.Now()
		_, err := collect(ctx, openAI(t, server, OpenAIOptions{}), engine.Voice{}, "one two three four five six")
		if !errors.Is(err, why) || time.Since(start) > time.Second+100*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestAnEndlessServerIsCutOff(t *testing.T) {
	server := &enginetest.OpenAI{Speech: func(enginetest.SpeechRequest) pcm.Chunk {
		return pcm.Chunk{Rate: 24000, Samples: make([]int16, 24000*601)}
	}}
	_, err := collect(t.Context(), openAI(t, server, OpenAIOptions{}), engine.Voice{}, "hello")
	if err == nil || !strings.Contains(err.Error(), "over 10m0s") {
		t.Errorf("got %v", err)
	}
}

func TestNoKeyIsEverPartOfAnError(t *testing.T) {
	server := &enginetest.OpenAI{Key: "another"}
	a := openAI(t, server, OpenAIOptions{Key: secret.New("hunter2")})
	_, err := collect(t.Context(), a, engine.Voice{}, "hello")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}
