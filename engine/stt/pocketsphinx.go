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
	"strings"
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
type Pocketsphinx struct {
	program *child.Program
	model   string
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
			return &Pocketsphinx{program, model}, nil
		}
	}
	return nil, fmt.Errorf("%s: no English model: %w", install, fs.ErrNotExist)
}

// Name is "pocketsphinx".
func (p *Pocketsphinx) Name() string { return "pocketsphinx" }

// Basic is true: open talk of real people is beyond it.
func (p *Pocketsphinx) Basic() bool { return true }

// Hear recognises while the frames come, in a process of its own, and yields the
// text some 100 ms after the last one. frames has to end when ctx does.
func (p *Pocketsphinx) Hear(ctx context.Context, _ engine.Hearing, frames iter.Seq[[]int16]) iter.Seq2[engine.Transcript, error] {
	return func(yield func(engine.Transcript, error) bool) {
		text, err := p.hear(ctx, frames)
		if err != nil {
			yield(engine.Transcript{}, fmt.Errorf("pocketsphinx: %w", err))
			return
		}
		yield(engine.Transcript{Text: text, Final: true}, nil)
	}
}

func (p *Pocketsphinx) hear(ctx context.Context, frames iter.Seq[[]int16]) (string, error) {
	process, err := p.program.Start(ctx, listenTime,
		"-infile", "/dev/stdin", "-logfn", "/dev/null",
		// Denoising costs eight words in a hundred on clean speech, and callers' own
		// clients have denoised already.
		"-remove_noise", "no",
		"-hmm", filepath.Join(p.model, "en-us"),
		"-lm", filepath.Join(p.model, "en-us.lm.bin"),
		"-dict", filepath.Join(p.model, "cmudict-en-us.dict"))
	if err != nil {
		return "", err
	}
	if err := feed(process.In, frames); err != nil {
		// It does not listen any more: why it ended says more than a broken pipe.
		if why := process.Wait(); why != nil {
			return "", why
		}
		return "", err
	}
	var words []string
	for lines := bufio.NewScanner(io.LimitReader(process.Out, maxText)); lines.Scan(); {
		words = append(words, strings.Fields(unheard.ReplaceAllString(lines.Text(), ""))...)
	}
	if err := process.Wait(); err != nil {
		return "", err
	}
	return strings.Join(words, " "), nil
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
	for frame := range limited(frames) {
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
