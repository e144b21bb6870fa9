package s2s

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// frame is 20 ms of a reply's sound: sentences end on whole frames, so that
	// nothing is filled up between them.
	frame = replyRate / 50
	// usualPace is how long a letter takes, in samples, until a voice is known:
	// fifteen a second.
	usualPace = replyRate / 15
	// leastWindow is how far around its expected place a sentence's end is looked
	// for, at least.
	leastWindow = replyRate * 3 / 10
)

// speech turns a reply into what [engine.Run] plays: a model's stream of text and a
// synthesiser that has the sound already.
type speech struct {
	*reply
	name string
	plan engine.Plan
	pace float64 // samples per letter, of this voice so far
	// broke ends the turn: nothing more can be played.
	broke func(error)
	// struck is set once the filter took something out: the answer ends there.
	struck atomic.Bool

	mu     sync.Mutex // guards what follows; never held with the reply's but by filter
	queue  []sentence // what passed the filter and has not been spoken yet
	seen   int        // letters of the sentences that have come
	played int        // samples that were given to be played
	spent  int        // letters of the sentences that they are
}

// errShort is an answer whose sound ended before its words.
var errShort = errors.New("the sound ended early")

// sentence is one that will be spoken.
type sentence struct {
	letters int
	// instead is spoken by the plan's own synthesiser: words that are not the model's.
	instead bool
}

// Name is the model's.
func (s *speech) Name() string { return s.name }

// Stream yields the transcript as it comes.
func (s *speech) Stream(ctx context.Context, _ engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		told := 0
		for {
			var piece string
			err := s.wait(ctx, func() (bool, error) {
				piece = s.text.String()[told:]
				if piece == "" && s.done {
					return true, s.err
				}
				return piece != "" || s.cut(), nil
			})
			switch {
			case err != nil:
				yield(engine.Delta{}, err)
				return
			case piece == "" || s.cut():
				yield(engine.Delta{Done: true}, nil)
				return
			case !yield(engine.Delta{Text: piece}, nil):
				return
			}
			told += len(piece)
		}
	}
}

// cut reports whether the filter has ended the answer.
func (s *speech) cut() bool { return s.struck.Load() }

// filter lets a sentence pass or ends the answer. The model's sound cannot be
// changed: what is not to be heard as it is, is not heard at all.
func (s *speech) filter(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut() {
		return ""
	}
	n := letters(text)
	s.seen += n
	out := text
	if s.plan.Filter != nil {
		out = s.plan.Filter(text)
	}
	if bare(out) == bare(text) {
		s.queue = append(s.queue, sentence{letters: n})
		return text
	}
	s.struck.Store(true)
	s.change(func() {}) // for Stream to see it
	if out != "" {
		s.queue = append(s.queue, sentence{instead: true})
	}
	return out
}

// Speak yields the sound of the next sentence.
func (s *speech) Speak(ctx context.Context, v engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.mu.Unlock()
			return
		}
		next := s.queue[0]
		s.queue = s.queue[1:]
		from, spent := s.played, s.spent
		s.mu.Unlock()
		if next.instead {
			if s.plan.Synth != nil {
				for piece, err := range s.plan.Synth.Speak(ctx, v, text) {
					if !yield(piece, err) {
						return
					}
				}
			}
			return
		}
		at := from
		for {
			var piece []int16
			var last bool
			err := s.wait(ctx, func() (bool, error) {
				to, sure := s.until(from, spent, next.letters)
				to = min(to, len(s.sound))
				if at < to {
					piece = s.sound[at:to:to]
				}
				last = sure && to <= at+len(piece)
				if len(piece) == 0 && !last && s.done {
					if s.err != nil {
						return true, s.err
					}
					return true, errShort
				}
				return len(piece) > 0 || last, nil
			})
			if err != nil {
				s.take(at, spent+next.letters)
				s.broke(err)
				return
			}
			at += len(piece)
			if len(piece) > 0 && !yield(engine.Speech{Chunk: pcm.Chunk{Rate: replyRate, Samples: piece}}, nil) {
				s.take(at, spent+next.letters)
				return
			}
			if last {
				break
			}
		}
		s.take(at, spent+next.letters)
	}
}

func (s *speech) take(played, spent int) {
	s.mu.Lock()
	s.played, s.spent = played, spent
	s.mu.Unlock()
}

// until is where a sentence of n letters that begins at from ends, as far as that is
// known; sure says that it will not change. It is called under the reply's lock.
//
// Nobody tells where in the sound a word is. Letters are a good measure over a
// sentence, and people pause between sentences: so the end is the quietest moment
// near where the letters say. Until all of the answer has come, the letters are
// measured by the pace of the voice so far.
func (s *speech) until(from, spent, n int) (to int, sure bool) {
	whole := s.done && s.err == nil
	left := letters(s.text.String()) - spent // letters that the rest of the sound holds
	if whole && left <= n {
		return len(s.sound), true
	}
	pace := s.pace
	if whole && left > 0 {
		pace = float64(len(s.sound)-from) / float64(left)
	}
	expected := from + int(pace*float64(n))
	window := max(leastWindow, (expected-from)/4)
	low, high := max(from, expected-window), expected+window
	switch {
	case whole || len(s.sound) >= high:
		return quietest(s.sound, align(low), min(high, len(s.sound))), true
	case s.done: // broken off: all that came is played
		return len(s.sound), false
	}
	return align(low), false
}

// align is the beginning of the frame that a sample is in.
func align(at int) int { return at / frame * frame }

// quietest is the middle of the quietest 80 ms between two places, on a whole frame.
func quietest(sound []int16, low, high int) int {
	const width = 4
	best, least := min(align(high), len(sound)), int64(-1)
	for at := low; at+width*frame <= min(high, len(sound)); at += frame {
		var sum int64
		for _, v := range sound[at : at+width*frame] {
			sum += int64(max(v, -v))
		}
		if least < 0 || sum < least {
			best, least = at+width/2*frame, sum
		}
	}
	return best
}

// letters is how long a text takes to say, in letters; the pause at the end of a
// sentence is as long as a few.
func letters(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			n++
		case unicode.IsDigit(r):
			n += 4
		case strings.ContainsRune(".!?…", r):
			n += 4
		case strings.ContainsRune(",;:—", r):
			n += 2
		}
	}
	return n
}

// bare is a text's letters and digits.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// reached is how much of the model's own sound has been played, if so much was played
// in all: what stood in for it came last.
func (s *speech) reached(played time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(played, time.Duration(s.played)*time.Second/replyRate)
}

// measured is the pace of the voice, known better after an answer that came to its
// end.
func (s *speech) measured() float64 {
	s.reply.mu.Lock()
	defer s.reply.mu.Unlock()
	n := letters(s.text.String())
	if s.err != nil || n < 20 || len(s.sound) == 0 {
		return s.pace
	}
	pace := float64(len(s.sound)) / float64(n)
	return s.pace + (pace-s.pace)/2
}
