package music

import (
	"errors"
	"fmt"
	"io"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// seam is how long the end of a piece and its beginning sound together: 40 ms,
// which hides the gap that MP3 leaves and is not heard in pieces that were made to
// be looped.
const seam = 2 * pcm.FrameSize

// loop plays one piece over and over, at the table's rate.
type loop struct {
	piece *Piece
	dec   decoder
	to    *pcm.Resampler // nil where the rate is the table's
	rate  int
	buf   []int16 // decoded and not played
	ended bool    // the decoder gave its last
	made  int     // samples of this time through
	again int     // how often the piece came to its end
}

func newLoop(p *Piece) (*loop, error) {
	l := &loop{piece: p}
	d, err := p.decode()
	l.dec = d
	return l, err
}

// fill decodes until there are n samples or the piece has ended. What breaks in
// the middle of a file ends it there: what could be played goes on.
func (l *loop) fill(n int) error {
	for len(l.buf) < n && !l.ended {
		c, err := l.dec.next()
		if err != nil {
			l.ended = true
			if l.to != nil {
				before := len(l.buf)
				l.buf = l.to.Flush(l.buf)
				l.made += len(l.buf) - before
			}
			if l.made < int(shortest.Seconds()*pcm.Rate)/2 && !errors.Is(err, io.EOF) {
				return fmt.Errorf("%s: %w", l.piece.Name, err)
			}
			return nil
		}
		if err := l.add(c); err != nil {
			return fmt.Errorf("%s: %w", l.piece.Name, err)
		}
	}
	return nil
}

func (l *loop) add(c pcm.Chunk) (err error) {
	if c.Rate != l.rate {
		l.rate, l.to = c.Rate, nil
		if c.Rate != pcm.Rate {
			if l.to, err = pcm.NewResampler(c.Rate, pcm.Rate); err != nil {
				return err
			}
		}
	}
	before := len(l.buf)
	if l.to == nil {
		l.buf = append(l.buf, c.Samples...)
	} else {
		l.buf = l.to.Append(l.buf, c.Samples)
	}
	l.made += len(l.buf) - before
	return nil
}

// next gives 20 ms.
func (l *loop) next(frame []int16) error {
	if err := l.fill(len(frame) + seam); err != nil {
		return err
	}
	if l.ended && len(l.buf) < len(frame)+seam {
		if err := l.turnOver(); err != nil {
			return err
		}
	}
	n := copy(frame, l.buf)
	clear(frame[n:])
	l.buf = l.buf[:copy(l.buf, l.buf[n:])]
	return nil
}

// turnOver joins the end that is left to a new beginning.
func (l *loop) turnOver() error {
	if l.made < seam+pcm.FrameSize {
		return fmt.Errorf("%s: %w", l.piece.Name, ErrShort)
	}
	fresh, err := newLoop(l.piece)
	if err != nil {
		return err
	}
	if err := fresh.fill(seam + pcm.FrameSize); err != nil {
		return err
	}
	n := min(seam, len(l.buf), len(fresh.buf))
	end := l.buf[len(l.buf)-n:]
	for i := range end {
		share := float32(i) / float32(n)
		end[i] = int16(float32(end[i])*(1-share) + float32(fresh.buf[i])*share)
	}
	fresh.buf = append(l.buf, fresh.buf[n:]...)
	fresh.again = l.again + 1
	*l = *fresh
	return nil
}
