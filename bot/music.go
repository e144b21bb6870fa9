package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/music"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const (
	// musicPriority is below that of NPCs: the call's mixer turns it down while one
	// speaks.
	musicPriority = 0
	// How far music is turned down: 12 dB while an NPC speaks in the room, as the
	// mixer of a call does, and 6 dB while a player does.
	underNPC    = 0.25
	underPlayer = 0.5
	// spokenFor is how long after a frame an NPC still counts as speaking.
	spokenFor = 300 * time.Millisecond
)

// Background is the source of [Sound] that is nobody's: a page mixes it with the
// NPCs' voices.
const Background = "music"

// ErrNoMusic is returned where a table has no music.
var ErrNoMusic = errors.New("this table plays no music")

// Music is what plays in the background.
type Music struct {
	// Piece is its name; "" if nothing plays.
	Piece string `json:"piece,omitempty"`
	// Mood is what was asked for; By is the NPC who asked. Both are "" for the music
	// of a scene.
	Mood string `json:"mood,omitempty"`
	By   string `json:"by,omitempty"`
}

// band plays the table's music, on a goroutine of its own.
type band struct {
	deck *music.Deck
	// woken has a token when there may be something to play again.
	woken chan struct{}

	mu     sync.Mutex // guards the below; held for no disk
	voice  *voice.Voice
	orders uint64 // counts what was asked for, so that the last one wins
	now    Music
	scene  bool // what plays is a scene's
	hushed bool // a player is speaking
}

func newBand() *band { return &band{deck: music.NewDeck(), woken: make(chan struct{}, 1)} }

// PlayMusic fades to the piece that fits a mood best, and says which that is. by is
// the NPC who asked, or "".
func (t *Table) PlayMusic(_ context.Context, by, mood string) (string, error) {
	if t.o.Music == nil {
		return "", ErrNoMusic
	}
	return t.strikeUp(Music{Mood: mood, By: by}, false, func() (*music.Piece, error) { return t.o.Music.Find(mood) })
}

// StopMusic lets the music fade out and says which piece that was, "" if none was
// playing.
func (t *Table) StopMusic(_ context.Context, _ string) (string, error) {
	if t.o.Music == nil {
		return "", ErrNoMusic
	}
	return t.fadeOut(func(Music, bool) bool { return true }), nil
}

// SetMusic is the DM's hand on the music: a mood to play, or "" to stop.
func (t *Table) SetMusic(ctx context.Context, who Person, mood string) (err error) {
	if err := dm(who); err != nil {
		return err
	}
	if mood = clean(mood); mood == "" {
		_, err = t.StopMusic(ctx, "")
	} else {
		_, err = t.PlayMusic(ctx, "", mood)
	}
	return err
}

// strikeUp finds a piece and fades to it, unless something else was asked for
// meanwhile. What plays already plays on.
func (t *Table) strikeUp(m Music, scene bool, find func() (*music.Piece, error)) (string, error) {
	b := t.band
	b.mu.Lock()
	b.orders++
	order := b.orders
	b.mu.Unlock()
	piece, err := find()
	if err != nil {
		return "", err
	}
	m.Piece = piece.Name
	b.mu.Lock()
	defer b.mu.Unlock()
	if order != b.orders {
		return b.now.Piece, nil
	}
	same := b.now.Piece == m.Piece
	if !same {
		if err := b.deck.Play(piece); err != nil {
			return "", err
		}
	}
	b.now, b.scene = m, scene
	b.wake()
	if !same {
		t.showMusic(m)
	}
	return m.Piece, nil
}

// fadeOut stops the music if it is what should stop.
func (t *Table) fadeOut(should func(now Music, scene bool) bool) string {
	b := t.band
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.now.Piece
	if !should(b.now, b.scene) {
		return ""
	}
	b.orders++ // what is being read from the disk comes too late
	if was == "" {
		return ""
	}
	b.deck.Stop()
	b.now, b.scene = Music{}, false
	t.showMusic(Music{})
	return was
}

// playScene plays a scene's music. A scene without any ends that of the one before,
// but not what somebody asked for.
func (t *Table) playScene(s campaigns.Scene) {
	if t.o.Music == nil {
		return
	}
	if s.Music == "" {
		t.fadeOut(func(_ Music, scene bool) bool { return scene })
		return
	}
	t.tasks.Go(func() { // reading may take a while, and the loop waits for no disk
		if _, err := t.strikeUp(Music{}, true, func() (*music.Piece, error) { return t.o.Music.Named(s.Music) }); err != nil {
			t.Tell(Alert{Text: fmt.Sprintf("The music of the scene %s cannot be played: %v", s.Name, err), Bad: true})
		}
	})
}

// showMusic tells whoever watches what plays now. It may be called from anywhere.
func (t *Table) showMusic(m Music) {
	t.events.add(Event{Music: &m})
}

// playing is what plays now.
func (b *band) playing() Music {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// wake tells the goroutine that plays to look again.
func (b *band) wake() {
	select {
	case b.woken <- struct{}{}:
	default:
	}
}

// move takes the music into a call, or back into the room with nil.
func (b *band) move(v *voice.Voice) {
	b.mu.Lock()
	old := b.voice
	b.voice = v
	b.mu.Unlock()
	if old != nil {
		old.Close()
	}
}

// hush turns the music down while players speak.
func (b *band) hush(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hushed = on
}

// where is the call's voice, or nil for the room, and how far the music is to be
// turned down there.
func (b *band) where(r *room, now time.Time) (*voice.Voice, float32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.voice == nil && r.speaking(now):
		return nil, underNPC
	case b.hushed:
		return b.voice, underPlayer
	}
	return b.voice, 1
}

// perform plays until the table closes. In the call it is paced by the call's
// mixer, in the room by its own clock. Where sound is not paced there is no music:
// it would never end.
func (t *Table) perform(ctx context.Context) {
	b := t.band
	frame := make([]int16, pcm.FrameSize)
	clock := mouth{room: &t.room, npc: Background}
	for ctx.Err() == nil {
		out, duck := b.where(&t.room, time.Now())
		b.deck.Duck(duck)
		on, err := b.deck.Next(frame)
		if err != nil {
			t.fadeOut(func(Music, bool) bool { return true })
			t.Tell(Alert{Text: "The music stopped: " + err.Error(), Bad: true})
		}
		switch {
		case !on:
			select {
			case <-b.woken:
			case <-ctx.Done():
			}
		case out != nil:
			// An error means that the call has ended: the room goes on.
			_ = out.Play(ctx, frame)
		case clock.wait(ctx) == nil:
			t.room.send(Sound{NPC: Background, Samples: slices.Clone(frame)})
		}
	}
}
