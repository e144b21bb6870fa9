package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// MaxTurn is the longest a turn may last, sound included.
const MaxTurn = 2 * time.Minute

// ErrInterrupted ends a turn that somebody talked over.
var ErrInterrupted = errors.New("interrupted")

var errTurnTooLong = fmt.Errorf("the turn lasted over %v", MaxTurn)

// A Plan is all that one turn needs.
type Plan struct {
	// Model answers; Request is what it is shown. Request.Tools is replaced by
	// the belt's tools.
	Model   Model
	Request Request
	// Belt holds the tools of this turn. Nil means none.
	Belt *mcp.Belt
	// Synth speaks with Voice into Mouth. With a nil Mouth the text itself is
	// what the room gets, sentence by sentence.
	Synth Synthesizer
	Voice Voice
	Mouth Mouth
	// Rein holds the voice back. Nil lets it go.
	Rein *Rein
	// Commit is closed when the turn is really to be played, and nil if it is. Before
	// that it is a guess: the model thinks and sound is made, but nothing is heard,
	// and of the tools only those run that change nothing. The others wait.
	Commit <-chan struct{}
	// Absorb is told what a tool answered after somebody had talked over the turn: it
	// is known then and not spoken. With a nil Absorb such tools are given up.
	Absorb func(Call, mcp.Result)
	// Opening is said before anything that the model says: see [Request.After], which
	// tells the model. Nil says nothing.
	Opening *Clip
	// Filter cleans a sentence before it is spoken; "" drops it. Nil keeps all.
	Filter func(sentence string) string
	// Result is told what a tool answered before the model is, so that Filter may
	// know of it. It is called from several goroutines. Nil is fine.
	Result func(Call, mcp.Result)
	// Watch is told what happens, in order, from one goroutine; it must not
	// block. It is given a [FirstToken], [Opened], [Sentence], [ToolStarted], [ToolEnded],
	// [FirstSound], [Heard] or [Unspoken].
	Watch func(note any)
}

// A Clip is a line with its sound, made before it is needed: frames of 960 samples at
// 48 kHz, which are not changed.
type Clip struct {
	Text   string
	Frames [][]int16
}

// A Mouth sends sound to the room in real time.
type Mouth interface {
	// Play takes one frame of 960 samples at 48 kHz and returns when it has been
	// sent or queued, which paces the caller. The frame is the caller's again.
	Play(ctx context.Context, frame []int16) error
	// Flush drops what is queued and not yet sent, and returns how many frames.
	Flush() int
}

// What [Plan.Watch] is told.
type (
	// FirstToken is the model's first sign of life.
	FirstToken struct{}
	// Opened is sent with a plan's Opening, when it is about to be heard.
	Opened struct{ Text string }
	// Sentence is complete and about to be spoken.
	Sentence struct{ Text string }
	// ToolStarted is a tool call that begins.
	ToolStarted struct{ Call Call }
	// ToolEnded is its end.
	ToolEnded struct {
		Call   Call
		Result mcp.Result
	}
	// FirstSound is sent with the turn's first frame.
	FirstSound struct{}
	// Heard is what the room has heard so far.
	Heard struct{ Text string }
	// Unspoken is a sentence that no synthesiser could speak: it was only shown.
	Unspoken struct {
		Text string
		Err  error
	}
)

// An Outcome is how a turn went.
type Outcome struct {
	// Heard is what the room heard; Cut reports that there was more to come.
	Heard string
	Cut   bool
	// Played is how much sound was sent to the room.
	Played time.Duration
	// Err is nil when the turn came to its own end, else why it ended.
	Err error
	// Usage of a model that was broken off is estimated.
	Usage Usage
	// Late is closed when the last tool has ended that was running when the turn was
	// cut off; see [Plan.Absorb]. It is nil without that.
	Late <-chan struct{}
}

// Run plays one turn and returns when its last frame has been sent, or within
// 100 ms of ctx. The cause of ctx is the outcome's error.
func Run(ctx context.Context, p Plan) Outcome {
	ctx, cancel := context.WithTimeoutCause(ctx, MaxTurn, errTurnTooLong)
	r := &runner{
		plan:   p,
		events: make(chan any, 16), // a burst of tokens; a full channel only slows the model
		notes:  make(chan any, 256),
	}
	r.voice = newVoicing(r)
	var notes sync.WaitGroup
	notes.Go(r.deliver)
	r.tasks.Go(func() { r.voice.synthesise(ctx) })
	r.tasks.Go(func() { r.voice.play(ctx) })

	t := &turn{messages: p.Request.Messages, rounds: r.rounds()}
	err := r.loop(ctx, t)
	cancel()
	r.tasks.Wait()
	close(r.notes)
	notes.Wait()
	var late chan struct{}
	if p.Absorb == nil {
		r.late.Wait()
	} else {
		late = make(chan struct{})
		go func() { r.late.Wait(); close(late) }()
	}
	heard, all := r.voice.ledger.heard()
	return Outcome{Late: late, Heard: heard, Cut: !all, Played: r.voice.ledger.played(), Err: err, Usage: r.usage}
}

// runner gives a turn its model, its tools, its sound and its clock.
type runner struct {
	plan   Plan
	events chan any // to the loop
	// notes keeps Watch out of everybody's way: it holds what a slow watcher has
	// not taken yet, and is only ever closed after all tasks have ended.
	notes chan any
	tasks sync.WaitGroup
	late  sync.WaitGroup // tools, which may outlast the turn
	voice *voicing
	usage Usage
	stop  context.CancelFunc // of the running model; nil before the first
}

func (r *runner) rounds() int {
	if r.plan.Belt == nil || len(r.plan.Belt.Tools()) == 0 {
		return 0
	}
	return r.plan.Belt.Tier().Rounds()
}

func (r *runner) deliver() {
	for n := range r.notes {
		if r.plan.Watch != nil {
			r.plan.Watch(n)
		}
	}
}

// loop steps the turn until it is over and returns why it ended.
func (r *runner) loop(ctx context.Context, t *turn) error {
	todo := t.step(evBegin{})
	for {
		for _, a := range todo {
			if end, ok := a.(actOver); ok {
				return end.cause
			}
			r.do(ctx, a)
		}
		if t.state != asking && r.stop != nil {
			r.stop()
		}
		select {
		case ev := <-r.events:
			todo = t.step(ev)
		case <-ctx.Done():
			todo = t.step(evCut{context.Cause(ctx)})
		}
	}
}

func (r *runner) do(ctx context.Context, action any) {
	switch a := action.(type) {
	case actAsk:
		r.ask(ctx, a)
	case actCall:
		r.call(ctx, a)
	case actSay:
		s := a.sentence
		if r.plan.Filter != nil {
			s = r.plan.Filter(s)
		}
		if s != "" {
			r.notes <- Sentence{s}
			r.voice.sentences <- s
		}
	case actHush:
		r.voice.hush()
	}
}

// call runs one tool. A guess does not run what may change something.
func (r *runner) call(ctx context.Context, a actCall) {
	r.tasks.Go(func() {
		if !harmless(r.plan.Belt, a.call.Name) && !r.committed(ctx) {
			return
		}
		r.notes <- ToolStarted{a.call}
		// The loop may lose interest before the tool ends, so there is room for the
		// result.
		result := make(chan mcp.Result, 1)
		r.late.Go(func() { result <- r.use(ctx, a.call) })
		select {
		case res := <-result:
			if r.plan.Result != nil {
				r.plan.Result(a.call, res)
			}
			r.notes <- ToolEnded{a.call, res}
			r.send(ctx, evResult{a.index, res.Text})
		case <-ctx.Done():
		}
	})
}

// use calls a tool. One that is running when the turn is cut off goes on to its own
// deadline if somebody absorbs its result.
func (r *runner) use(ctx context.Context, c Call) mcp.Result {
	if r.plan.Absorb == nil {
		return r.plan.Belt.Call(ctx, c.Name, c.Args)
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		if !r.isCommitted() || !errors.Is(context.Cause(ctx), ErrInterrupted) { // nobody will ask for it
			cancel(context.Cause(ctx))
		}
	})()
	res := r.plan.Belt.Call(own, c.Name, c.Args)
	if ctx.Err() != nil && r.isCommitted() {
		r.plan.Absorb(c, res)
	}
	return res
}

// harmless reports whether a guess may run a tool: one that changes nothing, or
// nothing more the second time and needs nobody's leave.
func harmless(belt *mcp.Belt, name string) bool {
	return slices.ContainsFunc(belt.Tools(), func(t mcp.Tool) bool {
		return t.Name == name && (t.ReadOnly || t.Idempotent && !t.Writes && !t.Destructive)
	})
}

// committed waits until the turn is no guess any more; it reports false if it never
// will be.
func (r *runner) committed(ctx context.Context) bool {
	if r.plan.Commit == nil {
		return true
	}
	select {
	case <-r.plan.Commit:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *runner) isCommitted() bool {
	if r.plan.Commit == nil {
		return true
	}
	select {
	case <-r.plan.Commit:
		return true
	default:
		return false
	}
}

// ask starts one round of the model.
func (r *runner) ask(ctx context.Context, a actAsk) {
	req := r.plan.Request
	req.Messages, req.Tools = a.messages, nil
	if a.tools {
		req.Tools = r.plan.Belt.Tools()
	}
	ctx, r.stop = context.WithCancel(ctx)
	r.tasks.Go(func() { r.think(ctx, req) })
}

// think streams one round of the model into the loop.
func (r *runner) think(ctx context.Context, req Request) {
	first, done, out := true, false, 0
	defer func() {
		if !done && ctx.Err() != nil {
			r.usage = r.usage.Plus(estimate(req, out))
		}
	}()
	for d, err := range r.plan.Model.Stream(ctx, req) {
		if err != nil {
			r.send(ctx, evFail{err})
			return
		}
		if first {
			first = false
			r.notes <- FirstToken{}
		}
		if out += len(d.Text); d.Text != "" {
			r.send(ctx, evText{d.Text})
		}
		if len(d.Calls) > 0 {
			r.send(ctx, evCalls{d.Calls})
		}
		if d.Done {
			done = true
			r.usage = r.usage.Plus(d.Usage)
		}
		if ctx.Err() != nil {
			return
		}
	}
	if !done {
		r.send(ctx, evFail{errors.New("the model's answer stopped before its end")})
		return
	}
	r.send(ctx, evEnd{})
}

func (r *runner) send(ctx context.Context, ev any) {
	select {
	case r.events <- ev:
	case <-ctx.Done():
	}
}

// estimate is what a request and out bytes of an answer cost whose vendor did not
// come to say so: a token has about four bytes.
func estimate(r Request, out int) Usage {
	const bytes = 4
	in := len(r.System)
	for _, m := range r.Messages {
		in += len(m.Text)
	}
	return Usage{In: in / bytes, Out: out / bytes}
}
