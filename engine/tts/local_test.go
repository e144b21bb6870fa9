package tts

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const sentence = "The old mill burned down last winter, and nobody knows who did it."

func espeak(t testing.TB) *Espeak {
	t.Helper()
	e, err := NewEspeak(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func flite(t testing.TB) *Flite {
	t.Helper()
	f, err := NewFlite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// say collects what a synthesiser says at one rate.
func say(t testing.TB, s engine.Synthesizer, v engine.Voice, text string) pcm.Chunk {
	t.Helper()
	c, err := collect(t.Context(), s, v, text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func collect(ctx context.Context, s engine.Synthesizer, v engine.Voice, text string) (pcm.Chunk, error) {
	var all pcm.Chunk
	for sound, err := range s.Speak(ctx, v, text) {
		if err != nil {
			return all, err
		}
		all.Rate = sound.Rate
		all.Samples = append(all.Samples, sound.Samples...)
	}
	return all, nil
}

// pitch is the middle fundamental frequency of the voiced parts, in Hz.
func pitch(c pcm.Chunk) float64 {
	var found []float64
	n := c.Rate / 25
	for at := 0; at+2*n < len(c.Samples); at += n {
		x := c.Samples[at:]
		if pcm.Level(x[:n]) < -35 {
			continue
		}
		best, bestLag := 0.6, 0
		for lag := c.Rate / 400; lag < c.Rate/55; lag++ {
			var xy, xx, yy float64
			for i := 0; i < n; i += 3 {
				a, b := float64(x[i]), float64(x[i+lag])
				xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
			}
			if r := xy / math.Sqrt(xx*yy+1); r > best+0.02 {
				best, bestLag = r, lag
			}
		}
		if bestLag > 0 {
			found = append(found, float64(c.Rate)/float64(bestLag))
		}
	}
	if len(found) == 0 {
		return 0
	}
	slices.Sort(found)
	return found[len(found)/2]
}

func TestPitchAndRateMeanTheSameForEveryVoice(t *testing.T) {
	for _, v := range []engine.Voice{
		{Engine: "espeak", ID: "en-gb+m3"}, {Engine: "espeak", ID: "en-us+f2"},
		{Engine: "flite", ID: "slt"}, {Engine: "flite", ID: "awb"}, {Engine: "flite", ID: "rms"},
	} {
		t.Run(v.Engine+" "+v.ID, func(t *testing.T) {
			t.Parallel()
			var s engine.Synthesizer = espeak(t)
			if v.Engine == "flite" {
				s = flite(t)
			}
			base := say(t, s, v, sentence)
			v.Pitch = 1.25
			if got := pitch(say(t, s, v, sentence)) / pitch(base); got < 1.15 || got > 1.35 {
				t.Errorf("pitch 1.25 came out as %.2f", got)
			}
			v.Pitch = 0.8
			if got := pitch(say(t, s, v, sentence)) / pitch(base); got < 0.72 || got > 0.88 {
				t.Errorf("pitch 0.8 came out as %.2f", got)
			}
			v.Pitch, v.Rate = 0, 1.3
			if got := base.Duration().Seconds() / say(t, s, v, sentence).Duration().Seconds(); got < 1.15 || got > 1.45 {
				t.Errorf("rate 1.3 came out as %.2f", got)
			}
		})
	}
}

func TestAllVoicesAreAboutEquallyLoud(t *testing.T) {
	e, f := espeak(t), flite(t)
	levels := map[string]float64{
		"espeak en-us":    pcm.Level(say(t, e, engine.Voice{ID: "en-us"}, sentence).Samples),
		"espeak en-gb+f3": pcm.Level(say(t, e, engine.Voice{ID: "en-gb+f3"}, sentence).Samples),
	}
	for _, id := range f.voices {
		levels["flite "+id] = pcm.Level(say(t, f, engine.Voice{ID: id}, sentence).Samples)
	}
	for voice, level := range levels {
		if level < -24 || level > -17 {
			t.Errorf("%s speaks at %.1f dBFS, want about -20", voice, level)
		}
	}
	quiet := pcm.Level(say(t, e, engine.Voice{ID: "en-us", Gain: -12}, sentence).Samples)
	if got := quiet - levels["espeak en-us"]; got < -13 || got > -11 {
		t.Errorf("a gain of -12 dB changed the level by %.1f dB", got)
	}
}

func TestMarkupAndCodesAreOnlyText(t *testing.T) {
	e := espeak(t)
	// If any of these did what it says, the sound would be very short or very long.
	for _, text := range []string{
		"--version", "-f /etc/passwd", "; rm -rf /", "$(reboot) and so on", "`id` is what it says",
		"[[" + strings.Repeat("a:_::::", 200) + "]] good day",
		`<break time="60s"/> good day`, "\x01+99P good \x00 day",
		"good day \xff\xfe", "\u202egood day",
	} {
		got := say(t, e, engine.Voice{}, text).Duration()
		if got < 200*time.Millisecond || got > 15*time.Second && !strings.Contains(text, "a:_") {
			t.Errorf("%q became %v of sound", text, got)
		}
	}
	plainText, coded := say(t, e, engine.Voice{}, "h@l'oU"), say(t, e, engine.Voice{}, "[[h@l'oU]]")
	if d := (plainText.Duration() - coded.Duration()).Abs(); d > 300*time.Millisecond {
		t.Errorf("a phoneme code is not read like its letters: %v and %v", plainText.Duration(), coded.Duration())
	}
}

func TestNothingToSayIsSilenceNotAnError(t *testing.T) {
	for _, s := range []engine.Synthesizer{espeak(t), flite(t)} {
		for _, text := range []string{"", "  \n\t ", "...", "—!?", "\x00\x01"} {
			if got := say(t, s, engine.Voice{}, text); len(got.Samples) > 0 {
				t.Errorf("%s: %q became %v of sound", s.Name(), text, got.Duration())
			}
		}
	}
}

func TestHugeTextIsRefusedInWords(t *testing.T) {
	for _, s := range []engine.Synthesizer{espeak(t), flite(t)} {
		_, err := collect(t.Context(), s, engine.Voice{}, strings.Repeat("word ", MaxText/5+1))
		if err == nil || !strings.Contains(err.Error(), "split it") {
			t.Errorf("%s: got %v", s.Name(), err)
		}
	}
}

func TestTheLongestTextIsSpokenInTime(t *testing.T) {
	text := strings.Repeat("They danced all night. ", MaxText/23)
	if got := say(t, espeak(t), engine.Voice{}, text).Duration(); got < time.Minute {
		t.Errorf("%d bytes became %v", len(text), got)
	}
}

func TestVoicesThatDoNotExistAreExplained(t *testing.T) {
	e, f := espeak(t), flite(t)
	for _, c := range []struct {
		s    engine.Synthesizer
		v    engine.Voice
		want string
	}{
		{e, engine.Voice{ID: "../../etc/passwd"}, "want a language and a variant"},
		{e, engine.Voice{ID: "-v"}, "no language"},
		{e, engine.Voice{ID: "tlh"}, `no language "tlh"`},
		{e, engine.Voice{ID: "en-us+m99"}, `no variant "m99"`},
		{f, engine.Voice{ID: "en-us"}, "flite has awb"},
		{f, engine.Voice{ID: "/tmp/evil.flitevox"}, "flite has awb"},
		{f, engine.Voice{Language: "de-DE"}, "English only"},
	} {
		_, err := collect(t.Context(), c.s, c.v, "hello")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: got %v, want %q", c.s.Name(), c.v, err, c.want)
		}
	}
}

func TestLanguagesFindTheirNearestVoice(t *testing.T) {
	e := espeak(t)
	for tag, want := range map[string]string{
		"": "en-us", "en": "en-us", "en-GB": "en-gb", "en-AU": "en-us", "de-AT": "de", "fr": "fr-fr", "pt-BR": "pt-br", "zh-CN": "cmn", "tlh": "en-us",
	} {
		if got := e.voice(engine.Voice{Language: tag}); got != want {
			t.Errorf("%q speaks as %q, want %q", tag, got, want)
		}
	}
	if got := e.voice(engine.Voice{Language: "de", ID: "+croak"}); got != "de+croak" {
		t.Errorf("a German creature speaks as %q", got)
	}
}

func TestSpeechStopsWithItsListenerOrItsContext(t *testing.T) {
	long := strings.Repeat(sentence+" ", 10)
	for _, s := range []engine.Synthesizer{espeak(t), flite(t)} {
		for _, err := range s.Speak(t.Context(), engine.Voice{}, long) {
			if err != nil {
				t.Error(err)
			}
			break
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		why := errors.New("interrupted")
		var got error
		for _, err := range s.Speak(ctx, engine.Voice{}, long) {
			if got = err; err == nil {
				cancel(why)
			}
		}
		if !errors.Is(got, why) {
			t.Errorf("%s: cancelled speech ended with %v", s.Name(), got)
		}
		if _, err := collect(ctx, s, engine.Voice{}, "hello"); !errors.Is(err, why) {
			t.Errorf("%s: speech after the end gave %v", s.Name(), err)
		}
	}
}

func TestManyAtOnceAllSpeak(t *testing.T) {
	s := espeak(t)
	done := make(chan error)
	for range 20 {
		go func() {
			c, err := collect(t.Context(), s, engine.Voice{}, sentence)
			if err == nil && c.Duration() < 2*time.Second {
				err = errors.New("cut short")
			}
			done <- err
		}()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestWithoutProgramsTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s, err := Installed(t.Context())
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "sudo apt install espeak-ng") {
		t.Errorf("got %v", err)
	}
	if _, err := collect(t.Context(), s, engine.Voice{}, "hello"); !errors.Is(err, ErrNone) {
		t.Errorf("an empty set speaks with %v", err)
	}
}

func TestEitherProgramIsEnough(t *testing.T) {
	everything := os.Getenv("PATH")
	for _, name := range []string{"espeak-ng", "flite"} {
		t.Setenv("PATH", everything)
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		s, err := Installed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []engine.Voice{{Engine: "espeak", ID: "en-gb+m3"}, {Engine: "flite", ID: "awb"}, {}} {
			if got := say(t, s, v, "Good day."); len(got.Samples) == 0 {
				t.Errorf("with %s alone %+v says nothing", name, v)
			}
		}
	}
}

// program puts a shell script on the PATH in place of a program.
func program(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

const listVoices = `case "$1" in --voices*) echo "Pty Language x x x"; echo "5 en-us M English gmw/en-US"; exit;; esac
`

func TestAProgramThatFailsSaysWhy(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"dies", "echo no such voice >&2; exit 3", "no such voice"},
		{"writes rubbish", "echo this is not sound at all", "not a WAV"},
		{"is killed", "kill -SEGV $$", "signal: segmentation fault"},
	} {
		t.Run(c.name, func(t *testing.T) {
			program(t, "espeak-ng", listVoices+c.script)
			_, err := collect(t.Context(), espeak(t), engine.Voice{}, "hello")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAChildGetsNothingOfOurEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "hunter2")
	program(t, "espeak-ng", listVoices+"env >&2; exit 1")
	_, err := collect(t.Context(), espeak(t), engine.Voice{}, "hello")
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "LANG=C.UTF-8") {
		t.Errorf("its environment: %v", err)
	}
}

func BenchmarkFirstSound(b *testing.B) {
	for _, s := range []engine.Synthesizer{espeak(b), flite(b)} {
		b.Run(s.Name(), func(b *testing.B) {
			for b.Loop() {
				for _, err := range s.Speak(b.Context(), engine.Voice{}, sentence) {
					if err != nil {
						b.Fatal(err)
					}
					break
				}
			}
		})
	}
}
