package bot

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/tools/rules"
)

// unsure is a model that would roll, but is not sure of it.
type unsure struct{}

func (unsure) Name() string { return "gemma, unsure" }

func (unsure) Stream(_ context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		text := "I shall see."
		if r.JSON {
			text = `{"selected_tool":"roll","params":{"expression":"1d6"},"reasoning":"perhaps dice","confidence":0.5}`
		}
		_ = yield(engine.Delta{Text: text}, nil) && yield(engine.Delta{Done: true}, nil)
	}
}

// thrower is a roll tool that counts its calls.
func thrower(calls *int) mcp.Builtin {
	return mcp.Builtin{
		Tool: mcp.Tool{
			Name: "roll", Description: "Roll dice.", Category: mcp.Core, ReadOnly: true, Estimated: time.Millisecond, Max: time.Second,
			Schema: json.RawMessage(`{"type":"object","properties":{"expression":{"type":"string"}},"required":["expression"]}`),
		},
		Call: func(context.Context, mcp.Caller, json.RawMessage) (string, error) {
			*calls++
			return `{"total":4}`, nil
		},
	}
}

// asked is a table at which Bartok has asked to roll and waits for the DM.
func asked(t *testing.T, calls *int) (*Table, Question) {
	t.Helper()
	table, _ := setup{brain: unsure{}, tools: []mcp.Builtin{thrower(calls)}, routing: Routing{Ask: true}}.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	after := table.State().Event
	if err := table.Say(t.Context(), mira, "Bartok, roll a die for me."); err != nil {
		t.Fatal(err)
	}
	for e := range table.Events(ctx, after) {
		if e.Question != nil {
			return table, *e.Question
		}
	}
	t.Fatal("nothing was asked")
	return nil, Question{}
}

func TestAQuestionIsDecidedByTheDMOnceAndAsItWasShown(t *testing.T) {
	calls := 0
	table, q := asked(t, &calls)
	if q.Tool != "roll" || q.Args != `{"expression":"1d6"}` || q.Confidence != 0.5 {
		t.Errorf("the DM was asked %+v", q)
	}
	for _, tt := range []struct {
		what     string
		who      Person
		id, hash string
		want     error
	}{
		{"a player", mira, q.ID, q.Hash, ErrNotAllowed},
		{"other arguments", lead, q.ID, "0000", ErrNoQuestion},
		{"another question", lead, "x", q.Hash, ErrNoQuestion},
		{"as shown", lead, q.ID, q.Hash, nil},
		{"a second time", lead, q.ID, q.Hash, ErrNoQuestion},
	} {
		if err := table.Decide(t.Context(), tt.who, tt.id, tt.hash, true); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.what, err, tt.want)
		}
	}
	settle(t, table)
	if calls != 1 {
		t.Errorf("the dice were thrown %d times, want once", calls)
	}
}

func TestWhatTheDMRefusesIsNotDone(t *testing.T) {
	calls := 0
	table, q := asked(t, &calls)
	if err := table.Decide(t.Context(), lead, q.ID, q.Hash, false); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	if calls != 0 {
		t.Errorf("the dice were thrown %d times, want never", calls)
	}
}

func TestARulesQuestionToNobodyBecomesACard(t *testing.T) {
	library, err := rules.New(rules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, _ := setup{brain: reply{text: "Hm."}, tools: rules.Tools(library)}.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	after := table.State().Event
	if err := table.Say(t.Context(), mira, "How does grappling work?"); err != nil {
		t.Fatal(err)
	}
	for e := range table.Events(ctx, after) {
		if e.Card == nil {
			continue
		}
		if !strings.Contains(strings.ToLower(e.Card.Title), "grappl") || e.Card.Text == "" {
			t.Errorf("the card says %+v", e.Card)
		}
		break
	}
	if n := len(table.State().Lines); n != 1 {
		t.Errorf("%d lines, want only the question", n)
	}
}

func TestOnlyTheDMChangesMoodsAndOpinionsWithinTheCampaign(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}}.open(t)
	if err := table.Say(t.Context(), mira, "Bartok, good evening."); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	ctx := t.Context()
	for what, err := range map[string]error{
		"a player sets a mood":  table.SetMood(ctx, mira, "bartok", "worried"),
		"a player sets a bond":  table.SetBond(ctx, mira, "bartok", mira.ID, 100),
		"a player grants time":  table.TakeTime(ctx, mira, "bartok"),
		"a mood of no campaign": table.SetMood(ctx, lead, "bartok", "murderous"),
		"a bond to a stranger":  table.SetBond(ctx, lead, "bartok", "nobody", 1),
		"no such NPC":           table.TakeTime(ctx, lead, "nobody"),
	} {
		if err == nil {
			t.Errorf("%s: want an error", what)
		}
	}
	if err := errors.Join(table.SetMood(ctx, lead, "bartok", "worried"), table.SetBond(ctx, lead, "bartok", mira.ID, 999)); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(table.State().NPCs, func(n NPC) bool { return n.ID == "bartok" })
	card := table.State().NPCs[i]
	if card.Mood != "worried" || len(card.Bonds) != 1 || card.Bonds[0].Value != 100 || card.Bonds[0].Name != "Mira" {
		t.Errorf("the card shows %q and %+v", card.Mood, card.Bonds)
	}
}

func TestASincereQuestionGetsATrueAnswerWhateverTheModelSays(t *testing.T) {
	table, _ := setup{brain: reply{text: "I am a real person."}}.open(t)
	if err := table.Say(t.Context(), mira, "Bartok, am I talking to a real person?"); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	lines := talk(table)
	if last := lines[len(lines)-1]; !strings.Contains(last, "software") {
		t.Errorf("Bartok answered %q", last)
	}
}

func TestToolsThatRunProgramsStayDryWithoutLeave(t *testing.T) {
	for name, want := range map[string]bool{"run_command": true, "server__exec": true, "bash": true, "write_file": false, "roll": false, "runes": false} {
		if got := (mcp.Tool{Name: name}).Executes(); got != want {
			t.Errorf("%s: executes %t, want %t", name, got, want)
		}
	}
}
