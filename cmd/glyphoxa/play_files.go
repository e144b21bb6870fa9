package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// maxRecording is the longest file that is played in: one long speech.
	maxRecording = 10 * time.Minute
	// trail is the silence behind a recording, so that its end is heard.
	trail = time.Second
)

// playFiles says the recordings one after the other and writes what the NPCs
// answer to a WAV file. The transcript goes to standard output.
func playFiles(ctx context.Context, t *bot.Table, in recordings, out string, io stdio) error {
	var said [][]int16
	for _, r := range in { // all of them, before anybody speaks
		samples, err := readRecording(r.path)
		if err != nil {
			return err
		}
		said = append(said, samples)
	}
	st := t.State()
	if st.Ear.Missing {
		return fmt.Errorf("nothing here can recognise speech: %s", st.Ear.Note)
	}
	if st.Mouth.Missing {
		return fmt.Errorf("nothing here can speak: %s", st.Mouth.Note)
	}
	rec, err := record(ctx, t, out)
	if err != nil {
		return err
	}
	for i, r := range in {
		who := bot.Person{ID: "player-" + strings.ToLower(r.speaker), Name: r.speaker}
		if err := t.Listen(ctx, who, frames(said[i])); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", r.path, err), rec.close())
		}
		if err := t.Settle(ctx); err != nil {
			return errors.Join(err, rec.close())
		}
	}
	if err := rec.close(); err != nil {
		return err
	}
	for _, l := range t.State().Lines {
		if !old(l, st.Lines) {
			fmt.Fprintf(io.out, "%s: %s\n", l.Speaker.Name, l.Text)
		}
	}
	return nil
}

// old reports whether the line was there before.
func old(l bot.Line, before []bot.Line) bool {
	for _, o := range before {
		if o.ID == l.ID {
			return true
		}
	}
	return false
}

// readRecording reads a WAV file as a recogniser hears it.
func readRecording(path string) ([]int16, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	samples, err := pcm.ReadWAV(bufio.NewReader(f), pcm.HearRate, maxRecording)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return append(samples, make([]int16, int(trail/pcm.FrameTime)*pcm.HearSize)...), nil
}

// frames cuts samples into 20 ms frames.
func frames(samples []int16) iter.Seq[[]int16] {
	return func(yield func([]int16) bool) {
		for ; len(samples) >= pcm.HearSize; samples = samples[pcm.HearSize:] {
			if !yield(samples[:pcm.HearSize]) {
				return
			}
		}
	}
}

// recorder writes what the room hears to a file.
type recorder struct {
	file   *os.File
	wav    *pcm.WAVWriter
	cancel context.CancelFunc
	done   sync.WaitGroup
	err    error // of the goroutine; read after done
}

// record starts recording; every sound the table makes from now on is in it.
func record(ctx context.Context, t *bot.Table, path string) (*recorder, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w, err := pcm.NewWAVWriter(f, pcm.Rate)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &recorder{file: f, wav: w, cancel: cancel}
	sounds := t.Sound(ctx)
	r.done.Go(func() {
		for s := range sounds {
			if r.err == nil && s.Samples != nil {
				r.err = w.Write(s.Samples)
			}
		}
	})
	return r, nil
}

// close ends the recording and reports what went wrong in it.
func (r *recorder) close() error {
	r.cancel()
	r.done.Wait()
	if err := errors.Join(r.err, r.wav.Close(), r.file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", r.file.Name(), err)
	}
	return nil
}
