package stt

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

func pocketsphinx(t testing.TB) *Pocketsphinx {
	t.Helper()
	p, err := NewPocketsphinx()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// spoken makes flite say a text.
func spoken(t testing.TB, voice, text string) []int16 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "speech.wav")
	if out, err := exec.CommandContext(t.Context(), "flite", "-voice", voice, "-t", text, "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("flite: %v: %s", err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sound, err := pcm.ReadWAV(bytes.NewReader(b), pcm.HearRate, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return sound
}

func TestClearSpeechIsRecognised(t *testing.T) {
	p := pocketsphinx(t)
	for _, text := range []string{"I roll for initiative.", "What do you know about the goblins in the forest?"} {
		got, err := hear(t, p, engine.Hearing{}, spoken(t, "rms", text))
		want := strings.ToLower(strings.Trim(text, ".?"))
		if err != nil || got != want {
			t.Errorf("heard %q, %v; want %q", got, err, want)
		}
	}
}

func TestNothingHeardIsAnEmptyTranscript(t *testing.T) {
	p := pocketsphinx(t)
	for _, sound := range [][]int16{nil, make([]int16, 3*pcm.HearSize), make([]int16, pcm.HearRate)} {
		if got, err := hear(t, p, engine.Hearing{}, sound); err != nil || got != "" {
			t.Errorf("%d samples of silence: heard %q, %v", len(sound), got, err)
		}
	}
}

func TestRecognitionStopsWithItsContext(t *testing.T) {
	p := pocketsphinx(t)
	why := errors.New("the table closes")
	ctx, cancel := context.WithCancelCause(t.Context())
	sound := spoken(t, "rms", "I roll for initiative.")
	var ended time.Time
	cut := func(yield func([]int16) bool) {
		for f := range frames(sound) {
			if !yield(f) {
				return
			}
		}
		cancel(why)
		ended = time.Now()
	}
	_, err := hearIn(ctx, t, p, engine.Hearing{}, cut)
	if !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if late := time.Since(ended); late > 2*time.Second {
		t.Errorf("it took %v", late)
	}
}

func TestWithoutPocketsphinxTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := NewPocketsphinx()
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "sudo apt install pocketsphinx") {
		t.Errorf("got %v", err)
	}
}

func TestARecogniserThatDiesSaysWhy(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pocketsphinx_continuous"), []byte("#!/bin/sh\necho no model here >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	taken := 0
	sound := func(yield func([]int16) bool) {
		for f := range frames(make([]int16, 30*pcm.HearRate)) {
			taken++
			if !yield(f) {
				return
			}
		}
	}
	_, err := hearIn(t.Context(), t, pocketsphinx(t), engine.Hearing{}, sound)
	if err == nil || !strings.Contains(err.Error(), "no model here") {
		t.Errorf("got %v", err)
	}
	if taken != 1500 {
		t.Errorf("%d frames were taken, want all 1500: the speaker would be held up", taken)
	}
}

func BenchmarkRecognise(b *testing.B) {
	p := pocketsphinx(b)
	sound := spoken(b, "rms", "Bartok, what's in the pot tonight?")
	for b.Loop() {
		if _, err := hear(b, p, engine.Hearing{}, sound); err != nil {
			b.Fatal(err)
		}
	}
}
