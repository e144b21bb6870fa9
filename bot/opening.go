package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// A CascadeMode says when a fast model begins answers that a strong one goes on with.
type CascadeMode string

// The modes besides "off". CascadeAuto opens where the answer is expected to be late.
const (
	CascadeAuto   CascadeMode = "auto"
	CascadeAlways CascadeMode = "always"
)

const (
	// lateAnswer is how long people wait for an answer before a silence is one: then the
	// NPC says something that it has ready.
	lateAnswer = 700 * time.Millisecond
	// maxFillers are made for an NPC, each of at most fillerTime.
	maxFillers = 4
	fillerTime = 3 * time.Second
	// shortLine is a line of so few words that its answer is short too: a greeting,
	// thanks, a yes.
	shortLine = 3
	// forget is the weight of the past in what is expected.
	forget = 0.7
	// maxPaces bounds what is learned: brains and tiers, of which a table has a few.
	maxPaces = 64
)

// plainFillers are for NPCs whose campaign has none.
var plainFillers = map[string][]string{
	"en": {"Hm, let me think.", "One moment.", "Well now."},
	"de": {"Hm, lasst mich überlegen.", "Einen Augenblick.", "Nun ja."},
	"es": {"Hm, déjame pensar.", "Un instante.", "Pues bien."},
}

// fillers are what an NPC says when it needs time, made before they are needed.
type fillers struct {
	clips []engine.Clip
	last  int  // the one that was said last, or -1
	just  bool // it was said in the NPC's last answer
}

// paceKey is what decides how long an answer takes to begin.
type paceKey struct{ brain, tier string }

func (r *running) paceKey() paceKey { return paceKey{r.turn.Brain, r.turn.Tier.String()} }

// paced learns how long a turn took from its beginning to its first sentence.
func (t *Table) paced(r *running) {
	if r.turn.FirstSentence == 0 || r.ask.exact != "" || r.cascaded { // an opener says nothing of the model behind it
		return
	}
	if t.pace == nil {
		t.pace = map[paceKey]time.Duration{}
	}
	k, took := r.paceKey(), r.turn.FirstSentence-r.turn.Routed
	if old, ok := t.pace[k]; ok {
		took = time.Duration(forget*float64(old) + (1-forget)*float64(took))
	}
	if len(t.pace) < maxPaces {
		t.pace[k] = max(0, took)
	}
}

// isLate reports whether a turn is expected to begin too late.
func (t *Table) isLate(r *running) bool { return t.pace[r.paceKey()] > lateAnswer }

// short reports whether a line is answered in a few words.
func short(text string) bool { return len(strings.Fields(text)) <= shortLine }

// cascades reports whether a turn is opened by the fast model.
func (t *Table) cascades(r *running, c npc.Character) bool {
	if t.o.Fast == nil || r.ask.exact != "" || short(r.ask.line.Text) {
		return false
	}
	return c.Engine == "sentence_cascade" || t.o.Cascade == CascadeAlways || t.o.Cascade == CascadeAuto && t.isLate(r)
}

// opening is what the NPC says while it thinks, or nil: only if it is expected to be
// late, and never the same twice in a row.
func (t *Table) opening(r *running, c npc.Character) *engine.Clip {
	f := t.fillersOf(c)
	if f == nil || len(f.clips) == 0 || r.ask.exact != "" || short(r.ask.line.Text) || !t.isLate(r) {
		return nil
	}
	if len(f.clips) == 1 && f.just {
		f.just = false
		return nil
	}
	f.last = (f.last + 1) % len(f.clips)
	f.just = true
	return &f.clips[f.last]
}

// fillersOf are an NPC's fillers; the first question for them has them made.
func (t *Table) fillersOf(c npc.Character) *fillers {
	if t.o.Synth == nil {
		return nil
	}
	if f, ok := t.fillers[c.ID]; ok {
		return f
	}
	if t.fillers == nil {
		t.fillers = map[string]*fillers{}
	}
	f := &fillers{last: -1}
	t.fillers[c.ID] = f
	lines := c.Lines["filler"]
	if len(lines) == 0 {
		tag, _, _ := strings.Cut(cmp.Or(c.Language, t.campaign.Language, "en"), "-")
		lines = plainFillers[strings.ToLower(tag)]
	}
	lines, voice := slices.Clone(lines[:min(len(lines), maxFillers)]), voiceOf(c)
	t.tasks.Go(func() {
		var clips []engine.Clip
		for _, text := range lines {
			clip, err := t.clip(t.ctx, voice, strings.TrimSpace(text))
			if err != nil {
				t.log.Debug("a filler was not made", "npc", c.ID, "error", err)
				continue
			}
			clips = append(clips, clip)
		}
		t.post(func() { f.clips = clips })
	})
	return f
}

// clip makes a line's sound.
func (t *Table) clip(ctx context.Context, v engine.Voice, text string) (engine.Clip, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	framer, clip := pcm.NewFramer(pcm.Rate, pcm.FrameSize), engine.Clip{Text: text}
	take := func() {
		for {
			frame := make([]int16, pcm.FrameSize)
			if !framer.Next(frame) {
				return
			}
			clip.Frames = append(clip.Frames, frame)
		}
	}
	for piece, err := range t.o.Synth.Speak(ctx, v, text) {
		if err == nil {
			err = framer.Add(piece.Chunk)
		}
		if err != nil {
			return clip, fmt.Errorf("speak %q: %w", text, err)
		}
		if take(); len(clip.Frames) > int(fillerTime/pcm.FrameTime) {
			return clip, fmt.Errorf("%q takes over %v: give the NPC shorter fillers", text, fillerTime)
		}
	}
	framer.End()
	take()
	return clip, ctx.Err()
}
