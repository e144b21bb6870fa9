package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/voice/music"
)

// ErrClosed is returned by every action once the table is closing.
var ErrClosed = errors.New("the table is closing")

// errClosing ends a running turn when the table closes.
var errClosing = errors.New("the table is closing")

// goodbye is how long a closing table lets a voice finish its sentence before it
// fades.
const goodbye = 1200 * time.Millisecond

// Options are what a table is made of. Campaign, Memory, Tools and Brain must be
// there.
type Options struct {
	Campaign *campaigns.Campaign
	// Memory is where lines go and where NPCs remember from. The table does not
	// close it.
	Memory memory.Store
	// Spool is a file in which lines wait that the memory cannot take; "" keeps
	// them in this process only.
	Spool string
	// Tools is the host whose tools NPCs are granted. The table does not close it.
	Tools *mcp.Host
	// Writes says what happens when an NPC calls a tool that writes. Zero does
	// nothing and says what would have been done.
	Writes mcp.Writing
	// Execute lets NPCs ask for tools that run programs, where Writes lets them ask
	// for tools that write. Off, such calls only say what would have been done.
	Execute bool
	// Rules are the names of the rules that the table's tools know, so that a question
	// about one is heard as such.
	Rules []string
	// Routing says how tools are chosen for models that cannot call them reliably.
	Routing Routing
	// Brain makes the model of one NPC, whose persona it may use.
	Brain func(c npc.Character, p improviser.Persona) engine.Model
	// Performer makes the session of an NPC that hears and speaks by itself; nil for
	// one that does not. A nil function means that none does.
	Performer func(c npc.Character) Performer
	// Ear recognises speech; nil means that lines can only be typed.
	Ear engine.Recognizer
	// Synth speaks; nil means that answers are only written.
	Synth engine.Synthesizer
	// About says what the three parts are, for the page.
	About struct{ Brain, Ear, Mouth Part }
	// Music is what may be played in the background; nil plays nothing.
	Music *music.Library
	// Forgetful tables store no line: what was said is gone when they close.
	Forgetful bool
	// Unpaced sends sound as fast as it is made: into a file instead of a room.
	Unpaced bool
	// SceneEnded is told, on the table's goroutine, of a session in which a scene
	// has ended, and must not wait; nil ignores it.
	SceneEnded func(session string)
	// Additions is a file for what the DM adds to the campaign's world at the
	// table; "" keeps it in this process only.
	Additions string
	// Recordings is where the sound of those is kept who agreed to that; nil keeps
	// none.
	Recordings *Recordings
	// Feedback is a file for what people say about the bot; "" keeps none.
	Feedback string
	// Fast is a quick model that opens answers; see Cascade. Nil opens none.
	Fast engine.Model
	// Cascade says when it does; "" is off.
	Cascade CascadeMode
	// Patience is how long players may pause; PatienceOf sets it for some of them, by
	// name or id.
	Patience   engine.Patience
	PatienceOf map[string]engine.Patience
	// Budget is what the session may cost, and what things cost.
	Budget Budget
	// Log receives what the DM would want to know tomorrow. Nil discards it.
	Log *slog.Logger
}

// A Table is one running game. Its methods are safe for concurrent use.
type Table struct {
	o       Options
	log     *slog.Logger
	events  *eventLog
	room    room
	band    *band
	gallery gallery
	writer  *memory.Writer
	// recaller finds what a line reminds an NPC of.
	recaller *memory.Recaller

	// inbox feeds the one goroutine that owns the game. 64 waiting actions are
	// more than a table of people can take at once; the next one waits.
	inbox chan func()
	tasks sync.WaitGroup
	ctx   context.Context // ends when the table has closed
	stop  context.CancelCauseFunc

	// worldMu lets one change of the world at a time happen; it is held over the
	// disk, and never taken by the loop.
	worldMu sync.Mutex
	// broke tables have spent their cap. The loop sets it; models ask.
	broke atomic.Bool
	// paused tables listen to nobody. The loop sets it; whoever has frames asks.
	paused atomic.Bool

	closeOnce sync.Once
	closed    error // of the first Close

	names atomic.Pointer[[]string] // that may be heard now; see freshen

	game // owned by the loop
}

// Open sets the table: it loads the campaign's world into memory, goes on with
// the last session and starts the game. Close ends it.
func Open(ctx context.Context, o Options) (*Table, error) {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	t := &Table{
		o:      o,
		log:    cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		events: newEventLog(),
		room:   room{fast: o.Unpaced},
		band:   newBand(),
		inbox:  make(chan func(), 64),
		ctx:    ctx,
		stop:   stop,
	}
	if err := t.set(ctx); err != nil {
		stop(err)
		return nil, fmt.Errorf("set the table: %w", err)
	}
	t.tasks.Go(t.loop)
	t.post(t.warm)
	if o.Music != nil && !o.Unpaced {
		t.tasks.Go(func() { t.perform(ctx) })
	}
	return t, nil
}

// loop runs the actions one by one.
func (t *Table) loop() {
	for {
		select {
		case f := <-t.inbox:
			f()
		case <-t.ctx.Done():
			return
		}
	}
}

// post queues f for the loop; it is dropped once the table has closed.
func (t *Table) post(f func()) {
	select {
	case t.inbox <- f:
	case <-t.ctx.Done():
	}
}

// do runs f on the loop and waits for it.
func (t *Table) do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	select {
	case t.inbox <- func() { done <- f() }:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.ctx.Done():
		return ErrClosed
	}
	select {
	case err := <-done:
		return err
	case <-t.ctx.Done():
		return ErrClosed
	}
}

// Close lets a running sentence end within 1.2 s, or fades it; what was heard is
// stored, the session is ended and every goroutine has returned. A table that is
// closed stays so.
func (t *Table) Close(ctx context.Context) error {
	t.closeOnce.Do(func() { t.closed = t.close(ctx) })
	return t.closed
}

func (t *Table) close(ctx context.Context) error {
	var busy <-chan struct{}
	if err := t.do(ctx, func() error {
		t.closing = true
		t.waiting = nil
		if t.running != nil {
			busy = t.running.done
		}
		return nil
	}); err != nil {
		return err
	}
	if busy != nil {
		select {
		case <-busy:
		case <-time.After(goodbye):
			t.post(func() { t.cut(errClosing) })
			<-busy
		}
	}
	// The turn's end is posted before its done is closed: this runs after it.
	err := t.do(ctx, func() error { t.dismiss(); return nil })
	t.stop(ErrClosed)
	t.tasks.Wait()
	t.recaller.Close()
	if err := t.writer.Close(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("store the last lines: %w", err)
	}
	return errors.Join(err, t.o.Memory.EndSession(context.WithoutCancel(ctx), t.o.Campaign.ID, t.session, time.Now()))
}

// Settle returns once nobody is being heard, thinking or speaking.
func (t *Table) Settle(ctx context.Context) error {
	settled := make(chan struct{})
	if err := t.do(ctx, func() error {
		t.settling = append(t.settling, settled)
		t.next()
		return nil
	}); err != nil {
		return err
	}
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.ctx.Done():
		return ErrClosed
	}
}

// Events yields the events after the given id and then those to come, until ctx
// or the table ends. A jump in the ids means that older ones are gone.
func (t *Table) Events(ctx context.Context, after uint64) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(t.ctx, cancel)()
		for e := range t.events.follow(ctx, after) {
			if !yield(e) {
				return
			}
		}
	}
}

// Sound yields what the room hears from now on, paced to real time, until ctx
// ends. A listener that falls behind loses frames but never a flush.
func (t *Table) Sound(ctx context.Context) iter.Seq[Sound] {
	sounds, stop := t.room.listen()
	return func(yield func(Sound) bool) {
		defer stop()
		for {
			select {
			case s := <-sounds:
				if !yield(s) {
					return
				}
			case <-ctx.Done():
				rest(sounds, yield)
				return
			case <-t.ctx.Done():
				rest(sounds, yield)
				return
			}
		}
	}
}

// rest yields what was sent before the end.
func rest(sounds <-chan Sound, yield func(Sound) bool) {
	for {
		select {
		case s := <-sounds:
			if !yield(s) {
				return
			}
		default:
			return
		}
	}
}

// State is the table now.
func (t *Table) State() Snapshot {
	var s Snapshot
	if err := t.do(t.ctx, func() error { s = t.snapshot(); return nil }); err != nil {
		return Snapshot{Campaign: t.o.Campaign.Name, Stopped: true, Why: err.Error()}
	}
	return s
}
