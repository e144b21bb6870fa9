package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/memory"
)

// retentionConfig says for how many days things are kept; 0 is for ever.
type retentionConfig struct {
	// Transcript is what was said, with the recaps that quote it.
	Transcript int `yaml:"transcript" strict:"min=0,max=36500"`
	// Facts are those that no longer hold.
	Facts int `yaml:"facts" strict:"min=0,max=36500"`
	// Audio is the sound of players who agreed to its being kept.
	Audio int `yaml:"audio" strict:"min=0,max=36500"`
}

const day = 24 * time.Hour

// keep has the campaign's memory tended while the table is set: facts proposed
// after each scene and session, recaps written, and what is old erased.
func (s *seat) keep(c retentionConfig, model engine.Model, sound *bot.Recordings) {
	o := memory.KeeperOptions{
		Campaign:  s.campaign,
		Retention: memory.Retention{Lines: time.Duration(c.Transcript) * day, Claims: time.Duration(c.Facts) * day},
		Sound:     time.Duration(c.Audio) * day,
		Told: func(text string, err error) {
			if err != nil {
				s.log.Warn("memory was not tended to the end; what is left is done next time", "err", err)
			}
			if text != "" {
				s.log.Info("memory was tended", "what", text)
				s.table.Tell(bot.Alert{Text: text})
			}
		},
	}
	if sound != nil {
		o.Expire = sound.Expire
	}
	if model != nil {
		o.Author = author{model}
	}
	s.keeper.Store(memory.NewKeeper(s.store, o))
}

// authorTokens bounds what a model writes at once: three recaps of an evening.
const authorTokens = 4000

// An author has the table's language model write recaps and find facts.
type author struct{ model engine.Model }

// Model names the model.
func (a author) Model() string { return a.model.Name() }

// Write answers a prompt.
func (a author) Write(ctx context.Context, system, prompt string) (string, error) {
	var b strings.Builder
	request := engine.Request{System: system, Messages: []engine.Message{{Role: engine.User, Text: prompt}}, MaxTokens: authorTokens, JSON: true}
	for d, err := range a.model.Stream(ctx, request) {
		if err != nil {
			return "", err
		}
		b.WriteString(d.Text)
	}
	if b.Len() == 0 {
		return "", errors.New("it answered nothing")
	}
	return b.String(), nil
}

// tableAuthor is the model that the configuration names or that is found, as an
// author; nil if there is none, or rules are asked for.
func tableAuthor(ctx context.Context, rules bool) (memory.Author, error) {
	if rules {
		return nil, nil
	}
	cfg, err := loadConfig("")
	if err != nil {
		return nil, err
	}
	var p parts
	if err := p.findModel(ctx, setting{cfg: cfg}); err != nil || p.model == nil {
		return nil, err
	}
	return author{p.model}, nil
}
