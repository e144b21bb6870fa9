package stt

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/child"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// listeners is how many utterances are recognised at once, each in a process
	// of 94 MB that needs a tenth of a core while somebody speaks.
	listeners = 4
	// listenTime is how long one process may live: it starts with the utterance and
	// has to think after its end.
	listenTime = MaxUtterance + 15*time.Second
	// maxText is how much recognised text is read.
	maxText = 16 << 10
	// margin is the silence put around an utterance, from which pocketsphinx learns
	// what silence is.
	margin = 200 * time.Millisecond
)

// Pocketsphinx recognises English with CMU pocketsphinx: without a key or a server,
// good for names, commands and clearly spoken sentences.
//
// The names of [engine.Hearing] are added to its dictionary and its language model,
// with the sound that the dictionary's words or flite give them.
type Pocketsphinx struct {
	program *child.Program
	model   string

	mu sync.Mutex // guards what follows
	// channel is what the last voices were like.
	channel channel
	// words is the vocabulary that names were taught in.
	words *vocabulary
	names string
}

// NewPocketsphinx looks for the program and its English model. Where they are not
// installed the error says how to install them.
func NewPocketsphinx() (*Pocketsphinx, error) {
	const install = "install pocketsphinx: sudo apt install pocketsphinx pocketsphinx-en-us"
	program, err := child.Find("pocketsphinx_continuous", listeners)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", install, err)
	}
	for _, dir := range []string{"/usr/share", "/usr/local/share"} {
		model := filepath.Join(dir, "pocketsphinx/model/en-us")
		if _, err := os.Stat(filepath.Join(model, "en-us.lm.bin")); err == nil {
			return &Pocketsphinx{program: program, model: model}, nil
		}
	}
	return nil, fmt.Errorf("%s: no English model: %w", install, fs.ErrNotExist)
}

// Name is "pocketsphinx".
func (p *Pocketsphinx) Name() string { return "pocketsphinx" }

// Basic is true: open talk of real people is beyond it.
func (p *Pocketsphinx) Basic() bool { return true }

// Hear recognises while the frames come, in a process of its own, and yields the
// text some 100 ms after the last one; a voice it has not heard before takes it
// half a second more. frames has to end when ctx does.
func (p *Pocketsphinx) Hear(ctx context.Context, h engine.Hearing, frames iter.Seq[[]int16]) iter.Seq2[engine.Transcript, error] {
	return func(yield func(engine.Transcript, error) bool) {
		text, err := p.hear(ctx, h.Terms, frames)
		if err != nil {
			yield(engine.Transcript{}, fmt.Errorf("pocketsphinx: %w", err))
			return
		}
		yield(engine.Transcript{Text: text, Final: true}, nil)
	}
}

// hear recognises once, and once more if the voice turns out to be far from what
// was expected of it.
func (p *Pocketsphinx) hear(ctx context.Context, names []string, frames iter.Seq[[]int16]) (string, error) {
	p.mu.Lock()
	expected := p.channel
	err := p.learn(ctx, names)
	words := p.words
	p.mu.Unlock()
	if err != nil {
		return "", err
	}
	var sound []int16
	text, measured, err := p.run(ctx, words, expected, func(yield func([]int16) bool) {
		for f := range limited(frames) {
			sound = append(sound, f...)
			if !yield(f) {
				return
			}
		}
	})
	if err != nil || !measured.set {
		return text, err
	}
	if !expected.set || expected.distance(measured) > strange {
		expected = measured
		text, _, err = p.run(ctx, words, expected, slices.Chunk(sound, pcm.HearSize))
	}
	p.mu.Lock()
	p.channel = expected.toward(measured)
	p.mu.Unlock()
	return text, err
}

// learn makes the vocabulary of these names unless it is the current one. The one
// before is left to the processes that still use it, and to the garbage collector.
func (p *Pocketsphinx) learn(ctx context.Context, names []string) error {
	key := strings.Join(names, "\n")
	if key == p.names {
		return nil
	}
	// What is learnt outlives this utterance, so its end must not spoil it.
	words, err := p.teach(context.WithoutCancel(ctx), names)
	if err != nil {
		return err
	}
	p.words, p.names = words, key
	return nil
}

// run recognises one utterance in one process.
func (p *Pocketsphinx) run(ctx context.Context, words *vocabulary, expected channel, frames iter.Seq[[]int16]) (string, channel, error) {
	dir, err := p.acoustics(expected)
	if err != nil {
		return "", channel{}, err
	}
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "log")
	model, dictionary := filepath.Join(p.model, "en-us.lm.bin"), filepath.Join(p.model, "cmudict-en-us.dict")
	var files []*os.File
	if words != nil {
		files = []*os.File{words.model, words.dictionary}
		model, dictionary = "/dev/fd/3", "/dev/fd/4"
	}
	process, err := p.program.StartWith(ctx, listenTime, files,
		"-infile", "/dev/stdin", "-logfn", log, "-hmm", dir, "-lm", model, "-dict", dictionary,
		// Denoising costs eight words in a hundred on clean speech, and callers' own
		// clients have denoised already.
		"-remove_noise", "no")
	if err != nil {
		return "", channel{}, err
	}
	if err := feed(process.In, frames); err != nil {
		// It does not listen any more: why it ended says more than a broken pipe.
		if why := process.Wait(); why != nil {
			return "", channel{}, why
		}
		return "", channel{}, err
	}
	var heard []string
	for lines := bufio.NewScanner(io.LimitReader(process.Out, maxText)); lines.Scan(); {
		heard = append(heard, strings.Fields(unheard.ReplaceAllString(lines.Text(), ""))...)
	}
	if err := process.Wait(); err != nil {
		return "", channel{}, err
	}
	return words.called(strings.Join(heard, " ")), measuredIn(log), nil
}

// unheard are marks for noises, and for which pronunciation of a word was heard.
var unheard = regexp.MustCompile(`\[[^\]]*\]|<[^>]*>|\+\+[^+]*\+\+|\(\d+\)`)

// feed writes the frames as raw samples, with a margin of silence, and closes w.
func feed(w io.WriteCloser, frames iter.Seq[[]int16]) error {
	silence := make([]byte, 2*int(margin/pcm.FrameTime)*pcm.HearSize)
	_, err := w.Write(silence)
	buf := make([]byte, 0, 2*pcm.HearSize)
	// After an error the rest is taken and thrown away: who speaks must not be
	// held up by who listens.
	for frame := range frames {
		if err != nil {
			continue
		}
		buf = buf[:0]
		for _, s := range frame {
			buf = binary.LittleEndian.AppendUint16(buf, uint16(s))
		}
		_, err = w.Write(buf)
	}
	if err == nil {
		_, err = w.Write(silence)
	}
	return errors.Join(err, w.Close())
}
