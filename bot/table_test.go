package bot

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/voice/music"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

var (
	mira = Person{ID: "p-mira", Name: "Mira"}
	odo  = Person{ID: "p-odo", Name: "Odo"}
	lead = Person{ID: "p-dm", Name: "Lead", DM: true}
)

// reply is a model that says a fixed text, or asks for a tool first.
type reply struct {
	text string
	call *engine.Call
	wait <-chan struct{} // before the first word
}

func (reply) Name() string { return "reply" }

func (m reply) Stream(ctx context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		if m.wait != nil {
			select {
			case <-m.wait:
			case <-ctx.Done():
				yield(engine.Delta{}, context.Cause(ctx))
				return
			}
		}
		if m.call != nil && len(r.Tools) > 0 {
			if !yield(engine.Delta{Calls: []engine.Call{*m.call}}, nil) {
				return
			}
		} else if !yield(engine.Delta{Text: m.text}, nil) {
			return
		}
		yield(engine.Delta{Done: true}, nil)
	}
}

// hum speaks every letter as one frame.
type hum struct{}

func (hum) Name() string { return "hum" }

func (hum) Speak(ctx context.Context, _ engine.Voice, text string) iter.Seq2[engine.Speech, error] {
	return func(yield func(engine.Speech, error) bool) {
		for range text {
			s := engine.Speech{Chunk: pcm.Chunk{Rate: pcm.Rate, Samples: make([]int16, pcm.FrameSize)}}
			if ctx.Err() != nil || !yield(s, nil) {
				return
			}
		}
	}
}

// setup is a table with the shipped campaign, a real store and a real host.
type setup struct {
	brain   engine.Model
	synth   engine.Synthesizer
	ear     engine.Recognizer
	path    string
	tools   []mcp.Builtin
	unpaced bool
	forgets bool
	routing Routing
	// additions and feedback are files, recordings a folder; "" keeps none.
	additions, feedback string
	recordings          *Recordings
	budget              Budget
	music               *music.Library
	change              func(*campaigns.Campaign) // before the table opens
}

func (s setup) open(t *testing.T) (*Table, memory.Store) {
	t.Helper()
	fsys, err := campaigns.ShippedFolder("gilded-flagon")
	if err != nil {
		t.Fatal(err)
	}
	c, problems := campaigns.Load(fsys, campaigns.Options{})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if s.change != nil {
		s.change(c)
	}
	if s.path == "" {
		s.path = filepath.Join(t.TempDir(), "memory.db")
	}
	store, err := sqlite.Open(t.Context(), s.path)
	if err != nil {
		t.Fatal(err)
	}
	host, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Add(s.tools...); err != nil {
		t.Fatal(err)
	}
	table, err := Open(t.Context(), Options{
		Campaign: c, Memory: store, Tools: host, Synth: s.synth, Ear: s.ear, Unpaced: s.unpaced, Forgetful: s.forgets, Routing: s.routing,
		Additions: s.additions, Feedback: s.feedback, Budget: s.budget, Recordings: s.recordings, Music: s.music,
		Brain: func(npc.Character, improviser.Persona) engine.Model { return s.brain },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := table.Close(context.Background())
		if err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if err := errors.Join(host.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return table, store
}

func settle(t *testing.T, table *Table) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := table.Settle(ctx); err != nil {
		t.Fatal(err)
	}
}

// talk lists "Name: text" of the snapshot's lines.
func talk(table *Table) []string {
	var out []string
	for _, l := range table.State().Lines {
		out = append(out, l.Speaker.Name+": "+l.Text)
	}
	return out
}

func TestOnlyTheAddressedNPCAnswersAndBothLinesAreRemembered(t *testing.T) {
	table, store := setup{brain: reply{text: "Stew, friend."}}.open(t)
	if err := table.Say(t.Context(), mira, "Bartok, what's in the pot tonight?"); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	want := []string{"Mira: Bartok, what's in the pot tonight?", "Bartok the Barkeep: Stew, friend."}
	if diff := cmp.Diff(want, talk(table)); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	if err := table.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines, err := store.Recent(t.Context(), memory.Viewer{Campaign: "gilded-flagon", Entity: "bartok"}, memory.Window{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		got = append(got, l.Speaker.Name+": "+l.Text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
}

func TestForgetfulTableStoresNoLine(t *testing.T) {
	table, store := setup{brain: reply{text: "Stew, friend."}, forgets: true}.open(t)
	if err := table.Say(t.Context(), mira, "Bartok, what's in the pot tonight?"); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	if got := talk(table); len(got) != 2 {
		t.Errorf("the talk is %q, want the line and its answer", got)
	}
	if err := table.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines, err := store.Recent(t.Context(), memory.Viewer{Campaign: "gilded-flagon"}, memory.Window{})
	if err != nil || len(lines) > 0 {
		t.Errorf("memory holds %+v, %v, want nothing", lines, err)
	}
}

func TestTableTalkIsHeardAndAnsweredByNobody(t *testing.T) {
	table, _ := setup{brain: reply{text: "Stew, friend."}}.open(t)
	if err := table.Say(t.Context(), mira, "Whose turn is it to get the pizza from the door?"); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	if got := talk(table); len(got) != 1 {
		t.Errorf("somebody answered table talk: %q", got)
	}
}

func TestTypingOverAnNPCCutsItOffAndKeepsOnlyWhatWasHeard(t *testing.T) {
	table, _ := setup{brain: reply{text: strings.Repeat("Well now my dear friend. ", 40)}, synth: hum{}}.open(t)
	if err := table.Say(t.Context(), mira, "Bartok, tell me a long story."); err != nil {
		t.Fatal(err)
	}
	frames := 0
	for s := range table.Sound(t.Context()) {
		if s.Samples != nil {
			if frames++; frames == 25 {
				break
			}
		}
	}
	sounds := table.Sound(t.Context())
	start := time.Now()
	if err := table.Say(t.Context(), mira, "Never mind, we are leaving."); err != nil {
		t.Fatal(err)
	}
	for s := range sounds {
		if s.Flush {
			break
		}
	}
	t.Logf("silent after %v", time.Since(start))
	settle(t, table)
	lines := table.State().Lines
	i := slices.IndexFunc(lines, func(l Line) bool { return l.Speaker.NPC })
	if i < 0 || !lines[i].Cut || lines[i].Text == "" || len(lines[i].Text) > 200 {
		t.Errorf("lines are %+v, want Bartok's first words, cut", lines)
	}
}

func TestClosingTableKeepsWhatWasHeardOfTheLastSentence(t *testing.T) {
	table, store := setup{brain: reply{text: strings.Repeat("Well now my dear friend. ", 40)}, synth: hum{}}.open(t)
	if err := table.Say(t.Context(), mira, "Bartok, tell me a long story."); err != nil {
		t.Fatal(err)
	}
	for s := range table.Sound(t.Context()) {
		if s.Samples != nil {
			break
		}
	}
	if err := table.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines, err := store.Recent(t.Context(), memory.Viewer{Campaign: "gilded-flagon"}, memory.Window{})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 2 || !lines[1].Cut || lines[1].Text == "" || len(lines[1].Text) > 200 {
		t.Errorf("memory holds %+v, want the question and the first words of the story, cut", lines)
	}
}

func TestToolRunsThroughTheBeltAndIsShown(t *testing.T) {
	roll := mcp.Builtin{
		Tool: mcp.Tool{
			Name: "roll", Description: "rolls", Category: mcp.Core, Estimated: time.Millisecond, Max: time.Second,
			Schema: json.RawMessage(`{"type":"object","properties":{"expression":{"type":"string"}},"required":["expression"]}`),
		},
		Call: func(context.Context, mcp.Caller, json.RawMessage) (string, error) { return `{"total":9}`, nil },
	}
	table, _ := setup{
		brain: reply{text: "A nine!", call: &engine.Call{ID: "1", Name: "roll", Args: json.RawMessage(`{"expression":"2d6+3"}`)}},
		tools: []mcp.Builtin{roll},
	}.open(t)
	if err := table.Say(t.Context(), mira, "Bartok, roll two d six plus three"); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	st := table.State()
	if len(st.Tools) != 1 || !st.Tools[0].Done || st.Tools[0].Result == "" || st.Tools[0].Name != "roll" {
		t.Errorf("tools shown: %+v, want one finished roll", st.Tools)
	}
	if len(st.Turns) != 1 || !st.Turns[0].Done || st.Turns[0].Why == "" {
		t.Errorf("turns shown: %+v, want one with its tier's reason", st.Turns)
	}
}

func TestReopenedTableGoesOnWhereItStopped(t *testing.T) {
	s := setup{brain: reply{text: "Stew, friend."}, path: filepath.Join(t.TempDir(), "memory.db")}
	first, _ := s.open(t)
	if err := first.Say(t.Context(), mira, "Bartok, what's in the pot tonight?"); err != nil {
		t.Fatal(err)
	}
	settle(t, first)
	before := talk(first)
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, _ := s.open(t)
	if diff := cmp.Diff(before, talk(second)); diff != "" {
		t.Errorf("the second table shows (-want +got):\n%s", diff)
	}
}

func TestOnlyTheDMMayDirect(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}}.open(t)
	for name, act := range map[string]func(Person) error{
		"mute":    func(p Person) error { return table.Mute(t.Context(), p, "bartok", true) },
		"scene":   func(p Person) error { return table.SetScene(t.Context(), p, table.State().Scenes[0].ID) },
		"enter":   func(p Person) error { return table.Enter(t.Context(), p, "bartok", true) },
		"speakas": func(p Person) error { return table.SpeakAs(t.Context(), p, "greymantle", "Hm.") },
		"go on":   func(p Person) error { return table.XCard(t.Context(), p, false) },
	} {
		if err := act(mira); !errors.Is(err, ErrNotAllowed) {
			t.Errorf("%s by a player: %v, want %v", name, err, ErrNotAllowed)
		}
		if err := act(lead); err != nil {
			t.Errorf("%s by the DM: %v", name, err)
		}
		settle(t, table)
	}
}

func TestXCardSilencesEverybodyUntilTheDMGoesOn(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}}.open(t)
	if err := table.XCard(t.Context(), odo, true); err != nil {
		t.Fatal(err)
	}
	if err := table.Say(t.Context(), mira, "Bartok, are you there?"); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	if got := talk(table); len(got) != 1 {
		t.Errorf("somebody spoke under the X-card: %q", got)
	}
	for _, a := range table.State().Alerts {
		if strings.Contains(a.Text, odo.Name) {
			t.Errorf("the alert names who played the card: %q", a.Text)
		}
	}
	if err := table.XCard(t.Context(), lead, false); err != nil {
		t.Fatal(err)
	}
	if err := table.Say(t.Context(), mira, "Bartok, are you there?"); err != nil {
		t.Fatal(err)
	}
	settle(t, table)
	if got := talk(table); len(got) != 3 {
		t.Errorf("after going on the talk is %q, want an answer", got)
	}
}

func TestBadLinesAreRefusedWithAReason(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}}.open(t)
	for line, want := range map[string]error{
		"": ErrEmpty, " \t\n\x00": ErrEmpty, strings.Repeat("word ", 1000): ErrTooLong, "\u202e\u2066": ErrEmpty,
	} {
		if err := table.Say(t.Context(), mira, line); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", line, err, want)
		}
	}
}

func TestReaderThatComesBackMissesNoEvent(t *testing.T) {
	l := newEventLog()
	for range 3 * logSize / 2 {
		l.add(Event{Alert: &Alert{}})
	}
	next := uint64(logSize/2 + 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e := range l.follow(ctx, 5) {
		if e.ID != next {
			t.Fatalf("got event %d, want %d", e.ID, next)
		}
		if next++; e.ID == 3*logSize/2 {
			cancel()
		}
	}
	if got, want := next, uint64(3*logSize/2+1); got != want {
		t.Errorf("reading ended before event %d, want %d", got, want)
	}
}
