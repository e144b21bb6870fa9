package bot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/routed"
)

const (
	// questionLife is how long the DM may take to decide. After a minute the scene
	// has moved on.
	questionLife = 60 * time.Second
	// maxQuestions bounds what waits for the DM.
	maxQuestions = 16
)

// ErrNoQuestion means that nothing of that id and hash waits: it was never asked,
// is decided already, or a minute has passed.
var ErrNoQuestion = errors.New("nothing of that id waits to be decided")

// errTooMany keeps questions from piling up before a DM who does not look.
var errTooMany = errors.New("too much waits for the DM already")

// A Question asks the DM whether an NPC may use a tool of which the model that
// chose it, or the one that reviewed the choice, was not sure enough.
type Question struct {
	ID string `json:"id"`
	// Hash binds the decision to this tool with these arguments.
	Hash string `json:"hash"`
	NPC  string `json:"npc"`
	Tool string `json:"tool"`
	// Args are exactly what the tool would be given.
	Args       string    `json:"args"`
	Confidence float64   `json:"confidence"`
	Reason     string    `json:"reason,omitempty"`
	Expires    time.Time `json:"expires"`
	// Decided is set once nothing has to be decided any more.
	Decided bool `json:"decided,omitempty"`
}

// query is a question on its way; only the loop touches it, except for answer.
type query struct {
	Question
	ask    ask
	grant  mcp.Grant
	choice routed.Choice
	// answer is told once what was decided while the turn still waits. Nobody need
	// be there to take it.
	answer chan bool
	late   bool // the turn went on without the answer
}

// hashOf binds a decision to a call.
func hashOf(c routed.Choice) string {
	sum := sha256.Sum256([]byte(c.Tool + "\x00" + string(c.Params)))
	return hex.EncodeToString(sum[:8])
}

// consult puts a choice before the DM and waits as long as the turn has time. If
// the DM is slower than that, the NPC answers without the tool now and once more
// when it was allowed.
func (t *Table) consult(ctx context.Context, r *running, grant mcp.Grant, c routed.Choice) (bool, error) {
	q := &query{
		Question: Question{
			ID: rand.Text(), Hash: hashOf(c), NPC: r.npc, Tool: c.Tool, Args: string(c.Params),
			Confidence: c.Confidence, Reason: c.Reasoning, Expires: time.Now().Add(questionLife),
		},
		ask: r.ask, grant: grant, choice: c, answer: make(chan bool, 1),
	}
	if err := t.do(ctx, func() error { return t.put(q) }); err != nil {
		return false, err
	}
	select {
	case yes := <-q.answer:
		return yes, nil
	case <-ctx.Done():
		t.post(func() { q.late = true })
		return false, routed.ErrUndecided
	}
}

// put shows a question to the DM.
func (t *Table) put(q *query) error {
	t.expireQuestions(time.Now())
	if len(t.questions) >= maxQuestions {
		return errTooMany
	}
	t.questions = append(t.questions, q)
	shown := q.Question
	t.events.add(Event{Question: &shown})
	return nil
}

func (t *Table) expireQuestions(now time.Time) {
	t.questions = slices.DeleteFunc(t.questions, func(q *query) bool { return !now.Before(q.Expires) })
}

// Decide answers a question, once and as it was shown. A tool that is allowed
// while its turn waits runs in it; later the NPC answers again with what it found.
func (t *Table) Decide(ctx context.Context, who Person, id, hash string, yes bool) error {
	if err := dm(who); err != nil {
		return err
	}
	return t.do(ctx, func() error {
		t.expireQuestions(time.Now())
		i := slices.IndexFunc(t.questions, func(q *query) bool { return q.ID == id && q.Hash == hash })
		if i < 0 {
			return ErrNoQuestion
		}
		q := t.questions[i]
		t.questions = slices.Delete(t.questions, i, i+1)
		q.Decided = true
		shown := q.Question
		t.events.add(Event{Question: &shown})
		t.log.Info("a tool was decided on", "tool", q.Tool, "npc", q.NPC, "by", who.Name, "allowed", yes)
		switch {
		case !q.late:
			q.answer <- yes // has room: it is answered once
		case yes:
			t.catchUp(q)
		}
		return nil
	})
}

// catchUp runs a tool that was allowed after its turn was over and has the NPC
// answer once more. The belt checks again what may be called.
func (t *Table) catchUp(q *query) {
	grant := q.grant
	grant.Tier = mcp.Deep
	belt := t.o.Tools.Belt(grant)
	t.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, mcp.Deep.Budget())
		defer cancel()
		call := engine.Call{ID: "routed", Name: q.Tool, Args: q.choice.Params}
		res := belt.Call(ctx, call.Name, call.Args)
		t.post(func() {
			tool := Tool{NPC: q.NPC, Name: q.Tool, Args: q.Args, Tier: mcp.Deep, Result: res.Text, Took: res.Took, Done: true}
			if res.Err != nil {
				tool.Error = res.Err.Error()
			}
			t.showTool(tool)
			a := q.ask
			a.heard, a.results = time.Now(), []string{q.Tool + ": " + res.Text}
			if err := t.direct(a); err != nil {
				t.alert(Alert{Text: err.Error()})
			}
		})
	})
}
