package main

import (
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/secret"
)

func TestEveryNPCHasAVoiceOfItsOwn(t *testing.T) {
	for _, vendor := range []string{"auto", "openai", "deepgram"} {
		c := &campaigns.Campaign{Language: "en", NPCs: []npc.Character{
			{ID: "bartok", Voice: npc.VoiceSpec{Engine: "espeak", ID: "en-gb+m3", Pitch: 0.9}},
			{ID: "mira", Pronouns: "she/her"}, {ID: "gundren", Pronouns: "he/him", Voice: npc.VoiceSpec{Pitch: 0.7, Gain: -3}}, {ID: "pip"},
		}}
		cast(c, provider{Provider: vendor})
		if got := c.NPCs[0].Voice; got.ID != "en-gb+m3" || got.Engine != "espeak" || got.Rate != 0 {
			t.Errorf("%s: a chosen voice became %+v", vendor, got)
		}
		if got := c.NPCs[2].Voice; got.Pitch != 0.7 || got.Gain != -3 || got.ID == "" {
			t.Errorf("%s: what was said of a voice became %+v", vendor, got)
		}
		seen := map[npc.VoiceSpec]bool{}
		for _, n := range c.NPCs {
			if n.Voice.Engine == "" || seen[n.Voice] || vendor != "auto" && n.ID != "bartok" && n.Voice.Engine != vendor {
				t.Errorf("%s: %s speaks as %+v", vendor, n.ID, n.Voice)
			}
			seen[n.Voice] = true
		}
	}
}

func TestEachProviderIsMadeOrSaysWhatItNeeds(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	for _, with := range []string{"hunter2", ""} {
		for part, names := range map[string][]string{
			"llm": {"openai", "anthropic", "gemini", "improviser"},
			"stt": {"openai", "deepgram", "elevenlabs", "pocketsphinx", "none"},
			"tts": {"openai", "elevenlabs", "cartesia", "deepgram", "espeak", "none"},
		} {
			for _, name := range append(names, "nonsense") {
				c := provider{Provider: name, Key: secret.New(with), Model: "aura"}
				o := setting{cfg: config{LLM: provider{Provider: "none"}, STT: provider{Provider: "none"}, TTS: provider{Provider: "none"}}}
				switch part {
				case "llm":
					o.cfg.LLM = c
				case "stt":
					o.cfg.STT = c
				default:
					o.cfg.TTS = c
				}
				_, err := findParts(t.Context(), o)
				vendor := name == "anthropic" || name == "gemini" || name == "deepgram" || name == "elevenlabs" || name == "cartesia"
				switch {
				case name == "nonsense":
					if err == nil || !strings.Contains(err.Error(), "choose auto") {
						t.Errorf("%s %s: %v", part, name, err)
					}
				case vendor && with == "":
					if err == nil || !strings.Contains(err.Error(), "no key: set key: ${") {
						t.Errorf("%s %s without a key: %v", part, name, err)
					}
				case err != nil:
					t.Errorf("%s %s: %v", part, name, err)
				}
			}
		}
	}
}
