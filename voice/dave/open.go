package dave

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave/mls"
)

const (
	// retention is how long keys outlive their epoch: frames sent before a
	// change may arrive after it. DAVE, "Sender Key Rotation".
	retention = 10 * time.Second
	// maxEpochs bounds the keys of one speaker, should the gateway start
	// epochs faster than old keys expire. Eight changes in ten seconds are
	// more than a full channel arriving at once makes.
	maxEpochs = 8
	// maxFrameRate is the most frames a second that a sender can have sent
	// since it got its key; libdave has the same bound.
	maxFrameRate = 170
)

// An Opener decrypts the frames of everybody else in the group. It may be used
// while the session moves on.
type Opener struct {
	mu       sync.Mutex // guards what follows; held for one frame at most
	speakers map[uint64]*speaker
	// plainUntil is when the last unencrypted frame may come: only when the
	// call was not encrypted before. The zero time is never.
	plainUntil time.Time
	plain      bool
}

// A speaker is somebody's keys, the newest epoch's last.
type speaker struct{ keys []*senderKey }

// Open appends what user said in frame to dst. It allocates nothing if dst has
// room for 8 bytes more than frame.
func (o *Opener) Open(dst []byte, user uint64, frame []byte, now time.Time) ([]byte, error) {
	if string(frame) == string(silence[:]) {
		return append(dst, frame...), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	f, err := parseFrame(frame)
	if err != nil {
		if errors.Is(err, ErrPlain) && o.mayBePlain(now) {
			return append(dst, frame...), nil
		}
		return dst, err
	}
	s := o.speakers[user]
	if s == nil {
		return dst, ErrStranger
	}
	return s.open(dst, f, now)
}

// Find is Open for a frame of which the speaker is not known yet: only the one
// whose key it is can have made it. A frame that nobody can have made costs one
// attempt per speaker and changes nothing.
func (o *Opener) Find(dst, frame []byte, now time.Time) (user uint64, plain []byte, err error) {
	f, err := parseFrame(frame)
	if err != nil {
		return 0, dst, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for user, s := range o.speakers {
		if plain, err := s.open(dst, f, now); err == nil {
			return user, plain, nil
		}
	}
	return 0, dst, ErrKey
}

func (o *Opener) mayBePlain(now time.Time) bool {
	return o.plain || now.Before(o.plainUntil)
}

// use gives every user of a new epoch their key. Who is not in it any more may
// be heard as long as frames may be on their way.
func (o *Opener) use(bases map[uint64][]byte, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.speakers == nil {
		o.speakers = map[uint64]*speaker{}
	}
	for user, s := range o.speakers {
		if s.retire(now); len(s.keys) == 0 && bases[user] == nil {
			delete(o.speakers, user)
		}
	}
	for user, base := range bases {
		s := o.speakers[user]
		if s == nil {
			s = &speaker{}
			o.speakers[user] = s
		}
		s.keys = append(s.keys, newSenderKey(base, now))
		if extra := len(s.keys) - maxEpochs; extra > 0 {
			s.keys = slices.Delete(s.keys, 0, extra)
		}
	}
	if o.plain {
		o.plain, o.plainUntil = false, now.Add(retention)
	}
}

// usePlain lets unencrypted frames in, until there is a new epoch.
func (o *Opener) usePlain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.plain = true
}

// retire drops the keys that are over and lets the others expire.
func (s *speaker) retire(now time.Time) {
	s.keys = slices.DeleteFunc(s.keys, func(k *senderKey) bool { return k.over(now) })
	for _, k := range s.keys {
		if k.expires.IsZero() {
			k.expires = now.Add(retention)
		}
	}
}

func (s *speaker) open(dst []byte, f frame, now time.Time) ([]byte, error) {
	err := ErrKey
	for _, k := range slices.Backward(s.keys) {
		if k.over(now) {
			continue
		}
		plain, why := k.open(dst, f, now)
		if why == nil {
			return plain, nil
		}
		if errors.Is(why, ErrReplay) {
			err = why
		}
	}
	return dst, err
}

// A senderKey is what one speaker's frames of one epoch open with.
type senderKey struct {
	since   time.Time
	expires time.Time // zero while the epoch lasts
	window  window
	// cipher is of the newest generation that a frame was of, ratchet stands
	// behind it, and before is of the generation before: frames of the two may
	// come mixed.
	generation uint64
	ratchet    *mls.Ratchet
	cipher     *frameCipher
	before     *frameCipher
}

func newSenderKey(base []byte, now time.Time) *senderKey {
	r := mls.NewRatchet(base)
	_, key := r.Next(keySize)
	return &senderKey{since: now, ratchet: r, cipher: newFrameCipher(key)}
}

func (k *senderKey) over(now time.Time) bool {
	return !k.expires.IsZero() && !now.Before(k.expires)
}

// open changes k only if the frame is genuine.
func (k *senderKey) open(dst []byte, f frame, now time.Time) ([]byte, error) {
	count := k.expand(f.nonce)
	if !k.window.fresh(count) {
		return dst, ErrReplay
	}
	switch generation := count >> 24; {
	case generation == k.generation:
		plain, ok := k.cipher.open(dst, f)
		if !ok {
			return dst, ErrKey
		}
		k.window.mark(count)
		return plain, nil
	case generation < k.generation:
		plain, ok := k.before.open(dst, f)
		if !ok {
			return dst, ErrKey
		}
		k.window.mark(count)
		return plain, nil
	default:
		return k.openAhead(dst, f, count, now)
	}
}

// expand finds the count of a frame from its nonce, which tells the generation
// modulo 256 only: the lowest one that is still kept.
func (k *senderKey) expand(nonce uint32) uint64 {
	kept := k.generation
	if k.before != nil {
		kept--
	}
	generation := kept&^0xff | uint64(nonce>>24)
	if generation < kept {
		generation += 256
	}
	return generation<<24 | uint64(nonce&0xffffff)
}

// openAhead opens the first frame of a later generation, which comes once in
// 2^24 frames, or four days of sound. Frames that nobody can have sent by now
// would only make us derive keys.
func (k *senderKey) openAhead(dst []byte, f frame, count uint64, now time.Time) ([]byte, error) {
	if count > uint64(max(0, now.Sub(k.since).Seconds())*maxFrameRate) {
		return dst, ErrKey
	}
	r, before, ahead := k.ratchet.Clone(), k.cipher, k.cipher
	for generation := k.generation; generation < count>>24; generation++ {
		_, key := r.Next(keySize)
		before, ahead = ahead, newFrameCipher(key)
	}
	plain, ok := ahead.open(dst, f)
	if !ok {
		return dst, ErrKey
	}
	k.generation, k.ratchet, k.cipher, k.before = count>>24, r, ahead, before
	k.window.mark(count)
	return plain, nil
}
