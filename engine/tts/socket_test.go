package tts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/secret"
)

// vendors are the synthesisers with sockets, each with a voice of its own.
func vendors(t testing.TB, server *enginetest.Voices) map[engine.Synthesizer]string {
	t.Helper()
	server.Key = "hunter2"
	o := VendorOptions{URL: "http://vendor", Key: secret.New("hunter2"), Client: enginetest.Client(server)}
	e, err1 := NewElevenLabs(o)
	c, err2 := NewCartesia(o)
	g, err3 := NewDeepgram(o)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return map[engine.Synthesizer]string{e: "21m00Tcm4TlvDq8ikWAM", c: "a0e99841-438c-4a64-b679-ae501e7d6091", g: "aura-2-orion-en"}
}

const spokenWords = "Any rooms left for us tonight"

func TestAVendorsSoundArrivesWholeWithItsWords(t *testing.T) {
	want := enginetest.Tones(enginetest.SpeechRequest{Input: spokenWords})
	for _, fault := range []enginetest.Fault{"", enginetest.OddPieces} {
		server := &enginetest.Voices{}
		for s, voice := range vendors(t, server) {
			synctest.Test(t, func(t *testing.T) {
				server.Next(fault)
				var words []engine.WordTime
				var samples []int16
				for sound, err := range s.Speak(t.Context(), engine.Voice{ID: voice}, spokenWords) {
					if err != nil {
						t.Fatalf("%s: %v", s.Name(), err)
					}
					samples = append(samples, sound.Samples...)
					words = append(words, sound.Words...)
				}
				if !slices.Equal(samples, want.Samples) {
					t.Errorf("%s, %q: %d samples, want %d, or they differ", s.Name(), fault, len(samples), len(want.Samples))
				}
				if fault != "" || s.Name() == "deepgram" {
					return // which tells no times
				}
				var expected []engine.WordTime
				for i, w := range strings.Fields(spokenWords) {
					expected = append(expected, engine.WordTime{Text: w, Start: time.Duration(i) * 60 * time.Millisecond})
				}
				if diff := cmp.Diff(expected, words); diff != "" {
					t.Errorf("%s: %s", s.Name(), diff)
				}
			})
		}
	}
}

func TestAVendorIsToldHowToSpeak(t *testing.T) {
	asked := map[string]map[string]any{}
	server := &enginetest.Voices{Asked: func(vendor, text string, p map[string]any) {
		p["text"] = text
		asked[vendor] = p
	}}
	for s, voice := range vendors(t, server) {
		synctest.Test(t, func(t *testing.T) {
			say(t, s, engine.Voice{ID: voice, Language: "en-GB", Rate: 9}, " Good\nday. ")
		})
	}
	want := map[string]map[string]any{
		"elevenlabs": {"text": "Good day.", "voice": "21m00Tcm4TlvDq8ikWAM", "language": "en", "speed": 1.2},
		"cartesia":   {"text": "Good day.", "voice": "a0e99841-438c-4a64-b679-ae501e7d6091", "language": "en", "speed": 1.5, "delay": 0},
		"deepgram":   {"text": "Good day.", "voice": "aura-2-orion-en", "speed": 1.5},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

func TestAVendorsFaultsAreErrorsInWords(t *testing.T) {
	for fault, want := range map[enginetest.Fault]string{
		enginetest.BadKey: "check the API key", enginetest.Overloaded: "HTTP 503", enginetest.HangUp: "hung up: internal error",
		enginetest.ErrorEnd: "all of your credits", enginetest.NoSound: "no sound", enginetest.StallSound: "stopped sending sound",
		enginetest.Hang: "no connection within 2s",
	} {
		server := &enginetest.Voices{}
		for s, voice := range vendors(t, server) {
			synctest.Test(t, func(t *testing.T) {
				server.Next(fault)
				_, err := collect(t.Context(), s, engine.Voice{ID: voice}, spokenWords)
				if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), s.Name()+": ") || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%s, %s: got %v, want %q", s.Name(), fault, err, want)
				}
			})
		}
	}
}

func TestAVendorStopsWithItsListenerOrItsContext(t *testing.T) {
	server := &enginetest.Voices{}
	for s, voice := range vendors(t, server) {
		synctest.Test(t, func(t *testing.T) {
			for _, err := range s.Speak(t.Context(), engine.Voice{ID: voice}, spokenWords) {
				if err != nil {
					t.Error(err)
				}
				break
			}
			synctest.Wait()
			server.Next(enginetest.StallSound)
			why := errors.New("interrupted")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			time.AfterFunc(time.Second, func() { cancel(why) })
			start := time.Now()
			if _, err := collect(ctx, s, engine.Voice{ID: voice}, spokenWords); !errors.Is(err, why) || time.Since(start) > 1100*time.Millisecond {
				t.Errorf("%s after %v: %v", s.Name(), time.Since(start), err)
			}
		})
	}
}

func TestVoicesOfVendorsAreChecked(t *testing.T) {
	for s := range vendors(t, &enginetest.Voices{}) {
		for _, id := range []string{"../../v1/user", "a?b=c", "", strings.Repeat("x", 100)} {
			if id == "" && s.Name() == "deepgram" {
				continue // has a voice of its own
			}
			_, err := collect(t.Context(), s, engine.Voice{ID: id}, "hello")
			if err == nil || !strings.Contains(err.Error(), "voice") {
				t.Errorf("%s, voice %q: got %v", s.Name(), id, err)
			}
		}
	}
	for _, missing := range []error{second(NewElevenLabs(VendorOptions{})), second(NewCartesia(VendorOptions{})), second(NewDeepgram(VendorOptions{}))} {
		if missing == nil || !strings.Contains(missing.Error(), "_API_KEY}") {
			t.Errorf("without a key: %v", missing)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestTimesThatMakeNoSenseDoNotSpoilTheSound(t *testing.T) {
	want := enginetest.Tones(enginetest.SpeechRequest{Input: spokenWords})
	for name, fault := range map[string]enginetest.Fault{
		"F13 odd pieces": enginetest.OddPieces, "F14 no alignment": enginetest.NoTimes, "F14 letters beyond the sound": enginetest.TimesBeyond,
		"F18 slower than real time": enginetest.SlowSound,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.Voices{}
				for s, voice := range vendors(t, server) {
					if s.Name() != "elevenlabs" {
						continue
					}
					server.Next(fault)
					got, err := collect(t.Context(), s, engine.Voice{ID: voice}, spokenWords)
					if err != nil || !slices.Equal(got.Samples, want.Samples) {
						t.Errorf("%d samples of %d, %v", len(got.Samples), len(want.Samples), err)
					}
				}
			})
		})
	}
}
