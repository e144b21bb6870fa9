package tts

import (
	"context"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/child"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// fliteVoice is what a voice of flite is like.
type fliteVoice struct {
	// f0 is its middle pitch in Hz, measured; 0 where it cannot be set.
	f0 float64
	// gain in decibels brings it to the loudness of espeak-ng, -20 dBFS.
	gain float64
}

// fliteVoices are the voices that Debian's flite has for any text. kal (8 kHz) and
// awb_time (tells the time only) are left out.
var fliteVoices = map[string]fliteVoice{
	"slt":   {f0: 170, gain: -5}, // an American woman
	"rms":   {f0: 0, gain: 0},    // an American man
	"awb":   {f0: 131, gain: -1}, // a Scottish man
	"kal16": {f0: 95, gain: 7},   // an American man, from the nineties
}

// Flite speaks English with flite: fewer voices than [Espeak] and more like people.
// A voice's ID is slt, rms, awb or kal16.
type Flite struct {
	program *child.Program
	voices  []string // sorted
}

// NewFlite looks for flite. Where it is not installed the error says how to
// install it.
func NewFlite(ctx context.Context) (*Flite, error) {
	program, err := child.Find("flite", programs)
	if err != nil {
		return nil, fmt.Errorf("install flite: sudo apt install flite: %w", err)
	}
	f := &Flite{program: program}
	lines, err := output(ctx, program, "-lv")
	if err != nil {
		return nil, err
	}
	for word := range strings.FieldsSeq(strings.Join(lines, " ")) {
		if _, ok := fliteVoices[word]; ok {
			f.voices = append(f.voices, word)
		}
	}
	if len(f.voices) == 0 {
		return nil, fmt.Errorf("flite has none of the voices slt, rms, awb and kal16")
	}
	slices.Sort(f.voices)
	return f, nil
}

// Name is "flite".
func (f *Flite) Name() string { return "flite" }

// Check says what is wrong with a voice.
func (f *Flite) Check(v engine.Voice) error {
	if v.Language != "" && !english(v.Language) {
		return fmt.Errorf("flite speaks English only, not %s: use engine espeak", v.Language)
	}
	if v.ID != "" && !slices.Contains(f.voices, v.ID) {
		return fmt.Errorf("voice %q: flite has %s", v.ID, strings.Join(f.voices, ", "))
	}
	return nil
}

func english(tag string) bool {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return language == "en"
}

// Speak yields 16 kHz sound once flite has made the sentence.
func (f *Flite) Speak(ctx context.Context, v engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		text, err := speakable(text)
		if err == nil {
			text, err = speakable(ascii(text))
		}
		if err == nil && text == "" {
			return
		}
		if err == nil {
			err = f.Check(v)
		}
		var sound pcm.Chunk
		if err == nil {
			sound, err = f.make(ctx, v, text)
		}
		if err != nil {
			yield(engine.Speech{}, fmt.Errorf("flite: %w", err))
			return
		}
		for part := range slices.Chunk(sound.Samples, chunkSize) {
			if ctx.Err() != nil {
				yield(engine.Speech{}, context.Cause(ctx))
				return
			}
			if !yield(engine.Speech{Chunk: pcm.Chunk{Rate: sound.Rate, Samples: part}}, nil) {
				return
			}
		}
	}
}

// make runs flite. It seeks in what it writes, so that has to be a file.
func (f *Flite) make(ctx context.Context, v engine.Voice, text string) (pcm.Chunk, error) {
	dir, err := os.MkdirTemp("", "glyphoxa-flite-")
	if err != nil {
		return pcm.Chunk{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "speech.wav")

	id := v.ID
	if id == "" {
		id = f.voices[len(f.voices)-1] // slt where there is one
	}
	kind, pitch, rate := fliteVoices[id], bend(v.Pitch), bend(v.Rate)
	args := []string{"-voice", id, "-f", "/dev/stdin", "-o", file}
	played := 1.0
	if kind.f0 > 0 {
		args = append(args, "--setf", fmt.Sprintf("int_f0_target_mean=%.0f", kind.f0*pitch))
	} else {
		// A voice whose pitch cannot be set is played faster or slower, and made
		// slower or faster for it.
		played = pitch
	}
	args = append(args, "--setf", fmt.Sprintf("duration_stretch=%.2f", played/rate))

	p, err := f.program.Start(ctx, timeFor(text), args...)
	if err != nil {
		return pcm.Chunk{}, err
	}
	write(p, text)
	if err := p.Wait(); err != nil {
		return pcm.Chunk{}, err
	}
	wav, err := os.Open(file)
	if err != nil {
		return pcm.Chunk{}, err
	}
	defer wav.Close()
	r, err := pcm.NewWAVReader(wav)
	if err != nil {
		return pcm.Chunk{}, err
	}
	samples := make([]int16, int(r.Duration().Seconds()*float64(r.Rate())+0.5))
	n, err := r.Read(samples)
	if err != nil {
		return pcm.Chunk{}, err
	}
	amplify(samples[:n], kind.gain+v.Gain)
	// Whole steps of 200 Hz keep the filter that brings it to 48 kHz small.
	return pcm.Chunk{Rate: int(math.Round(float64(r.Rate())*played/200)) * 200, Samples: samples[:n]}, nil
}

// bend keeps a factor where flite still sounds like a voice.
func bend(factor float64) float64 { return max(0.5, min(2, usual(factor))) }
