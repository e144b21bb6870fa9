package main

import (
	"context"
	"iter"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// hum is a voice that takes 20 ms for each letter.
type hum struct{}

func (hum) Name() string { return "hum" }

func (hum) Speak(ctx context.Context, _ engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		for range text {
			s := engine.Speech{Chunk: pcm.Chunk{Rate: pcm.Rate, Samples: make([]int16, pcm.FrameSize)}}
			if ctx.Err() != nil || !yield(s, nil) {
				return
			}
		}
	}
}

// script is a model that answers by what it finds in the last thing it was asked.
type script struct{ cues []string }

func (script) Name() string { return "gemma, scripted" }

func (m script) Stream(_ context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		asked := r.Messages[len(r.Messages)-1].Text
		kind := "say"
		if r.JSON {
			kind = "choose"
			if strings.HasPrefix(r.System, "You review") {
				kind = "review"
			}
		}
		for _, cue := range m.cues {
			k, rest, _ := strings.Cut(cue, " ")
			part, words, _ := strings.Cut(rest, " => ")
			if k == kind && (part == "*" || strings.Contains(asked, part)) {
				_ = yield(engine.Delta{Text: words}, nil) && yield(engine.Delta{Done: true}, nil)
				return
			}
		}
		_ = yield(engine.Delta{Text: "Hm."}, nil) && yield(engine.Delta{Done: true}, nil)
	}
}
