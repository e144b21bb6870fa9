package s2s

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/bridge"
	"github.com/glyphoxa/glyphoxa/secret"
)

// Options say which vendor's model plays an NPC, and how.
type Options struct {
	// URL is the API's base. Empty means the vendor's own.
	URL string
	// Key is the API key.
	Key secret.Text
	// Model is the vendor's model. Empty means a good one.
	Model string
	// NPC is the character's id: it chooses a voice where Voice does not.
	NPC string
	// Voice is one of the vendor's voices. Any other is replaced by one of them that
	// fits Pronouns, always the same for the same NPC.
	Voice, Pronouns string
	// Language is a BCP 47 tag, or "".
	Language string
	// Client opens sockets. Nil means one of its own.
	Client *http.Client
	// Fell is told when turns begin to be played without this vendor, and why. It
	// must not block. Nil is fine.
	Fell func(name string, err error)
	// Log receives one line for each session and complaint. Nil discards them.
	Log *slog.Logger
}

// A Performer is one NPC's conversation with a vendor's model. It is safe for
// concurrent use; turns are played one at a time.
type Performer struct {
	o       Options
	name    string
	dialect func() dialect
	breaker *engine.Breaker
	ctx     context.Context // of what goes on between turns; ends with Close
	cancel  context.CancelFunc
	tasks   sync.WaitGroup

	turnMu sync.Mutex // held while a turn is played, and while lines are exchanged
	bridge *bridge.Bridge
	model  engine.Model     // of the last turn's plan
	told   []engine.Message // what the session knows of the talk
	window []engine.Message // the talk at the end of the last turn
	log    []engine.Message // all that was said, for summaries
	pace   float64

	mu       sync.Mutex // guards what follows; taken after turnMu
	line     *line      // nil while there is none
	now      *reply     // nil between turns
	turn     turn       // being played
	system   string     // that the line was set up with
	tools    []mcp.Tool
	calls    map[string]context.CancelFunc // under way, by the vendor's id
	unwanted map[string]bool               // of these, those the vendor has taken back
	asked    int                           // calls of this part of the answer
	parted   bool                          // the part has ended; results are awaited
	rounds   int                           // tool rounds left
	usage    engine.Usage                  // since it was last asked for
	handle   string                        // to resume with
	expiring bool                          // the line has to be replaced
	renewing bool                          // it is being replaced
	handler  func(context.Context, string, json.RawMessage) mcp.Result
}

// turn is what tools of the running turn report to.
type turn struct {
	watch  func(any)
	result func(engine.Call, mcp.Result)
}

// NewOpenAI makes a performer that OpenAI's Realtime API plays; nothing is sent
// before its first turn.
func NewOpenAI(o Options) (*Performer, error) {
	return newPerformer(o, "OPENAI_API_KEY", "wss://api.openai.com", "gpt-realtime", realtimeVoices,
		func(o Options) dialect { return &realtime{o: o} })
}

// NewGemini makes a performer that Google's Gemini Live API plays; nothing is sent
// before its first turn.
func NewGemini(o Options) (*Performer, error) {
	return newPerformer(o, "GEMINI_API_KEY", "wss://generativelanguage.googleapis.com", "gemini-3.8-live", liveVoices,
		func(o Options) dialect { return &live{o: o} })
}

func newPerformer(o Options, variable, base, model string, voices []string, speak func(Options) dialect) (*Performer, error) {
	if o.Key.IsZero() {
		return nil, fmt.Errorf("no key: set key: ${%s}", variable)
	}
	o.URL = strings.TrimRight(cmp.Or(o.URL, base), "/")
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("URL %q: want one like %s", o.URL, base)
	}
	o.Model = cmp.Or(o.Model, model)
	o.Voice = voiceFor(o, voices)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	p := &Performer{
		o: o, name: o.Model + " at " + u.Host, dialect: func() dialect { return speak(o) },
		breaker: engine.NewBreaker(), pace: usualPace, calls: map[string]context.CancelFunc{}, unwanted: map[string]bool{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// voiceFor is the voice that was asked for, or one of the vendor's.
func voiceFor(o Options, voices []string) string {
	if i := slices.IndexFunc(voices, func(v string) bool { return strings.EqualFold(v, o.Voice) }); i >= 0 {
		return voices[i]
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(o.NPC)) // a hash does not fail
	fitting := voices
	for pronoun, fit := range map[string][]string{
		"he": {"ash", "ballad", "echo", "verse", "cedar", "Charon", "Fenrir", "Orus", "Puck"}, "she": {"coral", "sage", "shimmer", "marin", "Aoede", "Kore", "Leda", "Zephyr"},
	} {
		if first, _, _ := strings.Cut(strings.ToLower(o.Pronouns), "/"); first == pronoun {
			fitting = slices.DeleteFunc(slices.Clone(voices), func(v string) bool { return !slices.Contains(fit, v) })
		}
	}
	return fitting[int(h.Sum32()%uint32(len(fitting)))]
}

// Name is the model's name and the server's.
func (p *Performer) Name() string { return p.name }

// Close ends the session, after the turn that is being played.
func (p *Performer) Close() {
	p.cancel()
	p.turnMu.Lock()
	if p.bridge != nil {
		p.bridge.Close()
	}
	l := p.exchange(nil)
	p.turnMu.Unlock()
	if l != nil {
		l.close()
	}
	p.tasks.Wait()
}

// Warm opens the session before the first turn, with the brief that it will have, so
// that nobody waits for that. It blocks until the session stands or cannot be had; then
// the first turn tries again.
func (p *Performer) Warm(system string) {
	p.turnMu.Lock()
	defer p.turnMu.Unlock()
	p.mu.Lock()
	needed := p.line == nil && p.ctx.Err() == nil
	if needed {
		p.system = system
	}
	p.mu.Unlock()
	// The tools are not known yet. Where they cannot be declared later, the session
	// would be opened twice.
	if _, later := p.dialect().declare(nil); !needed || !later {
		return
	}
	if err := p.reopen(p.ctx, nil, nil); err != nil {
		p.o.Log.Debug("no session could be opened ahead", "model", p.name, "error", err)
	}
}

// slow reports whether a turn may take longer for its tools than anybody should wait
// for a voice that says nothing meanwhile.
func slow(belt *mcp.Belt) bool { return belt != nil && belt.Tier() >= mcp.Deep }

// Perform plays one turn, as [engine.Run] does. sound is what was said, 16 kHz mono;
// nil if it was written. Where the vendor cannot play the turn, the plan's own model
// and synthesiser play all of it.
func (p *Performer) Perform(ctx context.Context, plan engine.Plan, sound []int16) engine.Outcome {
	p.turnMu.Lock()
	defer p.turnMu.Unlock()
	before, now, said := split(plan.Request)
	out, err := engine.Outcome{}, error(nil)
	switch {
	case plan.Mouth == nil || slow(plan.Belt) || p.ctx.Err() != nil:
		out = engine.Run(ctx, plan)
	case !p.breaker.Allow():
		out = engine.Run(ctx, plan)
	default:
		if out, err = p.perform(ctx, plan, before, now, said, sound); err != nil && ctx.Err() == nil {
			note := p.breaker.Failed
			if errors.Is(err, errSilent) || errors.Is(err, errOpening) {
				note = p.breaker.Trip // it costs seconds each time
			}
			if note() && p.o.Fell != nil {
				p.o.Fell(p.name, err)
			}
			p.o.Log.Info("a turn is played without the speech-to-speech model", "model", p.name, "error", err)
			used := out.Usage
			out = engine.Run(ctx, plan)
			out.Usage = out.Usage.Plus(used)
		}
	}
	p.note(before, said, out)
	p.model = plan.Model
	p.renew()
	return out
}

// note keeps what was said, also in turns that were played by somebody else.
func (p *Performer) note(before []engine.Message, said engine.Message, out engine.Outcome) {
	p.log = append(append(p.log, missed(p.window, before)...), said)
	p.window = append(slices.Clip(before), said)
	if out.Heard != "" {
		p.log = append(p.log, heard(out))
		p.window = append(p.window, heard(out))
	}
	if n := len(p.log) - maxLog; n > 0 {
		p.log = slices.Delete(p.log, 0, n)
	}
}

// perform plays the turn with the vendor. An error means that nothing was heard.
func (p *Performer) perform(ctx context.Context, plan engine.Plan, before []engine.Message, now string, said engine.Message, sound []int16) (engine.Outcome, error) {
	if err := p.ready(ctx, plan, before); err != nil {
		return engine.Outcome{}, err
	}
	q := question{missed: missed(p.told, before), now: now, sound: sound, text: said.Text}
	if len(sound) > 0 && said.Name != "" {
		q.now = strings.TrimSpace(q.now + "\n[What you hear now is said by " + said.Name + ".]")
	}
	runCtx, broke := context.WithCancelCause(ctx)
	defer broke(nil)
	s := &speech{reply: newReply(), name: p.name, plan: plan, pace: p.pace, broke: broke}
	watch := serial(plan.Watch)
	l := p.begin(s.reply, plan.Belt, turn{watch, plan.Result}, q)

	own := plan
	own.Model, own.Synth, own.Filter, own.Belt, own.Result, own.Watch = s, s, s.filter, nil, nil, watch
	out := engine.Run(runCtx, own)
	broken := s.broken()
	// An answer may be cut before its next sentence has begun.
	out.Cut = out.Cut || out.Err != nil && bare(out.Heard) != bare(s.words())
	p.finish(l, s, out)
	out.Usage = p.used()
	if errors.Is(broken, errSilent) {
		l.hangUp(broken) // it may stand and lead nowhere
	}
	if err := failure(s, out, broken); err != nil && out.Heard == "" && ctx.Err() == nil {
		return out, err
	}
	if broken != nil && ctx.Err() == nil {
		out.Cut, out.Err = true, broken
	}
	p.breaker.Worked()
	p.pace = s.measured()
	p.told = append(slices.Clip(before), said)
	if out.Heard != "" {
		p.told = append(p.told, heard(out))
	}
	return out, nil
}

// failure is why a turn came to nothing, if it did.
func failure(s *speech, out engine.Outcome, broken error) error {
	switch {
	case broken != nil:
		return broken
	case out.Err != nil:
		return out.Err
	case out.Heard == "" && !s.cut():
		return errors.New("the answer had no words that could be checked and remembered")
	}
	return nil
}

// serial makes a watcher that several may tell.
func serial(watch func(any)) func(any) {
	if watch == nil {
		return func(any) {}
	}
	var mu sync.Mutex // guards the order of notes
	return func(note any) {
		mu.Lock()
		defer mu.Unlock()
		watch(note)
	}
}

// ready makes sure of a session that has the NPC's brief and the belt's tools.
func (p *Performer) ready(ctx context.Context, plan engine.Plan, before []engine.Message) error {
	p.mu.Lock()
	l, same := p.line, p.system == plan.Request.System
	p.mu.Unlock()
	if l == nil || !l.alive() || !same {
		if err := p.open(ctx, plan, before); err != nil {
			return err
		}
	}
	if plan.Belt == nil {
		return p.SetTools(ctx, nil)
	}
	if p.bridge == nil {
		b, err := bridge.New(p.ctx, p, plan.Belt, bridge.Options{})
		p.bridge = b
		return err
	}
	return p.bridge.Use(ctx, plan.Belt)
}
