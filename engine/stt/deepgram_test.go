package stt

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const said = "Bartok, what's in the pot?"

func deepgram(t testing.TB, server *enginetest.Deepgram, model string) *Deepgram {
	t.Helper()
	server.Key = "hunter2"
	server.Transcribe = func(url.Values) []string { return strings.Fields(said) }
	g, err := NewDeepgram(DeepgramOptions{URL: "http://vendor", Key: secret.New("hunter2"), Model: model, Client: enginetest.Client(server)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var models = []string{"nova-3", "flux-general-en"}

func TestDeepgramHearsTheWholeUtteranceHoweverItEnds(t *testing.T) {
	for _, model := range models {
		for _, fault := range []enginetest.Fault{"", enginetest.NoLastWord, enginetest.EmptyLast, enginetest.TurnResumed, enginetest.EarlyEnd} {
			t.Run(model+" "+string(fault), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var heard pcm.Chunk
					server := &enginetest.Deepgram{Heard: func(c pcm.Chunk) { heard = c }}
					server.Next(fault)
					sound := humming(2 * time.Second)
					start := time.Now()
					got, err := hear(t, deepgram(t, server, model), engine.Hearing{Language: "en", Terms: []string{"Bartok"}}, sound)
					if err != nil || got != said {
						t.Errorf("heard %q, %v", got, err)
					}
					if took := time.Since(start); took > time.Second {
						t.Errorf("the last word took %v", took)
					}
					synctest.Wait()
					if !slices.Equal(heard.Samples, sound) {
						t.Errorf("the vendor heard %v of %v", heard.Duration(), 2*time.Second)
					}
				})
			})
		}
	}
}

func TestDeepgramsTextImprovesWhileSomebodySpeaks(t *testing.T) {
	for _, model := range models {
		synctest.Test(t, func(t *testing.T) {
			server := &enginetest.Deepgram{}
			live := func(yield func([]int16) bool) {
				for f := range frames(humming(2 * time.Second)) {
					time.Sleep(pcm.FrameTime)
					if !yield(f) {
						return
					}
				}
			}
			start := time.Now()
			var first time.Duration
			count := 0
			for heard, err := range deepgram(t, server, model).Hear(t.Context(), engine.Hearing{}, live) {
				if err != nil {
					t.Fatal(err)
				}
				if count++; count == 1 {
					first = time.Since(start)
				}
				if !strings.HasPrefix(said, heard.Text) {
					t.Errorf("heard %q", heard.Text)
				}
			}
			if count < 5 || first > 500*time.Millisecond {
				t.Errorf("%s: %d texts, the first after %v", model, count, first)
			}
		})
	}
}

func TestDeepgramsFaultsAreErrorsInWords(t *testing.T) {
	for _, c := range []struct {
		fault enginetest.Fault
		want  string
	}{
		{enginetest.BadKey, "check the API key"}, {enginetest.HangUp, "hung up: NET-0001"}, {enginetest.ErrorEnd, "it burns"},
		{enginetest.Overloaded, "HTTP 503"}, {enginetest.Drop, "EOF"},
	} {
		for _, model := range models {
			if c.fault == enginetest.ErrorEnd && model == "nova-3" {
				continue // version 1 has no such message
			}
			t.Run(model+" "+string(c.fault), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := &enginetest.Deepgram{}
					server.Next(c.fault)
					_, err := hear(t, deepgram(t, server, model), engine.Hearing{}, humming(2*time.Second))
					if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
						t.Errorf("got %v, want %q", err, c.want)
					}
				})
			})
		}
	}
}

func TestNobodyIsCalledBeforeSomebodySpeaks(t *testing.T) {
	server := &enginetest.Deepgram{}
	if got, err := hear(t, deepgram(t, server, "nova-3"), engine.Hearing{}, nil); err != nil || got != "" || server.Requests() != 0 {
		t.Errorf("heard %q, %v with %d requests", got, err, server.Requests())
	}
}

func TestDeepgramStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Deepgram{}
		server.Next(enginetest.SlowSocket)
		why := errors.New("the table closes")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		endless := func(yield func([]int16) bool) {
			for ctx.Err() == nil && yield(make([]int16, pcm.HearSize)) {
				time.Sleep(pcm.FrameTime)
			}
		}
		time.AfterFunc(3*time.Second, func() { cancel(why) })
		start := time.Now()
		_, err := hearIn(ctx, t, deepgram(t, server, "nova-3"), engine.Hearing{}, endless)
		if took := time.Since(start) - 3*time.Second; !errors.Is(err, why) || took > 100*time.Millisecond {
			t.Errorf("%v later: %v", took, err)
		}
	})
}

func TestOnlySoManyNamesGoIntoTheAddress(t *testing.T) {
	var terms []string
	server := &enginetest.Deepgram{}
	g := deepgram(t, server, "nova-3")
	server.Transcribe = func(q url.Values) []string {
		terms = q["keyterm"]
		return nil
	}
	many := append([]string{"Bartok", " ", strings.Repeat("x", 500)}, slices.Repeat([]string{"Greymantle the Sage"}, 500)...)
	if _, err := hear(t, g, engine.Hearing{Terms: many}, humming(time.Second)); err != nil {
		t.Fatal(err)
	}
	if len(terms) != maxTerms || terms[0] != "Bartok" || terms[1] != "Greymantle the Sage" {
		t.Errorf("%d names, first %q", len(terms), terms[:min(2, len(terms))])
	}
}

func TestF11FinalizeMayBeAnsweredByNothingNewOrNotAtAll(t *testing.T) {
	for _, fault := range []enginetest.Fault{enginetest.EmptyLast, enginetest.NoLastWord} {
		synctest.Test(t, func(t *testing.T) {
			server := &enginetest.Deepgram{}
			server.Next(fault)
			start := time.Now()
			got, err := hear(t, deepgram(t, server, "nova-3"), engine.Hearing{}, humming(2*time.Second))
			if err != nil || got != said || time.Since(start) > time.Second {
				t.Errorf("%s: %q after %v, %v", fault, got, time.Since(start), err)
			}
		})
	}
}

func TestF12ATurnThatIsResumedEndsWithItsLastText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Deepgram{}
		server.Next(enginetest.TurnResumed)
		if got, err := hear(t, deepgram(t, server, "flux-general-en"), engine.Hearing{}, humming(2*time.Second)); err != nil || got != said {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestNamesThatChangeAreToldWhileSomebodySpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		server := &enginetest.Deepgram{Configured: func(terms []string) { told = append(told, strings.Join(terms, " ")) }}
		g := deepgram(t, server, "flux-general-en")
		began := time.Now()
		h := engine.Hearing{Fresh: func() []string {
			if time.Since(began) < 1500*time.Millisecond {
				return []string{"Bartok"}
			}
			return []string{"Greymantle", "Bartok"}
		}}
		talking := func(yield func([]int16) bool) {
			for f := range frames(humming(4 * time.Second)) {
				time.Sleep(pcm.FrameTime)
				if !yield(f) {
					return
				}
			}
		}
		if got, err := hearIn(t.Context(), t, g, h, talking); err != nil || got != said {
			t.Errorf("%q, %v", got, err)
		}
		if !slices.Equal(told, []string{"Greymantle Bartok"}) {
			t.Errorf("the vendor was told %q, want the change, once", told)
		}
	})
}

func TestR22AConnectionThatLeadsNowhereIsAnErrorAndNotSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, model := range models {
			server := &enginetest.Deepgram{}
			server.Next(enginetest.SlowSocket)
			start := time.Now()
			if got, err := hear(t, deepgram(t, server, model), engine.Hearing{}, humming(time.Second)); err == nil || time.Since(start) > 10*time.Second {
				t.Errorf("%s: %q after %v", model, got, time.Since(start))
			}
		}
	})
}
