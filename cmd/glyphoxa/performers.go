package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/engine/s2s"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/secret"
)

// speechToSpeech is what plays NPCs whose campaign says "engine: s2s".
type speechToSpeech struct {
	provider
	make func(s2s.Options) (*s2s.Performer, error)
}

// findPerformer finds the vendor that the configuration names, or whose key is in the
// environment. make is nil where there is none.
func findPerformer(o setting, getenv func(string) string) (speechToSpeech, error) {
	p := speechToSpeech{provider: o.cfg.S2S}
	switch p.Provider {
	case "auto", "":
		for _, v := range []struct {
			key  string
			make func(s2s.Options) (*s2s.Performer, error)
		}{{"OPENAI_API_KEY", s2s.NewOpenAI}, {"GEMINI_API_KEY", s2s.NewGemini}} {
			if getenv(v.key) != "" && !o.offline {
				p.Key, p.make = secret.Env(v.key), v.make
				break
			}
		}
	case "openai":
		p.make = s2s.NewOpenAI
	case "gemini":
		p.make = s2s.NewGemini
	case "none":
	default:
		return p, fmt.Errorf("no provider %q: choose auto, openai, gemini or none", p.Provider)
	}
	if p.make == nil || p.Provider == "auto" || p.Provider == "" {
		return p, nil
	}
	_, err := p.make(s2s.Options{URL: p.URL, Key: p.Key}) // a wrong key or address is better known now
	return p, err
}

// performers makes the sessions of the NPCs that hear and speak by themselves.
func performers(o setting) (func(npc.Character) bot.Performer, error) {
	vendor, err := findPerformer(o, os.Getenv)
	if err != nil {
		return nil, err
	}
	var once sync.Once // one vendor is down for all of them
	return func(c npc.Character) bot.Performer {
		if c.Engine != "s2s" || o.silent {
			return nil
		}
		if vendor.make == nil {
			o.alert(bot.Alert{Text: c.Name + " wants to be played by a model that hears and speaks by itself (engine: s2s), and there is none: set s2s: in the configuration. Until then the usual parts play."})
			return nil
		}
		p, err := vendor.make(s2s.Options{
			URL: vendor.URL, Key: vendor.Key, Model: vendor.Model, NPC: c.ID, Log: o.log,
			Voice: c.Voice.ID, Pronouns: c.Pronouns, Language: c.Language,
			Fell: func(name string, err error) {
				once.Do(func() {
					o.alert(bot.Alert{Text: fmt.Sprintf("%s does not answer (%v). The usual parts play its NPCs until it does.", name, err), Bad: true})
				})
			},
		})
		if err != nil {
			o.alert(bot.Alert{Text: c.Name + " cannot be played by a model that hears and speaks by itself: " + err.Error(), Bad: true})
			return nil
		}
		return p
	}, nil
}
