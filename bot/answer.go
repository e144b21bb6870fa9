package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/npc/spoken"
)

// running is the turn that is being played; only the loop touches it, except
// where said.
type running struct {
	ask
	npc      string
	line     string // id of the NPC's line
	turn     Turn
	rein     *engine.Rein
	belt     *mcp.Belt
	off      []Hidden      // tools that the DM has switched off
	commit   chan struct{} // closed when it is played
	notes    []func()      // to be shown when it is
	cascaded bool          // the fast model opens it
	opening  *engine.Clip  // what is said while it thinks
	speaking bool
	began    time.Time // of its sound
	coming   string    // sentences made so far
	mouth    string    // the voice engine's name, "" if nothing is synthesised
	captions []string  // what it does while it speaks
	cancel   context.CancelCauseFunc
	done     chan struct{} // closed when the turn has ended and is remembered
}

// next starts the oldest answer that is owed, if nobody is speaking.
func (t *Table) next() {
	for t.running == nil && len(t.waiting) > 0 && !t.closing {
		i := t.nextAsk()
		a := t.waiting[i]
		t.waiting = slices.Delete(t.waiting, i, i+1)
		if c, ok := t.character(a.npc); ok && t.mayAnswer(a) {
			t.begin(a, c)
		}
	}
	if t.running == nil && t.hearing == 0 {
		for _, settled := range t.settling {
			close(settled)
		}
		t.settling = nil
	}
}

func (t *Table) mayAnswer(a ask) bool {
	return t.stopped == "" && !t.muted[a.npc] && slices.Contains(t.scene.Present, a.npc)
}

// begin plays one turn.
func (t *Table) begin(a ask, c npc.Character) { t.play(t.prepare(a, c, false)) }

// play makes a turn that has been prepared the one that is played.
func (t *Table) play(r *running) {
	t.running = r
	card := t.card(r.npc)
	card.Tier, card.Why, card.Tools, card.Hidden = r.turn.Tier, r.turn.Why, names(r.belt.Tools()), append(hidden(r.belt.Hidden()), r.off...)
	t.setState(card, Thinking)
	r.turn.Routed = time.Since(r.heard)
	r.turn.Wasted = t.wasted.In + t.wasted.Out
	t.wasted = engine.Usage{}
	t.showTurn(r)
	t.rule(t.floor.Answers(r.ask.line.Speaker.ID, t.namesOf(r.npc), time.Now()))
	delete(t.absorbed, r.npc)
	close(r.commit)
	for _, f := range r.notes {
		f()
	}
	r.notes = nil
}

// noted runs f, which shows something of a turn: now if the turn is played, later if
// it is a guess that may be, never if it was taken back.
func (t *Table) noted(r *running, f func()) {
	switch r {
	case t.running:
		f()
	case t.guessing:
		r.notes = append(r.notes, f)
	}
}

// prepare starts a turn, of which nothing is heard before it is played. One that is a
// guess may never be.
func (t *Table) prepare(a ask, c npc.Character, guess bool) *running {
	t.turnID++
	ctx, cancel := context.WithCancelCause(t.ctx)
	tier := t.tier(a, c)
	grant := mcp.Grant{
		Caller: mcp.Caller{Campaign: t.campaign.ID, Session: t.session, NPC: c.ID, Speaker: a.line.Speaker.ID, Turn: t.turnID},
		Allow:  t.granted(c), Tier: tier.Tier, Utterance: a.line.Text, Writes: t.o.Writes, NoExecute: !t.o.Execute, Helper: c.Helper,
	}
	belt := t.o.Tools.Belt(grant)
	r := &running{
		ask: a, npc: c.ID, line: t.newLineID(time.Now()), cancel: cancel, done: make(chan struct{}),
		rein: engine.NewRein(), belt: belt, off: t.offFor(c), commit: make(chan struct{}),
		turn: Turn{ID: t.turnID, NPC: c.ID, Heard: a.recognised, Tier: tier.Tier, Why: tier.Reason()},
	}
	brain := t.brains[c.ID]
	if a.exact != "" {
		brain = recital(a.exact)
	}
	r.turn.Brain = brain.Name()
	performer := t.performer(c, a)
	if a.line.Whisper {
		performer = nil // what is answered in writing needs no voice
	}
	if performer != nil {
		r.turn.Brain = performer.Name()
	}
	if performer == nil && t.cascades(r, c) {
		r.cascaded = true
		brain = engine.NewCascade(t.o.Fast, brain, cmp.Or(c.Language, t.campaign.Language))
	} else if performer == nil && !guess {
		r.opening = t.opening(r, c)
	}
	plan := engine.Plan{
		Opening: r.opening, Absorb: func(call engine.Call, res mcp.Result) { t.post(func() { t.absorb(c.ID, call, res) }) },
		Model: brain, Belt: belt, Synth: t.o.Synth, Voice: t.affordable(voiceOf(c)), Rein: r.rein, Commit: r.commit,
		Watch: func(note any) {
			at := time.Now()
			t.post(func() { t.noted(r, func() { t.watch(r, note, at) }) })
		},
	}
	if a.exact == "" { // the DM's own words are the DM's to choose
		x := t.newCensor(ctx, c, belt, func(res spoken.Result) { t.post(func() { t.noted(r, func() { t.showStruck(r, res) }) }) })
		plan.Filter, plan.Result = x.sentence, x.result
	}
	if a.line.Whisper {
		plan.Synth = nil
	} else if t.o.Synth != nil {
		plan.Mouth = t.mouthOf(c.ID, r.line)
		if performer == nil {
			r.mouth = cmp.Or(plan.Voice.Engine, t.o.Synth.Name())
		}
	}
	route := a.exact == "" && performer == nil && len(belt.Tools()) > 0 && a.results == nil && t.routes(c, brain)
	setting, now := t.setting(), t.situation(c, a, !route && a.results == nil && len(belt.Tools()) > 0)
	known := t.absorbed[c.ID]
	eyes, session := memory.Viewer{Campaign: t.campaign.ID, Entity: c.ID}, t.session
	t.tasks.Go(func() {
		if a.exact == "" {
			now.Recalled = t.reminded(ctx, eyes, session, a.line.Text)
		}
		switch {
		case route:
			now.Results = t.route(ctx, r, brain, grant, belt, plan.Result)
			plan.Belt = nil // a model that cannot call tools is shown none
		case a.results != nil:
			now.Results, plan.Belt = a.results, nil
		}
		now.Results = slices.Concat(known, now.Results)
		plan.Request = requestOf(npc.NewBrief(c, setting, now))
		if r.opening != nil {
			plan.Request = plan.Request.After(r.opening.Text)
		}
		t.post(func() { r.turn.Briefed = time.Since(r.heard) })
		out := perform(ctx, performer, plan, a)
		cancel(nil)
		t.post(func() { t.end(r, out) })
		if out.Late != nil {
			<-out.Late
		}
	})
	return r
}

// watch follows the running turn.
func (t *Table) watch(r *running, note any, when time.Time) {
	at := when.Sub(r.heard)
	switch n := note.(type) {
	case engine.FirstToken:
		if r.turn.FirstToken == 0 {
			r.turn.FirstToken = at
			t.showTurn(r)
		}
	case engine.Opened:
		r.coming = n.Text
		t.progress(r, "")
	case engine.Sentence:
		if r.turn.FirstSentence == 0 {
			r.turn.FirstSentence = at
		}
		r.coming = strings.TrimSpace(r.coming + " " + n.Text)
		t.progress(r, "")
	case engine.FirstSound:
		r.turn.FirstSound, r.began, r.speaking = at, when, true
		t.rule(t.floor.Sounds(time.Now()))
		t.setState(t.card(r.npc), Speaking)
		t.showTurn(r)
	case engine.Heard:
		r.speaking = true
		t.progress(r, n.Text)
	case engine.ToolStarted:
		t.showTool(Tool{Turn: r.turn.ID, NPC: r.npc, Name: n.Call.Name, Args: string(n.Call.Args), Tier: r.turn.Tier, Began: at})
	case engine.ToolEnded:
		tool := Tool{
			Turn: r.turn.ID, NPC: r.npc, Name: n.Call.Name, Args: string(n.Call.Args), Tier: r.turn.Tier,
			Result: n.Result.Text, Took: n.Result.Took, Cached: n.Result.Cached, Done: true,
			Began: max(0, at-n.Result.Took),
		}
		if n.Result.Err != nil {
			tool.Error = n.Result.Err.Error()
		}
		t.showTool(tool)
	case engine.Unspoken:
		t.alert(Alert{Text: "A sentence could only be shown, not spoken: " + n.Err.Error(), Bad: true})
	}
}

// showStruck tells the DM what was kept from the room, and why.
func (t *Table) showStruck(r *running, res spoken.Result) {
	for _, s := range res.Struck {
		t.log.Debug("kept from the room", "npc", r.npc, "turn", r.turn.ID, "why", s.Why, "bytes", len(s.Text))
	}
	if res.Broken != "" || res.Secret {
		what := "told a secret"
		if res.Broken != "" {
			what = "run into " + res.Broken
		}
		t.alert(Alert{Text: t.person(r.npc).Name + " would have " + what + "; it was not spoken."})
	}
	if len(res.Captions) > 0 {
		r.captions = append(r.captions, res.Captions...)
	}
}

// progress shows how far the NPC has come.
func (t *Table) progress(r *running, heard string) {
	coming := strings.TrimSpace(strings.TrimPrefix(r.coming, heard))
	t.show(Line{ID: r.line, Speaker: t.person(r.npc), Text: heard, Coming: coming, Captions: r.captions, To: []string{r.ask.line.Speaker.ID}, Private: r.ask.line.Whisper})
}

func (t *Table) person(id string) Person {
	c, _ := t.character(id)
	return Person{ID: c.ID, Name: c.Name, NPC: true}
}

// end remembers what was heard and goes on with the next answer.
func (t *Table) end(r *running, out engine.Outcome) {
	if r != t.running { // a guess that was taken back, or failed
		if r == t.guessing {
			t.guessing = nil
		}
		t.wasted = t.wasted.Plus(out.Usage)
		t.charge(r, out.Usage)
		return
	}
	now := time.Now()
	if r.began.IsZero() {
		r.began = now
	}
	audience := memory.Audience(slices.Clone(t.scene.Present))
	if r.ask.line.Whisper {
		audience = memory.Audience{r.npc}
	}
	if out.Heard != "" {
		t.remember(memory.Line{
			ID: r.line, Campaign: t.campaign.ID, Session: t.session, Scene: t.scene.ID,
			Speaker: memory.Speaker{ID: r.npc, Name: t.person(r.npc).Name, Kind: memory.NPCSpeaker},
			At:      r.began, Duration: now.Sub(r.began), Text: out.Heard, Cut: out.Cut,
			Audience: audience, Whisper: r.ask.line.Whisper,
		})
		t.met[r.npc] = true
		t.exchanges[r.ask.line.Speaker.ID] = exchange{npc: r.npc, at: now, asked: strings.HasSuffix(out.Heard, "?")}
	}
	if out.Heard != "" || r.coming != "" {
		t.show(Line{ID: r.line, Speaker: t.person(r.npc), Text: out.Heard, Final: true, Cut: out.Cut, Captions: r.captions, To: []string{r.ask.line.Speaker.ID}, Private: r.ask.line.Whisper})
	}
	if out.Cut {
		t.room.send(Sound{NPC: r.npc, Line: r.line, Flush: true})
	}
	if r.turn.Tier == mcp.Deep {
		t.deep = now
	}
	r.turn.Ended, r.turn.Done, r.turn.Cut = now.Sub(r.heard), true, out.Cut
	t.charge(r, out.Usage)
	t.paced(r)
	if out.Err != nil && !errors.Is(out.Err, engine.ErrInterrupted) && !errors.Is(out.Err, errClosing) {
		r.turn.Error = out.Err.Error()
		t.alert(Alert{Text: t.person(r.npc).Name + " could not answer: " + out.Err.Error(), Bad: true})
	}
	t.showTurn(r)
	t.running = nil
	t.floor.Done()
	t.recast()
	close(r.done)
	t.next()
}

func (t *Table) showTurn(r *running) {
	turn := r.turn
	if i := slices.IndexFunc(t.turns, func(o Turn) bool { return o.ID == turn.ID }); i >= 0 {
		t.turns[i] = turn
	} else {
		t.turns = keep(append(t.turns, turn), 20)
	}
	t.events.add(Event{Turn: &turn})
}

// showTool adds a call, or replaces the same call that had only begun.
func (t *Table) showTool(tool Tool) {
	same := func(o Tool) bool {
		return o.Turn == tool.Turn && o.Name == tool.Name && o.Args == tool.Args && !o.Done
	}
	if i := slices.IndexFunc(t.tools, same); i >= 0 {
		t.tools[i] = tool
	} else {
		t.tools = keep(append(t.tools, tool), 20)
	}
	t.events.add(Event{Tool: &tool})
}

func names(tools []mcp.Tool) []string {
	out := make([]string, len(tools))
	for i, tool := range tools {
		out[i] = tool.Name
	}
	return out
}

func hidden(list []mcp.Hidden) []Hidden {
	out := make([]Hidden, len(list))
	for i, h := range list {
		out[i] = Hidden{Name: h.Name, Reason: h.Reason}
	}
	return out
}
