package stt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	const text, want = "What do you know about the goblins in the forest?", "what do you know about the goblins in the forest"
	if got, err := hear(t, p, engine.Hearing{}, spoken(t, "rms", text)); err != nil || got != want {
		t.Errorf("heard %q, %v; want %q", got, err, want)
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

var names = engine.Hearing{Terms: []string{"Bartok the Barkeep", "Greymantle the Sage"}}

func TestNamesTheModelHasNeverHeardOfAreRecognised(t *testing.T) {
	const text, want = "Greymantle, tell me about the old mill.", "greymantle tell me about the old mill"
	got, err := hear(t, pocketsphinx(t), names, spoken(t, "rms", text))
	if err != nil || got != want {
		t.Errorf("heard %q, %v; want %q", got, err, want)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	if _, err := hear(t, pocketsphinx(t), names, spoken(t, "rms", "Wait.")); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(tmp, "*glyphoxa*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestABrokenLanguageModelIsNotTouched(t *testing.T) {
	model, err := os.ReadFile(filepath.Join(pocketsphinx(t).model, "en-us.lm.bin"))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "cut": model[:len(model)-1], "head only": model[:trieHead+trieTables],
		"a count of 4 billion": slices.Concat(model[:trieCounts], []byte{255, 255, 255, 255}, model[trieCounts+4:]),
	} {
		if _, _, err := withWords(b, []string{"x"}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	many := make([]string, 70000)
	for i := range many {
		many[i] = fmt.Sprintf("word%d", i)
	}
	if _, _, err := withWords(model, many); err == nil {
		t.Error("more words than their numbers have bits for were accepted")
	}
	twice, _, err := withWords(model, []string{"xanathar"})
	if err == nil {
		twice, _, err = withWords(twice, []string{"xanathar"})
	}
	if err != nil || len(twice) != len(model)+trieUnigram+len("xanathar")+1 {
		t.Errorf("a word taught twice: %d bytes more, %v", len(twice)-len(model), err)
	}
}

func TestABreathBeforeANameIsNoArticle(t *testing.T) {
	v, err := pocketsphinx(t).teach(t.Context(), []string{"Bartok the Barkeep", "Greymantle", "the Old Mill"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"the bartok roll the dice": "bartok roll the dice", "the greymantle": "greymantle", "the old mill burned": "the old mill burned",
		"ask the bartok": "ask the bartok", "the": "the", "": "",
	} {
		if got := v.called(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// talk is what people say at a table.
var talk = []string{
	"Bartok, what's in the pot tonight?", "Bartok, roll two d six plus three.", "Greymantle, what happens when I am poisoned?",
	"Bartok, any rooms free tonight?", "Greymantle, tell me about the old mill.", "What do you know about the goblins in the forest?",
	"I want to buy two healing potions.", "Greymantle, how does grappling work?", "Who burned down the old mill?",
	"Bartok, another round of ale please.", "I roll for initiative.", "Wait, stop talking.",
}

// BenchmarkWordErrors reports the word error rate of each of flite's voices.
func BenchmarkWordErrors(b *testing.B) {
	for _, voice := range []string{"rms", "slt", "awb", "kal16"} {
		b.Run(voice, func(b *testing.B) {
			for b.Loop() {
				p := pocketsphinx(b)
				wrong, words := 0, 0
				for _, text := range talk {
					want := strings.Fields(strings.ToLower(strings.NewReplacer(",", "", ".", "", "?", "").Replace(text)))
					got, err := hear(b, p, names, spoken(b, voice, text))
					if err != nil {
						b.Fatal(err)
					}
					b.Logf("%s: %s", text, got)
					wrong, words = wrong+edits(want, strings.Fields(got)), words+len(want)
				}
				b.ReportMetric(100*float64(wrong)/float64(words), "%wrong")
			}
		})
	}
}

// edits is the least number of words put in, taken out or changed.
func edits(a, b []string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		before := row[0]
		row[0] = i + 1
		for j, y := range b {
			same := before
			if x != y {
				same++
			}
			before = row[j+1]
			row[j+1] = min(same, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
