package engine

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// ledger maps sent sound to words, so that what is remembered of an interrupted
// turn is what left for the room.
type ledger struct {
	mu        sync.Mutex // guards all below
	sentences []*spoken
	frames    int // sent, of the whole turn
}

// spoken is one sentence of the ledger.
type spoken struct {
	text   string
	sent   int        // frames
	frames int        // all of it, once known; 0 before
	times  []WordTime // from the synthesiser, if it tells
	shown  bool       // there was no sound: the text itself reached the room
}

// guessRate estimates a sentence's length while its sound is still being made:
// people and synthesisers speak about 15 letters a second.
const guessRate = 15

func (l *ledger) open(text string) *spoken {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &spoken{text: text}
	l.sentences = append(l.sentences, s)
	return s
}

// send counts one frame of s as sent.
func (l *ledger) send(s *spoken) {
	l.mu.Lock()
	s.sent++
	l.frames++
	l.mu.Unlock()
}

// unsend takes back the last n frames: the mouth dropped them unsent.
func (l *ledger) unsend(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.sentences) - 1; i >= 0 && n > 0; i-- {
		s := l.sentences[i]
		k := min(n, s.sent)
		s.sent, l.frames, n = s.sent-k, l.frames-k, n-k
	}
}

// close says that s is n frames long.
func (l *ledger) close(s *spoken, n int) {
	l.mu.Lock()
	s.frames = n
	s.shown = n == 0
	l.mu.Unlock()
}

func (l *ledger) word(s *spoken, w []WordTime) {
	l.mu.Lock()
	s.times = append(s.times, w...)
	l.mu.Unlock()
}

// played is how much sound has been sent.
func (l *ledger) played() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(l.frames) * pcm.FrameTime
}

// wordBegins reports whether a word begins with the next frame of s, as far as the
// synthesiser has told.
func (l *ledger) wordBegins(s *spoken) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := time.Duration(s.sent) * pcm.FrameTime
	return s.sent == 0 || slices.ContainsFunc(s.times, func(w WordTime) bool { return w.Start >= from && w.Start < from+pcm.FrameTime })
}

// heard is what the room has heard so far; all reports whether that is
// everything that was to be said.
func (l *ledger) heard() (text string, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []string
	all = true
	for _, s := range l.sentences {
		part := s.heard()
		if part != "" {
			parts = append(parts, part)
		}
		if part != s.text {
			all = false
			break
		}
	}
	return strings.Join(parts, " "), all
}

// heard is the part of the sentence that has been sent: whole words only, and a
// word counts when half of it has been heard.
func (s *spoken) heard() string {
	switch {
	case s.shown || s.frames > 0 && s.sent >= s.frames:
		return s.text
	case s.sent == 0:
		return ""
	}
	played := time.Duration(s.sent) * pcm.FrameTime
	words := strings.Fields(s.text)
	if len(s.times) > 0 {
		n := 0
		for n < len(s.times) && s.times[n].Start < played {
			n++
		}
		return strings.Join(words[:min(n, len(words))], " ")
	}
	total := time.Duration(s.frames) * pcm.FrameTime
	if total == 0 {
		total = max(time.Duration(len(s.text))*time.Second/guessRate, played)
	}
	// Proportionally by letters; a pause at the sentence's end is 3 letters long.
	reach := float64(played) / float64(total) * float64(len(s.text)+3)
	end := 0.0
	for i, w := range words {
		if end+float64(len(w))/2 > reach {
			return strings.Join(words[:i], " ")
		}
		end += float64(len(w)) + 1
	}
	return s.text
}
