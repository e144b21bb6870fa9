package s2s

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// maxRound is how many tools one part of an answer may ask for.
const maxRound = 8

// tooMany is what a model is told that asks for more.
const tooMany = "No more tools in this turn: answer with what is known."

// errMidTurn is a change of tools that has to wait for the turn's end.
var errMidTurn = errors.New("this model's tools cannot change within a turn")

// exchange puts another line in the place of the current one, which it returns.
func (p *Performer) exchange(l *line) *line {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.line
	p.line, p.expiring = l, false
	return old
}

// replace closes the old line without anybody waiting for it.
func (p *Performer) replace(l *line) {
	if old := p.exchange(l); old != nil {
		p.tasks.Go(old.close)
	}
}

// setup is how a session begins now.
func (p *Performer) setup(tools []mcp.Tool) setup {
	p.mu.Lock()
	defer p.mu.Unlock()
	return setup{system: p.system, voice: p.o.Voice, language: p.o.Language, tools: tools, handle: p.handle}
}

// open begins a session for a turn: where the last one was, if the vendor remembers
// it, else with the talk.
func (p *Performer) open(ctx context.Context, plan engine.Plan, before []engine.Message) error {
	p.mu.Lock()
	if p.system != plan.Request.System {
		p.system, p.handle = plan.Request.System, ""
	}
	p.mu.Unlock()
	var tools []mcp.Tool
	if plan.Belt != nil {
		tools = plan.Belt.Tools()
	}
	return p.reopen(ctx, tools, before)
}

// reopen dials with the given tools, and makes that the line.
func (p *Performer) reopen(ctx context.Context, tools []mcp.Tool, before []engine.Message) error {
	s := p.setup(tools)
	if s.handle != "" {
		l, err := p.dial(ctx, s)
		if err == nil {
			p.adopt(l, tools)
			return nil
		}
		p.o.Log.Info("the vendor does not remember the session", "model", p.name, "error", err)
		p.mu.Lock()
		p.handle = ""
		p.mu.Unlock()
		s.handle = ""
	}
	// Nobody has time for a summary now: the last lines have to do.
	log := slices.Concat(p.log, missed(p.window, before))
	s.talk = log[max(0, len(log)-2*keepWords):]
	l, err := p.dial(ctx, s)
	if err != nil {
		return err
	}
	p.told = slices.Clone(before)
	p.adopt(l, tools)
	return nil
}

func (p *Performer) dial(ctx context.Context, s setup) (*line, error) {
	l, err := dial(ctx, p.o.Client, p.dialect(), s, p.event)
	if err == nil {
		p.o.Log.Debug("a speech-to-speech session has begun", "model", p.name, "resumed", s.handle != "", "told", len(s.talk))
	}
	return l, err
}

// adopt makes l the line.
func (p *Performer) adopt(l *line, tools []mcp.Tool) {
	p.replace(l)
	p.mu.Lock()
	p.tools = slices.Clone(tools)
	p.mu.Unlock()
}

// SetTools declares the functions of the session, if they are others than before. It
// is the bridge's.
func (p *Performer) SetTools(ctx context.Context, tools []mcp.Tool) error {
	p.mu.Lock()
	same, l, idle := slices.EqualFunc(p.tools, tools, sameTool), p.line, p.now == nil
	p.mu.Unlock()
	if same || l == nil {
		return nil
	}
	told := false
	l.do(func(d dialect) (messages [][]byte) {
		messages, told = d.declare(tools)
		return messages
	})
	switch {
	case told:
		p.mu.Lock()
		p.tools = slices.Clone(tools)
		p.mu.Unlock()
		return nil
	case !idle:
		return errMidTurn
	}
	return p.reopen(ctx, tools, p.window)
}

func sameTool(a, b mcp.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && string(a.Schema) == string(b.Schema)
}

// OnToolCall sets who answers tool calls. It is the bridge's.
func (p *Performer) OnToolCall(handler func(context.Context, string, json.RawMessage) mcp.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handler = handler
}

// begin asks, and makes r what the session's events are for from then on.
func (p *Performer) begin(r *reply, belt *mcp.Belt, t turn, q question) *line {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.turn, p.asked, p.parted, p.rounds = r, t, 0, false, 0
	if belt != nil {
		p.rounds = belt.Tier().Rounds()
	}
	r.turn = p.line.ask(q)
	return p.line
}

// finish ends the turn: its calls are given up, and the session is cut back to what
// was heard.
func (p *Performer) finish(l *line, s *speech, out engine.Outcome) {
	s.leave()
	p.mu.Lock()
	p.now = nil
	for _, cancel := range p.calls {
		cancel()
	}
	p.mu.Unlock()
	if l.alive() && (out.Cut || out.Err != nil || s.cut() || out.Heard == "") {
		l.do(func(d dialect) [][]byte { return d.stop(s.reached(out.Played), out.Heard) })
	}
}

// used is what the vendor has charged since it was last asked for.
func (p *Performer) used() engine.Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.usage
	p.usage = engine.Usage{}
	return u
}

// event takes what a line's reader has read.
func (p *Performer) event(l *line, turn int, ev any) {
	p.mu.Lock()
	if l != p.line {
		p.mu.Unlock()
		return // it has been replaced, or is being set up
	}
	now := p.now
	switch ev := ev.(type) {
	case evHandle:
		p.handle = ev.handle
	case evUsage:
		p.usage = p.usage.Plus(ev.usage)
	case evExpiring:
		p.expiring = true
	}
	p.mu.Unlock()
	switch ev := ev.(type) {
	case evExpiring:
		p.o.Log.Debug("the session ends soon", "model", p.name, "left", ev.left)
		if now == nil {
			p.tasks.Go(func() {
				p.turnMu.Lock()
				defer p.turnMu.Unlock()
				p.renew()
			})
		}
	case evTrouble:
		p.o.Log.Info("the speech-to-speech model complains", "model", p.name, "error", ev.err)
	}
	if _, trouble := ev.(evTrouble); now != nil && (turn == now.turn || trouble) {
		p.answering(l, now, ev)
	}
}

// answering is an event of an answer under way.
func (p *Performer) answering(l *line, r *reply, ev any) {
	switch ev := ev.(type) {
	case evSound, evWords:
		r.hear(ev)
	case evCall:
		p.call(l, r, ev.call)
	case evCancelled:
		p.mu.Lock()
		for _, id := range ev.ids {
			if cancel := p.calls[id]; cancel != nil {
				p.unwanted[id] = true
				cancel()
			}
		}
		p.mu.Unlock()
	case evPart:
		r.hear(evWords{" "})
		p.mu.Lock()
		p.parted = true
		p.mu.Unlock()
		p.resume(l, r)
	case evLate:
		time.AfterFunc(late, func() { r.fail(nil) })
	case evDone:
		r.fail(ev.err)
	case evTrouble:
		if ev.fatal {
			r.fail(ev.err)
		}
	}
}

// call runs a tool and tells the session what came of it.
func (p *Performer) call(l *line, r *reply, c engine.Call) {
	p.mu.Lock()
	if p.asked == 0 {
		p.rounds--
	}
	p.asked++
	handler, t, allowed := p.handler, p.turn, p.rounds >= 0 && p.asked <= maxRound
	ctx, cancel := context.WithCancel(p.ctx)
	p.calls[c.ID] = cancel
	p.mu.Unlock()
	r.change(func() { r.open++ })
	p.tasks.Go(func() {
		defer cancel()
		text := tooMany
		if allowed && handler != nil {
			t.watch(engine.ToolStarted{Call: c})
			res := handler(ctx, c.Name, c.Args)
			if t.result != nil {
				t.result(c, res)
			}
			t.watch(engine.ToolEnded{Call: c, Result: res})
			text = res.Text
		}
		p.mu.Lock()
		absorb, unwanted := p.now != r, p.unwanted[c.ID]
		delete(p.calls, c.ID)
		delete(p.unwanted, c.ID)
		p.mu.Unlock()
		if !unwanted {
			l.do(func(d dialect) [][]byte { return d.result(c, text, absorb) })
		}
		r.change(func() { r.open--; r.moved = time.Now() })
		p.resume(l, r)
	})
}

// resume lets the answer go on once all results of a part are in.
func (p *Performer) resume(l *line, r *reply) {
	p.mu.Lock()
	ready := p.now == r && p.asked > 0 && len(p.calls) == 0
	if ready {
		l.do(func(d dialect) (messages [][]byte) {
			messages, ready = d.resume(p.parted, p.rounds > 0)
			return messages
		})
		if ready {
			p.asked, p.parted = 0, false
		}
	}
	p.mu.Unlock()
	if ready {
		r.asked()
	}
}

// renew replaces a line that ends soon by one that knows what was said, while nobody
// speaks. It is called with turnMu held, and does not keep anybody waiting.
func (p *Performer) renew() {
	p.mu.Lock()
	l := p.line
	due := l != nil && l.alive() && !p.renewing && (p.expiring || time.Since(l.opened) > p.dialect().lasts())
	p.renewing = p.renewing || due
	tools := p.tools
	p.mu.Unlock()
	if !due || p.ctx.Err() != nil {
		return
	}
	s := p.setup(tools)
	log, known, model := slices.Clone(p.log), slices.Clone(p.window), p.model
	p.tasks.Go(func() {
		if s.handle == "" {
			s.talk = summary(p.ctx, model, log)
		}
		next, err := p.dial(p.ctx, s)
		p.turnMu.Lock()
		defer p.turnMu.Unlock()
		p.mu.Lock()
		p.renewing = false
		stale := p.line != l || p.ctx.Err() != nil || !slices.EqualFunc(p.tools, tools, sameTool)
		p.mu.Unlock()
		switch {
		case err != nil: // a turn that finds no line opens one
			p.o.Log.Info("the session could not be renewed", "model", p.name, "error", err)
		case stale:
			p.tasks.Go(next.close)
		default:
			if s.handle == "" {
				p.told = known
			}
			p.replace(next)
		}
	})
}
