package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/engine"
)

// fastModel is the model that opens answers, or nil for none.
func fastModel(ctx context.Context, o setting) (engine.Model, error) {
	var p parts
	o.cfg.LLM = o.cfg.FastLLM
	if err := p.findModel(ctx, o); err != nil {
		return nil, fmt.Errorf("fast_llm: %w", err)
	}
	if p.model == nil && o.cfg.SentenceCascade == bot.CascadeAlways && !o.offline {
		return nil, errors.New("sentence_cascade: always needs a model that opens answers: set fast_llm")
	}
	return p.model, nil
}
