package bot

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
)

// listener is a model that keeps what it was asked.
type listener struct {
	mu    sync.Mutex
	asked []string
}

func (*listener) Name() string { return "listener" }

func (l *listener) Stream(_ context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		var b strings.Builder
		b.WriteString(r.System)
		for _, m := range r.Messages {
			b.WriteString("\n" + m.Name + ": " + m.Text)
		}
		l.mu.Lock()
		l.asked = append(l.asked, b.String())
		l.mu.Unlock()
		_ = yield(engine.Delta{Text: "Aye."}, nil) && yield(engine.Delta{Done: true}, nil)
	}
}

func (l *listener) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.asked) == 0 {
		return ""
	}
	return l.asked[len(l.asked)-1]
}

func TestWhisperReachesTheNextAnswerOfThatNPCOnlyAndNoPage(t *testing.T) {
	brain := &listener{}
	table, _ := setup{brain: brain}.open(t)
	ctx := t.Context()
	if err := table.Whisper(ctx, lead, "bartok", "he is lying to you"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		if err := table.Say(ctx, mira, "Bartok, is the cellar dry?"); err != nil {
			t.Fatal(err)
		}
		settle(t, table)
		if got := strings.Contains(brain.last(), "he is lying to you"); got != want {
			t.Errorf("answer %d knows the whisper: %v, want %v", i+1, got, want)
		}
	}
	for _, l := range table.State().Lines {
		if strings.Contains(l.Text, "lying") {
			t.Errorf("a page shows %q", l.Text)
		}
	}
}

func TestPromptAndDirectHaveAnNPCSpeakByItself(t *testing.T) {
	brain := &listener{}
	table, _ := setup{brain: brain}.open(t)
	ctx := t.Context()
	for text, do := range map[string]func() error{
		speakUp:                    func() error { return table.Prompt(ctx, lead, "bartok") },
		"tell them it is late now": func() error { return table.Direct(ctx, lead, "bartok", "tell them it is late now") },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		settle(t, table)
		if !strings.Contains(brain.last(), text) {
			t.Errorf("the NPC was not told %q, but %q", text, brain.last())
		}
		lines := table.State().Lines
		if last := lines[len(lines)-1]; last.Speaker.ID != "bartok" || last.Text != "Aye." {
			t.Errorf("after %q the last line is %+v", text, last)
		}
	}
}

func TestDirectionNeedsAModelThatCanWordIt(t *testing.T) {
	table, _ := setup{brain: recital("")}.open(t)
	if err := table.Direct(t.Context(), lead, "bartok", "be kind"); err != nil {
		t.Errorf("another model: %v", err)
	}
	table, _ = setup{brain: titled{"the improviser"}}.open(t)
	if err := table.Direct(t.Context(), lead, "bartok", "be kind"); !errors.Is(err, ErrNoWords) {
		t.Errorf("got %v, want %v", err, ErrNoWords)
	}
}

// titled is a silent model with a name.
type titled struct{ name string }

func (n titled) Name() string { return n.name }

// Follows is false: it can word nothing.
func (titled) Follows(string) bool { return false }
func (titled) Stream(context.Context, engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) { yield(engine.Delta{Done: true}, nil) }
}

func TestCorrectionIsShownAndTheNameIsHeardFromThenOn(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}}.open(t)
	ctx := t.Context()
	if err := table.Say(ctx, mira, "we met loaf garr at the bridge"); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	lines := table.State().Lines
	id := lines[len(lines)-1].ID
	if err := table.Correct(ctx, mira, id, "no"); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("a player corrected a line: %v", err)
	}
	if err := table.Correct(ctx, lead, id, "We met Lofgar at the bridge."); err != nil {
		t.Fatal(err)
	}
	lines = table.State().Lines
	if got := lines[len(lines)-1].Text; got != "We met Lofgar at the bridge." {
		t.Errorf("the page shows %q", got)
	}
	if err := table.do(ctx, func() error {
		table.heard(mira, engine.Utterance{ID: "u1", Text: "where is loaf garr now"}, nil)
		table.hearing++ // heard counts down what Listen has counted up
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	lines = table.State().Lines
	if got := lines[len(lines)-1].Text; got != "where is Lofgar now" {
		t.Errorf("the same name was heard as %q", got)
	}
	if err := table.Correct(ctx, lead, "nothing", "x"); err == nil {
		t.Error("a line that is not there was corrected")
	}
}

func TestLessonsAreNamesAndNotTheBeginningsOfSentences(t *testing.T) {
	for _, tc := range []struct {
		heard, meant string
		want         []lesson
	}{
		{"we met loaf garr", "We met Lofgar", []lesson{{"loaf garr", "Lofgar"}}},
		{"where did it go", "There it goes", nil},
		{"tell bar talk and gray mantel", "tell Bartok and Greymantle", []lesson{{"bar talk", "Bartok"}, {"gray mantel", "Greymantle"}}},
		{"the cat sat", "the dog sat", nil},
		{"bartok hello", "Bartok, hello!", nil},
		{"yes", "yes", nil},
	} {
		if diff := cmp.Diff(tc.want, lessons(tc.heard, tc.meant), cmp.AllowUnexported(lesson{})); diff != "" {
			t.Errorf("%q meant %q (-want +got):\n%s", tc.heard, tc.meant, diff)
		}
	}
}

func TestAnybodyPausesAndOnlyTheDMGoesOn(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}}.open(t)
	ctx := t.Context()
	if err := table.Pause(ctx, mira, true); err != nil {
		t.Fatal(err)
	}
	if s := table.State(); !s.Paused || !s.Stopped {
		t.Errorf("paused %v, stopped %v", s.Paused, s.Stopped)
	}
	if err := table.do(ctx, func() error {
		table.hearing++
		table.heard(mira, engine.Utterance{ID: "u1", Text: "Bartok, hello"}, nil)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if lines := table.State().Lines; len(lines) > 0 {
		t.Errorf("something was heard during the pause: %+v", lines)
	}
	if err := table.Pause(ctx, mira, false); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("a player ended the pause: %v", err)
	}
	if err := table.Pause(ctx, lead, false); err != nil {
		t.Fatal(err)
	}
	if s := table.State(); s.Paused || s.Stopped {
		t.Errorf("paused %v, stopped %v after the DM went on", s.Paused, s.Stopped)
	}
}

func TestTierOfOneNPCLiftsItsCeilingAndEndsByItself(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}}.open(t)
	ctx := t.Context()
	ceiling := table.State().NPCs[0].Ceiling
	id := table.State().NPCs[0].ID
	if ceiling == mcp.Deep {
		t.Fatal("this NPC cannot be lifted")
	}
	if err := table.SetTier(ctx, lead, id, mcp.Deep, 2*MaxGrant); err == nil {
		t.Error("a tier was set for longer than allowed")
	}
	if err := table.SetTier(ctx, mira, id, mcp.Deep, 0); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("a player set a tier: %v", err)
	}
	answered := func() mcp.Tier {
		if err := table.SayTo(ctx, mira, id, "what is new?"); err != nil {
			t.Fatal(err)
		}
		settle(t, table)
		turns := table.State().Turns
		return turns[len(turns)-1].Tier
	}
	if err := table.SetTier(ctx, lead, id, mcp.Deep, 1); err != nil { // a nanosecond
		t.Fatal(err)
	}
	if got := answered(); got > ceiling {
		t.Errorf("a grant that has ended gave %v", got)
	}
	if err := table.SetTier(ctx, lead, id, mcp.Deep, MaxGrant); err != nil {
		t.Fatal(err)
	}
	if l := table.State().NPCs[0].Lifted; l == nil || l.Tier != mcp.Deep || l.Until.IsZero() {
		t.Errorf("the page shows %+v", l)
	}
	if got := answered(); got != mcp.Deep {
		t.Errorf("a lifted NPC answered in %v", got)
	}
	if err := table.ClearTier(ctx, lead, ""); err != nil {
		t.Fatal(err)
	}
	if got := answered(); got > ceiling {
		t.Errorf("after clearing it answered in %v", got)
	}
}

func TestToolThatIsSwitchedOffIsOnNoBelt(t *testing.T) {
	calls := 0
	roll := mcp.Builtin{
		Tool: mcp.Tool{Name: "roll", ReadOnly: true, Description: "rolls", Category: mcp.Core, Schema: []byte(`{"type":"object"}`), Estimated: time.Millisecond, Max: time.Second},
		Call: func(context.Context, mcp.Caller, json.RawMessage) (string, error) { calls++; return "7", nil },
	}
	table, _ := setup{brain: reply{text: "Seven.", call: &engine.Call{ID: "1", Name: "roll", Args: json.RawMessage(`{}`)}}, tools: []mcp.Builtin{roll}}.open(t)
	ctx := t.Context()
	ask := func() int {
		calls = 0
		if err := table.SayTo(ctx, mira, "bartok", "Roll for me!"); err != nil {
			t.Fatal(err)
		}
		settle(t, table)
		return calls
	}
	if err := table.AllowTool(ctx, lead, "roll", false); err != nil {
		t.Fatal(err)
	}
	if n := ask(); n != 0 {
		t.Errorf("a tool that is switched off ran %d times", n)
	}
	if s := table.State(); !slices.Equal(s.Barred, []string{"roll"}) {
		t.Errorf("the page shows %v as switched off", s.Barred)
	}
	if err := table.AllowTool(ctx, lead, "roll", true); err != nil {
		t.Fatal(err)
	}
	if n := ask(); n == 0 {
		t.Error("a tool that was switched on again did not run")
	}
	if err := table.AllowTool(ctx, lead, "no_such_tool", false); err == nil {
		t.Error("a tool that is not there was switched off")
	}
	if err := table.AllowTool(ctx, mira, "roll", false); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("a player switched a tool off: %v", err)
	}
}

func TestWhatIsAddedAtTheTableOutlivesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "added.json")
	table, store := setup{brain: reply{text: "Aye."}, additions: path}.open(t)
	ctx := t.Context()
	weir := memory.Entity{ID: "weir", Kind: "location", Name: "The Weir", Text: "A weir.", Audience: memory.Audience{memory.Everyone}}
	if err := table.AddEntities(ctx, mira, weir); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("a player added to the world: %v", err)
	}
	if err := table.AddEntities(ctx, lead, weir); err != nil {
		t.Fatal(err)
	}
	taken := weir
	taken.ID = "bartok"
	if err := table.AddEntities(ctx, lead, taken); err == nil {
		t.Error("an entity of the campaign was replaced")
	}
	viewer := memory.Viewer{Campaign: table.o.Campaign.ID, Entity: "bartok"}
	if e, err := store.Entity(ctx, viewer, "weir"); err != nil || e.Name != "The Weir" {
		t.Errorf("memory has %+v, %v", e, err)
	}
	added, err := readAdditions(path)
	if err != nil || len(added) != 1 {
		t.Errorf("kept %+v, %v", added, err)
	}
	if err := table.RemoveEntity(ctx, lead, "bartok"); err == nil {
		t.Error("an entity of the campaign was removed")
	}
	if err := table.RemoveEntity(ctx, lead, "weir"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Entity(ctx, viewer, "weir"); !errors.Is(err, memory.ErrUnknown) {
		t.Errorf("after removing it: %v", err)
	}
}
