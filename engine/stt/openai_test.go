package stt

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// frames cuts sound into what a recogniser is given.
func frames(sound []int16) iter.Seq[[]int16] {
	return func(yield func([]int16) bool) {
		for f := range slices.Chunk(sound, pcm.HearSize) {
			if len(f) == pcm.HearSize && !yield(f) {
				return
			}
		}
	}
}

// humming is sound that is not silence.
func humming(d time.Duration) []int16 {
	s := make([]int16, int(d.Seconds()*pcm.HearRate))
	for i := range s {
		s[i] = int16(5000 * math.Sin(float64(i)/20))
	}
	return s
}

// hear returns the final text, and fails unless there is exactly one.
func hear(t testing.TB, r engine.Recognizer, h engine.Hearing, sound []int16) (string, error) {
	t.Helper()
	return hearIn(t.Context(), t, r, h, frames(sound))
}

func hearIn(ctx context.Context, t testing.TB, r engine.Recognizer, h engine.Hearing, f iter.Seq[[]int16]) (string, error) {
	t.Helper()
	final, text := false, ""
	for heard, err := range r.Hear(ctx, h, f) {
		if err != nil {
			return text, err
		}
		if final {
			t.Errorf("%+v came after the final transcript", heard)
		}
		final, text = heard.Final, heard.Text
	}
	if !final {
		t.Error("there was no final transcript")
	}
	return text, nil
}

func openAI(server *enginetest.OpenAI) *OpenAI {
	return NewOpenAI(OpenAIOptions{URL: "http://vendor/v1", Model: "fake", Client: enginetest.Client(server)})
}

func TestTheWholeUtteranceIsSentWithItsNames(t *testing.T) {
	var asked enginetest.TranscriptionRequest
	server := &enginetest.OpenAI{Transcribe: func(q enginetest.TranscriptionRequest) string {
		asked = q
		return " Bartok, what's in the pot? \n"
	}}
	sound := humming(500 * time.Millisecond)
	got, err := hear(t, openAI(server), engine.Hearing{Language: "en-GB", Terms: []string{"Bartok", "Greymantle"}}, sound)
	if err != nil || got != "Bartok, what's in the pot?" {
		t.Errorf("heard %q, %v", got, err)
	}
	if asked.Language != "en" || asked.Prompt != "Bartok, Greymantle." || asked.Sound.Rate != pcm.HearRate || !slices.Equal(asked.Sound.Samples, sound) {
		t.Errorf("asked for language %q with prompt %q and %v of sound", asked.Language, asked.Prompt, asked.Sound.Duration())
	}
}

func TestSilenceIsNotSent(t *testing.T) {
	server := &enginetest.OpenAI{Transcribe: func(enginetest.TranscriptionRequest) string { return "Thank you for watching." }}
	for _, sound := range [][]int16{nil, make([]int16, 16000), humming(100 * time.Millisecond)} {
		if got, err := hear(t, openAI(server), engine.Hearing{}, sound); err != nil || got != "" {
			t.Errorf("heard %q, %v in silence", got, err)
		}
	}
	if server.Requests() != 0 {
		t.Errorf("%d requests", server.Requests())
	}
}

func TestOnlyTheFirstMinuteIsHeard(t *testing.T) {
	var sent time.Duration
	server := &enginetest.OpenAI{Transcribe: func(q enginetest.TranscriptionRequest) string {
		sent = q.Sound.Duration()
		return "la"
	}}
	if _, err := hear(t, openAI(server), engine.Hearing{}, humming(3*time.Minute)); err != nil || sent != MaxUtterance {
		t.Errorf("%v were sent, %v", sent, err)
	}
}

func TestManyNamesAreCutAtTheLeastLikely(t *testing.T) {
	var prompt string
	server := &enginetest.OpenAI{Transcribe: func(q enginetest.TranscriptionRequest) string { prompt = q.Prompt; return "" }}
	terms := slices.Repeat([]string{"Greymantle"}, 1000)
	terms[0] = "Bartok"
	if _, err := hear(t, openAI(server), engine.Hearing{Terms: terms}, humming(time.Second)); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(prompt, "Bartok, ") || !strings.HasSuffix(prompt, "Greymantle.") || len(prompt) > maxPrompt {
		t.Errorf("the prompt has %d bytes: %.40q…", len(prompt), prompt)
	}
}

func TestPassingFaultsAreTriedAgainAndRefusalsAreNot(t *testing.T) {
	for _, c := range []struct {
		name     string
		faults   []enginetest.Fault
		want     string
		requests int
	}{
		{"one 503", []enginetest.Fault{enginetest.Overloaded}, "", 2},
		{"one 429", []enginetest.Fault{enginetest.RateLimited}, "", 2},
		{"a lost connection", []enginetest.Fault{enginetest.Drop}, "", 2},
		{"always 503", slices.Repeat([]enginetest.Fault{enginetest.Overloaded}, 9), "HTTP 503", 2},
		{"wrong key", []enginetest.Fault{enginetest.BadKey}, "check the API key", 1},
		{"come back in an hour", []enginetest.Fault{enginetest.Patience}, "HTTP 429", 1},
		{"no answer", []enginetest.Fault{enginetest.Hang}, "no answer for 30s", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.OpenAI{Transcribe: func(enginetest.TranscriptionRequest) string { return "well" }}
				server.Next(c.faults...)
				got, err := hear(t, openAI(server), engine.Hearing{}, humming(time.Second))
				if c.want == "" && (err != nil || got != "well") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("heard %q, %v; want error %q", got, err, c.want)
				}
				if server.Requests() != c.requests {
					t.Errorf("%d requests, want %d", server.Requests(), c.requests)
				}
			})
		})
	}
}

func TestAnAnswerThatIsNoTranscriptIsAnError(t *testing.T) {
	server := &enginetest.OpenAI{}
	server.Next(enginetest.WebPage, enginetest.WebPage, enginetest.WebPage)
	_, err := hear(t, openAI(server), engine.Hearing{}, humming(time.Second))
	if err == nil || !strings.Contains(err.Error(), "no transcript") {
		t.Errorf("got %v", err)
	}
}

func TestHearingStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.OpenAI{}
		server.Next(enginetest.Hang)
		why := errors.New("the table closes")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		time.AfterFunc(time.Second, func() { cancel(why) })
		if _, err := hearIn(ctx, t, openAI(server), engine.Hearing{}, frames(humming(time.Second))); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})
}
