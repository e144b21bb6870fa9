package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/tools/dice"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
	"github.com/glyphoxa/glyphoxa/npc"
)

// evening is a story being played.
type evening struct {
	*story
	t        *testing.T
	campaign *campaigns.Campaign
	path     string // of the memory
	began    time.Time
	store    memory.Store
	host     *mcp.Host
	table    *bot.Table
	stop     func()

	mu          sync.Mutex // guards both
	heard, told strings.Builder
}

var gameMaster = bot.Person{ID: "dm", Name: "DM", DM: true}

func (e *evening) open() {
	t := e.t
	t.Helper()
	var err error
	if e.store, err = sqlite.Open(t.Context(), e.path); err != nil {
		t.Fatal(err)
	}
	if e.host, err = mcp.NewHost(mcp.HostOptions{}); err != nil {
		t.Fatal(err)
	}
	tools, err := builtins(belongings{campaign: e.campaign, store: e.store, dice: dice.NewSeeded(7), dir: filepath.Dir(e.path)})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.host.Add(tools...); err != nil {
		t.Fatal(err)
	}
	o := bot.Options{
		Campaign: e.campaign, Memory: e.store, Tools: e.host, Synth: hum{},
		Brain: func(c npc.Character, p improviser.Persona) engine.Model {
			if len(e.model) > 0 {
				return script{e.model}
			}
			return improviser.New(p, seedOf(c.ID))
		},
	}
	switch e.head["writes"] {
	case "ask":
		o.Writes = mcp.WriteAsk
	case "free":
		o.Writes = mcp.WriteFree
	}
	o.Routing.Ask = e.head["below"] == "ask"
	if e.head["review"] == "yes" {
		o.Routing.Reviewer = script{e.model}
	}
	if e.table, err = bot.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	table, after := e.table, e.table.State().Event
	go func() {
		defer close(done)
		for ev := range table.Events(ctx, after) {
			e.note(ev)
		}
	}()
	e.stop = func() { cancel(); <-done }
}

// close ends the session once everybody has finished.
func (e *evening) close() {
	t := e.t
	t.Helper()
	if err := e.table.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	synctest.Wait() // what has happened is noted
	err := e.table.Close(context.Background())
	e.stop()
	if err := errors.Join(err, e.host.Close(), e.store.Close()); err != nil {
		t.Error(err)
	}
}

func clock(d time.Duration) string {
	d = d.Round(100 * time.Millisecond)
	return fmt.Sprintf("%02d:%04.1f", int(d.Minutes()), (d % time.Minute).Seconds())
}

// note writes down what an event lets the room or the game master know.
func (e *evening) note(ev bot.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := clock(ev.At.Sub(e.began))
	switch {
	case ev.Line != nil && ev.Line.Final && ev.Line.Speaker.NPC && ev.Line.Text != "":
		how := ""
		if ev.Line.Private {
			how = " (in writing)"
		}
		if ev.Line.Cut {
			how = " (cut off)"
		}
		for _, c := range ev.Line.Captions {
			how += " (" + c + ")"
		}
		fmt.Fprintf(&e.heard, "%s %s%s: %s\n", at, ev.Line.Speaker.Name, how, ev.Line.Text)
	case ev.Line != nil && ev.Line.Final && ev.Line.Offer != "":
		fmt.Fprintf(&e.told, "%s answer? %s: %s\n", at, ev.Line.Offer, ev.Line.Text)
	case ev.Card != nil:
		fmt.Fprintf(&e.heard, "%s (card) %s: %s\n", at, ev.Card.Title, ev.Card.Text)
	case ev.Question != nil && !ev.Question.Decided:
		fmt.Fprintf(&e.told, "%s may %s use %s with %s?\n", at, ev.Question.NPC, ev.Question.Tool, ev.Question.Args)
	case ev.Tool != nil && ev.Tool.Done:
		result := ev.Tool.Error
		if result == "" {
			result = "done"
		}
		fmt.Fprintf(&e.told, "%s %s used %s %s: %s\n", at, ev.Tool.NPC, ev.Tool.Name, ev.Tool.Args, result)
	case ev.Turn != nil && ev.Turn.Done && e.head["tiers"] == "yes":
		fmt.Fprintf(&e.told, "%s %s %s\n", at, ev.Turn.NPC, ev.Turn.Why)
	case ev.NPC != nil && e.head["moods"] == "yes":
		var bonds []string
		for _, b := range ev.NPC.Bonds {
			bonds = append(bonds, b.Words+" "+b.Name)
		}
		if line := fmt.Sprintf("%s is %s %s", ev.NPC.ID, ev.NPC.Mood, strings.Join(bonds, ", ")); !strings.Contains(e.told.String(), line+"\n") {
			fmt.Fprintf(&e.told, "%s\n", line)
		}
	case ev.Alert != nil:
		fmt.Fprintf(&e.told, "%s ! %s\n", at, ev.Alert.Text)
	}
}

// play takes the story's moves, each at its time.
func (e *evening) play() {
	e.began = time.Now()
	e.open()
	for _, m := range e.moves {
		at, what, ok := strings.Cut(m, " ")
		min, sec, colon := strings.Cut(at, ":")
		minutes, err := strconv.Atoi(min)
		seconds, err2 := strconv.ParseFloat(sec, 64)
		if !ok || !colon || err != nil || err2 != nil {
			e.t.Fatalf("%s: want MM:SS and what happens, got %q", e.story.path, m)
		}
		due := e.began.Add(time.Duration(minutes)*time.Minute + time.Duration(seconds*float64(time.Second)))
		time.Sleep(time.Until(due))
		synctest.Wait()
		if err := e.move(what); err != nil {
			e.mu.Lock()
			fmt.Fprintf(&e.told, "%s refused: %v\n", clock(time.Since(e.began)), err)
			e.mu.Unlock()
		}
	}
	e.close()
}

// move is one thing that somebody says or does.
func (e *evening) move(what string) error {
	t := e.table
	ctx := e.t.Context()
	order, isOrder := strings.CutPrefix(what, "* ")
	if !isOrder {
		name, text, _ := strings.Cut(what, ": ")
		name, to, private := strings.Cut(name, " -> ")
		who := bot.Person{ID: "player-" + strings.ToLower(name), Name: name}
		if name == "DM" {
			who = gameMaster
		}
		if private {
			return t.Confide(ctx, who, to, text)
		}
		return t.Say(ctx, who, text)
	}
	by := gameMaster
	if name, rest, ok := strings.Cut(order, " tries to "); ok {
		by, order = bot.Person{ID: "player-" + strings.ToLower(name), Name: name}, rest
	}
	words := strings.Fields(order)
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	_, rest, _ := strings.Cut(order, ": ")
	switch strings.TrimSuffix(words[0], ":") {
	case "later": // the game goes on another day
		e.close()
		d, err := time.ParseDuration(words[1])
		if err != nil {
			e.t.Fatal(err)
		}
		time.Sleep(d)
		e.began = e.began.Add(d)
		e.open()
		return nil
	case "stop":
		return t.Stop(ctx, by)
	case "mute", "unmute":
		return t.Mute(ctx, by, arg(1), words[0] == "mute")
	case "scene":
		return t.SetScene(ctx, by, arg(1))
	case "enter", "leave":
		return t.Enter(ctx, by, arg(1), words[0] == "enter")
	case "x-card":
		return t.XCard(ctx, by, true)
	case "go-on":
		return t.XCard(ctx, by, false)
	case "speak":
		return t.SpeakAs(ctx, by, strings.TrimSuffix(arg(1), ":"), rest)
	case "prompt":
		return t.Prompt(ctx, by, arg(1))
	case "direct":
		return t.Direct(ctx, by, strings.TrimSuffix(arg(1), ":"), rest)
	case "whisper":
		return t.Whisper(ctx, by, strings.TrimSuffix(arg(1), ":"), rest)
	case "correct":
		lines := t.State().Lines
		return t.Correct(ctx, by, lines[len(lines)-1].ID, rest)
	case "decide":
		q := t.State().Questions
		if len(q) == 0 {
			return bot.ErrNoQuestion
		}
		return t.Decide(ctx, by, q[0].ID, q[0].Hash, arg(1) == "yes")
	case "answer":
		lines := t.State().Lines
		i := slices.IndexFunc(lines, func(l bot.Line) bool { return l.Offer == arg(1) })
		if i < 0 {
			i = len(lines) - 1
		}
		return t.Answer(ctx, by, lines[i].ID, arg(1))
	}
	// The rest is what a game master may write in a terminal.
	return steer(ctx, t, by, "/"+words[0], strings.Join(words[1:], " "), stdio{out: &e.told})
}

// kept is what the store holds of the story, and for whom.
func (e *evening) kept() string {
	ctx := e.t.Context()
	store, err := sqlite.Open(ctx, e.path)
	if err != nil {
		e.t.Fatal(err)
	}
	defer store.Close()
	lines, err := store.Recent(ctx, memory.Viewer{Campaign: e.campaign.ID}, memory.Window{Limit: 200})
	if err != nil {
		e.t.Fatal(err)
	}
	var b strings.Builder
	before := ""
	for _, l := range lines {
		heard := strings.Join([]string(l.Audience), " ")
		if heard != before {
			fmt.Fprintf(&b, "[%s]\n", heard)
			before = heard
		}
		b.WriteString(l.Speaker.Name)
		for _, mark := range []struct {
			is   bool
			what string
		}{{l.Aside, "aside"}, {l.Whisper, "whispered"}, {l.Cut, "cut off"}} {
			if mark.is {
				b.WriteString(" (" + mark.what + ")")
			}
		}
		fmt.Fprintf(&b, ": %s\n", l.Text)
	}
	return b.String()
}

func TestStories(t *testing.T) {
	paths, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d stories (%v), want at least 40", len(paths), err)
	}
	shipped := map[string]*campaigns.Campaign{}
	for _, path := range paths {
		s := readStory(t, path)
		name := s.head["campaign"]
		if name == "" {
			name = "gilded-flagon"
		}
		if shipped[name] == nil {
			c, err := openCampaign(name)
			if err != nil {
				t.Fatal(err)
			}
			shipped[name] = c
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			e := &evening{story: s, campaign: retold(*shipped[name], s.head), path: filepath.Join(t.TempDir(), "memory.db")}
			got := map[string]string{}
			synctest.Test(t, func(t *testing.T) {
				e.t = t
				e.play()
				got["memory"] = e.kept()
			})
			got["heard"], got["told"] = e.heard.String(), e.told.String()
			if *update {
				s.write(t, got)
				return
			}
			for _, section := range []string{"heard", "told", "memory"} {
				if diff := cmp.Diff(s.want[section], got[section]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", section, diff)
				}
			}
		})
	}
}

// retold is a campaign as the head of a story changes it: its language, and how and
// with which tools its NPCs choose.
func retold(c campaigns.Campaign, head map[string]string) *campaigns.Campaign {
	c.NPCs = slices.Clone(c.NPCs)
	if l := head["language"]; l != "" {
		c.Language = l
	}
	for i := range c.NPCs {
		if head["choice"] != "" {
			c.NPCs[i].ToolChoice = head["choice"]
		}
		if head["tools"] != "" {
			c.NPCs[i].Tools = strings.Fields(head["tools"])
		}
		if l := head["language"]; l != "" {
			c.NPCs[i].Language = l
		}
	}
	return &c
}
