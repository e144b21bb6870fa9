package main

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm"
	"github.com/glyphoxa/glyphoxa/engine/stt"
	"github.com/glyphoxa/glyphoxa/engine/tts"
)

// firstWord is how long a model may be silent before the improviser takes over.
const firstWord = 3 * time.Second

// synthesizers are the names that a campaign's voices may use.
var synthesizers = []string{"espeak", "flite", "openai", "elevenlabs", "cartesia", "deepgram"}

// parts are what a table thinks, hears and speaks with. A nil model is the
// improviser alone; a nil ear or synth is none.
type parts struct {
	model engine.Model
	// more are asked when model fails or is late.
	more  []engine.Model
	ear   engine.Recognizer
	synth engine.Synthesizer
	about struct{ Brain, Ear, Mouth bot.Part }
}

// findParts finds or makes the parts as the configuration says.
func findParts(ctx context.Context, o setting) (p parts, err error) {
	if err := p.findModel(ctx, o); err != nil {
		return p, fmt.Errorf("llm: %w", err)
	}
	if p.model != nil {
		for i, c := range o.cfg.LLMFallback {
			m, err := modelOf(c)
			if err != nil {
				return p, fmt.Errorf("llm_fallback %d: %w", i+1, err)
			}
			p.more = append(p.more, m)
		}
	}
	if err := p.findEar(ctx, o); err != nil {
		return p, fmt.Errorf("stt: %w", err)
	}
	p.secondEar(o)
	if err := p.findSynth(ctx, o); err != nil {
		return p, fmt.Errorf("tts: %w", err)
	}
	return p, nil
}

func (p *parts) findModel(ctx context.Context, o setting) error {
	c := o.cfg.LLM
	p.about.Brain = bot.Part{
		Name: "the improviser (no language model)", Basic: true,
		Note: "Set OPENAI_API_KEY, or start Ollama, llama.cpp or LM Studio on this machine, for NPCs that think",
	}
	switch c.Provider {
	case "auto", "":
		if o.offline {
			return nil
		}
		found, ok := llm.Discover(ctx, os.Getenv, nil)
		if !ok {
			return nil
		}
		m, err := llm.NewOpenAI(found.Options)
		if err != nil {
			return err
		}
		p.model, p.about.Brain = m, bot.Part{Name: m.Name(), Note: found.Sentence}
	case "openai", "anthropic", "gemini":
		m, err := modelOf(c)
		if err != nil {
			return err
		}
		p.model, p.about.Brain = m, bot.Part{Name: m.Name()}
	case "improviser", "none":
	default:
		return fmt.Errorf("no provider %q: choose auto, openai, anthropic, gemini or improviser", c.Provider)
	}
	return nil
}

func (p *parts) findEar(ctx context.Context, o setting) error {
	c := o.cfg.STT
	if (c.Provider == "auto" || c.Provider == "") && !o.offline {
		if found, ok := stt.Discover(ctx, os.Getenv, nil); ok {
			ear := stt.NewOpenAI(found.Options)
			p.ear, p.about.Ear = ear, bot.Part{Name: ear.Name(), Note: found.Sentence}
			return nil
		}
	}
	switch c.Provider {
	case "auto", "", "pocketsphinx":
		ear, err := stt.NewPocketsphinx()
		if err != nil {
			p.about.Ear = bot.Part{Name: "nothing", Missing: true, Note: err.Error() + ", or set stt: to a server that transcribes"}
			return nil
		}
		p.ear = ear
		p.about.Ear = bot.Part{
			Name: ear.Name(), Basic: true,
			Note: "Good for names and simple sentences; for open talk set stt: to whisper.cpp, speaches or Ollama (provider: openai, url: http://localhost:8000/v1)",
		}
	case "openai":
		ear := stt.NewOpenAI(stt.OpenAIOptions{URL: c.URL, Key: c.Key, Model: c.Model})
		p.ear, p.about.Ear = ear, bot.Part{Name: ear.Name()}
	case "deepgram":
		ear, err := stt.NewDeepgram(stt.DeepgramOptions{URL: c.URL, Key: c.Key, Model: c.Model})
		if err != nil {
			return err
		}
		p.ear, p.about.Ear = ear, bot.Part{Name: ear.Name()}
	case "elevenlabs":
		ear, err := stt.NewScribe(stt.ScribeOptions{URL: c.URL, Key: c.Key, Model: c.Model})
		if err != nil {
			return err
		}
		p.ear, p.about.Ear = ear, bot.Part{Name: ear.Name()}
	case "none":
		p.about.Ear = bot.Part{Name: "nothing", Missing: true, Note: "stt: is set to none"}
	default:
		return fmt.Errorf("no provider %q: choose auto, openai, deepgram, elevenlabs, pocketsphinx or none", c.Provider)
	}
	return nil
}

// secondEar lets this machine's own recogniser hear what a server does not. It is
// basic, and better than silence.
func (p *parts) secondEar(o setting) {
	const (
		streaming = 2 * time.Second // of vendors that hear while somebody speaks
		whole     = 4 * time.Second // of servers that are sent the whole utterance
	)
	if p.ear == nil || p.ear.Basic() {
		return
	}
	own, err := stt.NewPocketsphinx()
	if err != nil {
		return // there is no second ear here
	}
	patience := streaming
	if _, ok := p.ear.(*stt.OpenAI); ok {
		patience = whole
	}
	p.ear = stt.NewLadder(p.ear, own, patience, func(name string, err error) {
		o.alert(bot.Alert{Text: fmt.Sprintf("%s does not hear (%v). The basic recogniser of this machine does until it is back: say names clearly, or type.", name, err), Bad: true})
	})
}

func (p *parts) findSynth(ctx context.Context, o setting) error {
	c := o.cfg.TTS
	if o.silent || c.Provider == "none" {
		p.about.Mouth = bot.Part{Name: "nothing", Missing: true, Note: "answers are only written"}
		return nil
	}
	set, err := tts.Installed(ctx)
	switch c.Provider {
	case "auto", "", "espeak", "flite":
		if err != nil {
			p.about.Mouth = bot.Part{Name: "nothing", Missing: true, Note: err.Error()}
			return nil
		}
	case "openai", "elevenlabs", "cartesia", "deepgram":
		vendor, err := synthesizer(c)
		if err != nil {
			return err
		}
		if set == nil {
			set = new(tts.Set)
		}
		set.Prefer(vendor)
	default:
		return fmt.Errorf("no provider %q: choose auto, openai, elevenlabs, cartesia, deepgram, espeak, flite or none", c.Provider)
	}
	set.Log = o.log
	set.Fell = func(name string, err error) {
		o.alert(bot.Alert{Text: fmt.Sprintf("%s does not speak (%v). Other voices stand in until it does.", name, err), Bad: true})
	}
	p.synth, p.about.Mouth = set, bot.Part{Name: set.Name()}
	if !c.sells() {
		p.about.Mouth.Basic = true
		p.about.Mouth.Note = "Set tts: to a server with better voices (provider: openai, url: ...)"
	}
	return nil
}

// sells reports whether speech comes from a server rather than from this machine.
func (c provider) sells() bool {
	return slices.Contains([]string{"openai", "elevenlabs", "cartesia", "deepgram"}, c.Provider)
}

// synthesizer is the server that the configuration names for speech.
func synthesizer(c provider) (engine.Synthesizer, error) {
	o := tts.VendorOptions{URL: c.URL, Key: c.Key, Model: c.Model}
	switch c.Provider {
	case "elevenlabs":
		return tts.NewElevenLabs(o)
	case "cartesia":
		return tts.NewCartesia(o)
	case "deepgram":
		return tts.NewDeepgram(o)
	default:
		return tts.NewOpenAI(tts.OpenAIOptions{URL: c.URL, Key: c.Key, Model: c.Model})
	}
}

// cast gives each NPC without a voice of its own one that nobody else has.
func cast(c *campaigns.Campaign, o provider) {
	name := ""
	if o.sells() {
		name = o.Provider
	}
	var taken []engine.Voice
	for _, n := range c.NPCs {
		if v := n.Voice; v.Engine != "" || v.ID != "" {
			taken = append(taken, engine.Voice{Engine: v.Engine, ID: v.ID, Pitch: v.Pitch})
		}
	}
	for i := range c.NPCs {
		n := &c.NPCs[i]
		if n.Voice.Engine != "" || n.Voice.ID != "" {
			continue
		}
		language := cmp.Or(n.Voice.Language, n.Language, c.Language)
		v := tts.VoiceFor(tts.Person{ID: n.ID, Language: language, Pronouns: n.Pronouns}, name, taken...)
		taken = append(taken, v)
		// What the campaign does say of the voice stays.
		n.Voice.Engine, n.Voice.ID, n.Voice.Language = v.Engine, v.ID, language
		n.Voice.Pitch, n.Voice.Rate = cmp.Or(n.Voice.Pitch, v.Pitch), cmp.Or(n.Voice.Rate, v.Rate)
	}
}

// seedOf makes each NPC choose its lines differently.
func seedOf(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash does not fail
	return h.Sum64()
}
