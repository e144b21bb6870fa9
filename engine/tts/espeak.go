package tts

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/child"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// programs is how many processes of one synthesiser run at once: they live
	// for some 10 to 60 ms each.
	programs = 4
	// programTime is how long a program may take for a sentence: hundreds of times
	// what it needs, since a busy machine was seen to make one wait for six seconds. A
	// long text gets a millisecond more for each byte.
	programTime = 15 * time.Second
	// chunkSize is the most that is yielded at a time: 46 ms at 22.05 kHz.
	chunkSize = 1024
)

// Espeak speaks with espeak-ng: over a hundred languages and accents, and variants
// from children to creatures. It sounds like a robot and answers at once.
//
// A voice's ID is a language of 'espeak-ng --voices', a variant of
// 'espeak-ng --voices=variant', or both: "en-gb-scotland+m3", "+croak".
type Espeak struct {
	program   *child.Program
	languages []string // in lower case, sorted
	variants  []string // sorted
}

// NewEspeak looks for espeak-ng and asks it for its voices. Where it is not
// installed the error says how to install it.
func NewEspeak(ctx context.Context) (*Espeak, error) {
	program, err := child.Find("espeak-ng", programs)
	if err != nil {
		return nil, fmt.Errorf("install espeak-ng: sudo apt install espeak-ng: %w", err)
	}
	e := &Espeak{program: program}
	for _, list := range []struct {
		arg  string
		add  *[]string
		word func(fields []string) string
	}{
		{"--voices", &e.languages, func(f []string) string { return strings.ToLower(f[1]) }},
		{"--voices=variant", &e.variants, func(f []string) string {
			for _, w := range f {
				if v, ok := strings.CutPrefix(w, "!v/"); ok {
					return v
				}
			}
			return ""
		}},
	} {
		lines, err := output(ctx, program, list.arg)
		if err != nil {
			return nil, err
		}
		for _, line := range lines[min(1, len(lines)):] { // the first is the heading
			if f := strings.Fields(line); len(f) >= 4 && list.word(f) != "" {
				*list.add = append(*list.add, list.word(f))
			}
		}
		slices.Sort(*list.add)
		*list.add = slices.Compact(*list.add)
	}
	return e, nil
}

// output runs a program that only lists something.
func output(ctx context.Context, p *child.Program, args ...string) ([]string, error) {
	const most = 1 << 20
	r, err := p.Start(ctx, programTime, args...)
	if err != nil {
		return nil, err
	}
	var lines []string
	for s := bufio.NewScanner(io.LimitReader(r.Out, most)); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines, r.Wait()
}

// Name is "espeak".
func (e *Espeak) Name() string { return "espeak" }

// Speak yields 22.05 kHz sound while espeak-ng makes it.
func (e *Espeak) Speak(ctx context.Context, v engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		text, err := speakable(text)
		if err == nil && text == "" {
			return
		}
		if err == nil {
			err = e.Check(v)
		}
		if err != nil {
			yield(engine.Speech{}, fmt.Errorf("espeak: %w", err))
			return
		}
		p, err := e.program.Start(ctx, timeFor(text), "--stdin", "--stdout", "-b", "1",
			"-v", e.voice(v), "-p", espeakPitch(v.Pitch), "-s", espeakRate(v.Rate))
		if err != nil {
			yield(engine.Speech{}, fmt.Errorf("espeak: %w", err))
			return
		}
		write(p, text)
		speakWAV(ctx, p, v.Gain, yield)
	}
}

// timeFor is how long a program may take for a text.
func timeFor(text string) time.Duration {
	return programTime + time.Duration(len(text))*time.Millisecond
}

// write gives a program its text. A program that does not read it ends with an
// error of its own, which says more than a broken pipe.
func write(p *child.Process, text string) {
	_, _ = io.WriteString(p.In, text)
	_ = p.In.Close()
}

// speakWAV yields the WAV that a program writes to its output as it comes, and
// sees the program to its end.
func speakWAV(ctx context.Context, p *child.Process, gain float64, yield func(engine.Speech, error) bool) {
	fail := func(err error) {
		// What the program or the context says is the reason; that the sound is
		// broken only follows from it.
		if why := p.Wait(); why != nil {
			err = why
		}
		yield(engine.Speech{}, err)
	}
	// A reader blocked on the pipe wakes when the process is killed with ctx.
	wav, err := pcm.NewWAVReader(p.Out)
	if err != nil {
		fail(err)
		return
	}
	for {
		samples := make([]int16, chunkSize)
		n, err := wav.ReadSome(samples)
		if n > 0 {
			if ctx.Err() != nil {
				p.Kill()
				yield(engine.Speech{}, context.Cause(ctx))
				return
			}
			chunk := pcm.Chunk{Rate: wav.Rate(), Samples: samples[:n]}
			amplify(chunk.Samples, gain)
			if !yield(engine.Speech{Chunk: chunk}, nil) {
				p.Kill()
				return
			}
		}
		if errors.Is(err, io.EOF) {
			if err := p.Wait(); err != nil {
				yield(engine.Speech{}, err)
			}
			return
		}
		if err != nil {
			fail(err)
			return
		}
	}
}

// amplify applies a gain in decibels within reason: what a campaign asks for may
// be soft or loud, not deafening.
func amplify(samples []int16, gain float64) {
	if gain != 0 && !math.IsNaN(gain) {
		pcm.Amplify(samples, pcm.Factor(max(-60, min(20, gain))))
	}
}

// voiceID is what may stand in an ID: espeak-ng would also take a path to a file.
var voiceID = regexp.MustCompile(`^[A-Za-z0-9-]{0,40}(\+[A-Za-z0-9_-]{1,40})?$`)

// Check says what is wrong with a voice, such as a variant that does not exist.
func (e *Espeak) Check(v engine.Voice) error {
	if !voiceID.MatchString(v.ID) {
		return fmt.Errorf("voice %q: want a language and a variant, such as en-gb+m3", v.ID)
	}
	language, variant, _ := strings.Cut(v.ID, "+")
	if language != "" && !e.has(language) {
		return fmt.Errorf("voice %q: no language %q; 'espeak-ng --voices' lists them", v.ID, language)
	}
	if _, ok := slices.BinarySearch(e.variants, variant); variant != "" && !ok {
		return fmt.Errorf("voice %q: no variant %q; 'espeak-ng --voices=variant' lists them", v.ID, variant)
	}
	return nil
}

func (e *Espeak) has(language string) bool {
	_, ok := slices.BinarySearch(e.languages, strings.ToLower(language))
	return ok
}

// voice is the -v argument: the ID, or the nearest there is to the language.
func (e *Espeak) voice(v engine.Voice) string {
	language, variant, ok := strings.Cut(v.ID, "+")
	if language == "" {
		language = e.nearest(v.Language)
	}
	if ok {
		return language + "+" + variant
	}
	return language
}

// nearest is the voice for a BCP 47 tag: its language and region, its language, or
// English.
func (e *Espeak) nearest(tag string) string {
	for tag = strings.ToLower(tag); tag != ""; {
		switch {
		case tag == "en": // plain "en" is British
			return "en-us"
		case tag == "zh":
			return "cmn"
		case e.has(tag):
			return tag
		case e.has(tag + "-" + tag): // "fr" is listed as fr-fr
			return tag + "-" + tag
		}
		i := max(strings.LastIndexByte(tag, '-'), 0)
		tag = tag[:i]
	}
	return "en-us"
}

// espeakPitch turns a factor into espeak-ng's 0 to 99. Measured: 0 is 0.67 times
// the pitch of 50, 99 is 1.66 times, and it goes with the logarithm between.
func espeakPitch(factor float64) string {
	octaves := math.Log2(usual(factor))
	steps := 68.0
	if octaves < 0 {
		steps = 86
	}
	return strconv.Itoa(int(max(0, min(99, 50+steps*octaves))))
}

// espeakRate turns a factor into words a minute; 175 is espeak-ng's own pace, and
// what lies beyond 80 and 450 it refuses.
func espeakRate(factor float64) string {
	return strconv.Itoa(int(max(80, min(450, 175*usual(factor)))))
}

// usual is a factor, or 1 if it is not set or no number.
func usual(factor float64) float64 {
	if factor > 0 && !math.IsInf(factor, 0) {
		return factor
	}
	return 1
}
