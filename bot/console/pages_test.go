package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/console"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
	"github.com/google/go-cmp/cmp"
)

// library is a console whose table remembers a small world. Every name and
// sentence in it contains word.
func library(t *testing.T, word string) *house {
	t.Helper()
	ctx := t.Context()
	store, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { must(store.Close()) })
	everyone := memory.Audience{memory.Everyone}
	must(store.PutWorld(ctx, "c", []memory.Entity{
		{ID: "bartok", Kind: memory.NPC, Name: "Bartok " + word, Text: "keeps the inn " + word, Audience: everyone,
			Facts: []memory.Fact{
				{ID: "open", Text: "sings badly " + word, Audience: everyone},
				{ID: "hidden", Text: "waters the ale " + word, Audience: memory.Audience{"greymantle"}},
			},
			Relations: []memory.Relation{{Kind: "owns " + word, To: "inn", Audience: everyone}}},
		{ID: "greymantle", Kind: memory.NPC, Name: "Greymantle " + word, Text: "a sage " + word, Audience: everyone},
		{ID: "inn", Kind: memory.Location, Name: "The Gilded Flagon " + word, Aliases: []string{"the Flagon " + word}, Text: "an inn " + word, Audience: everyone},
		{ID: "vault", Kind: memory.Location, Name: "The vault " + word, Text: "under the mill " + word},
	}))
	start := time.Date(2026, 11, 20, 19, 0, 0, 0, time.UTC)
	must(store.StartSession(ctx, memory.Session{ID: "s1", Campaign: "c", Started: start}))
	must(store.Append(ctx,
		memory.Line{ID: "l1", Campaign: "c", Session: "s1", Speaker: memory.Speaker{ID: "player-mira", Name: "Mira " + word, Kind: memory.PlayerSpeaker}, At: start, Text: "I will find the brass compass of Gundren " + word, Audience: everyone},
		memory.Line{ID: "l2", Campaign: "c", Session: "s1", Speaker: memory.Speaker{ID: "player-mira", Name: "Mira " + word, Kind: memory.PlayerSpeaker}, At: start.Add(time.Minute), Text: "I whisper that the compass is already mine " + word, Whisper: true, Audience: memory.Audience{"bartok"}},
	))
	must(store.Learn(ctx, "c", memory.Claim{ID: "new", Form: memory.FactForm, Subject: "bartok", Text: "owes Mira a favour " + word, Source: "l1", Status: memory.Proposed, Audience: everyone}))

	host, err := mcp.NewHost(mcp.HostOptions{})
	must(err)
	t.Cleanup(func() { must(host.Close()) })
	must(host.Add(mcp.Builtin{
		Tool: mcp.Tool{Name: "burn_letter", Description: "Burn a letter " + word, Schema: json.RawMessage(`{"type":"object","properties":{"which":{"type":"string"}}}`), Writes: true},
		Call: func(context.Context, mcp.Caller, json.RawMessage) (string, error) { return "burnt", nil },
	}))
	args, err := json.Marshal(map[string]string{"which": "the letter " + word})
	must(err)
	host.Belt(mcp.Grant{Caller: mcp.Caller{NPC: "bartok"}, Allow: []string{"burn_letter"}, Tier: mcp.Deep, Writes: mcp.WriteAsk}).Call(ctx, "burn_letter", args)
	return open(t, newTavern(), console.Options{Archive: bot.NewArchive(store, "c"), Workshop: bot.NewWorkshop(host)})
}

var sidePaths = []string{"/turns", "/knowledge", "/knowledge?topic=bartok", "/knowledge?as=bartok&topic=inn", "/recap", "/recap?length=long&for=players", "/tools", "/privacy"}

func TestPagesBesideTheTableAreForTheDM(t *testing.T) {
	h := library(t, "")
	for _, role := range []console.Role{console.Spectator, console.Player, console.DM} {
		v := h.guest(role, "Mira")
		want := http.StatusForbidden
		if role == console.DM {
			want = http.StatusOK
		}
		for _, path := range append(sidePaths, "/export", "/export?player=player-mira") {
			if status, text := v.get(path); status != want {
				t.Errorf("%s for a %v: %d %.200q, want %d", path, role, status, text, want)
			}
		}
		for _, action := range []string{"judge", "forget", "opt-out", "decide", "agree", "restart"} {
			if status, _ := v.do(action); role != console.DM && status != http.StatusForbidden {
				t.Errorf("%s by a %v: %d", action, role, status)
			}
		}
	}
}

func TestPagesWithoutTheirPartsAreNotThere(t *testing.T) {
	h := open(t, newTavern(), console.Options{})
	v := h.guest(console.DM, "")
	page := v.load()
	for _, path := range []string{"/knowledge", "/tools", "/recap", "/privacy", "/export"} {
		if status, _ := v.get(path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
		if strings.Contains(page, `href="`+path) {
			t.Errorf("the table leads to %s", path)
		}
	}
	for _, action := range []string{"judge", "forget", "opt-out", "decide", "agree", "restart"} {
		if status, text := v.do(action, "hash", "x", "player", "p"); status != http.StatusUnprocessableEntity || !strings.Contains(text, "cannot do that") {
			t.Errorf("%s: %d %q", action, status, text)
		}
	}
}

func TestKnowledgeIsSeenThroughSomebodysEyes(t *testing.T) {
	v := library(t, "").guest(console.DM, "")
	_, all := v.get("/knowledge?topic=bartok")
	for _, want := range []string{"The vault", "waters the ale", "sings badly", "owns", "owes Mira a favour"} {
		if !strings.Contains(all, want) {
			t.Errorf("the game master does not see %q", want)
		}
	}
	_, his := v.get("/knowledge?as=bartok&topic=bartok")
	_, before, _ := strings.Cut(his, "<main")
	drawn, _, _ := strings.Cut(before, "review-head")
	if !strings.Contains(drawn, "sings badly") {
		t.Error("Bartok does not know what everybody knows")
	}
	for _, secret := range []string{"The vault", "waters the ale"} {
		if strings.Contains(drawn, secret) {
			t.Errorf("Bartok knows %q", secret)
		}
	}
	if status, text := v.get("/knowledge?as=bartok&topic=vault"); status != http.StatusUnprocessableEntity || !strings.Contains(text, "knows nothing of") {
		t.Errorf("Bartok about the vault: %d %q", status, text)
	}
	if status, _ := v.get("/knowledge?as=nobody"); status != http.StatusUnprocessableEntity {
		t.Errorf("seen as nobody: %d", status)
	}
}

func TestProposedStatementsBecomeCanonOrGo(t *testing.T) {
	for canon, want := range map[string]bool{"true": true, "false": false} {
		v := library(t, "").guest(console.DM, "")
		if status, text := v.do("judge", "id", "new", "canon", canon); status != http.StatusNoContent {
			t.Fatalf("judging: %d %q", status, text)
		}
		_, page := v.get("/knowledge?as=greymantle&topic=bartok")
		if got := strings.Contains(page, "owes Mira a favour"); got != want {
			t.Errorf("judged %s: Greymantle knows it: %t, want %t", canon, got, want)
		}
	}
}

func TestRecapForPlayersHasNoWhispers(t *testing.T) {
	v := library(t, "").guest(console.DM, "")
	_, gm := v.get("/recap?length=long")
	_, players := v.get("/recap?length=long&for=players")
	if !strings.Contains(gm, "already mine") || !strings.Contains(players, "brass compass") {
		t.Error("a recap lacks its lines")
	}
	if strings.Contains(players, "already mine") {
		t.Error("the players' recap tells a whisper")
	}
	if status, text := v.get("/recap?length=epic"); status != http.StatusUnprocessableEntity || !strings.Contains(text, "short, medium or long") {
		t.Errorf("an unknown length: %d %q", status, text)
	}
}

func TestPlayersWordsAreExportedAndErased(t *testing.T) {
	v := library(t, "").guest(console.DM, "")
	if _, text := v.get("/export?player=player-mira"); strings.Count(text, "compass") != 2 {
		t.Errorf("the export has %q", text)
	}
	if _, text := v.get("/privacy"); !strings.Contains(text, "player-mira") {
		t.Error("Mira is not listed")
	}
	if status, text := v.do("forget"); status != http.StatusUnprocessableEntity || !strings.Contains(text, "whose words") {
		t.Errorf("forgetting nobody: %d %q", status, text)
	}
	if status, text := v.do("forget", "player", "player-mira"); status != http.StatusNoContent {
		t.Fatalf("forgetting: %d %q", status, text)
	}
	if _, text := v.get("/export"); strings.Contains(text, "compass") || strings.Contains(text, "player-mira") {
		t.Errorf("after that the export has %q", text)
	}
}

func TestWaitingCallRunsOnceAsItWasShown(t *testing.T) {
	h := library(t, "")
	v := h.guest(console.DM, "")
	_, page := v.get("/tools")
	field := func(name string) string {
		_, rest, ok := strings.Cut(page, "&#34;"+name+"&#34;:&#34;")
		if !ok {
			t.Fatalf("no %s in %q", name, page)
		}
		value, _, _ := strings.Cut(rest, "&#34;")
		return value
	}
	id, hash := field("id"), field("hash")
	if status, _ := v.do("decide", "id", id, "hash", "of something else", "grant", "true"); status != http.StatusUnprocessableEntity {
		t.Errorf("granted with another hash: %d", status)
	}
	if status, text := v.do("decide", "id", id, "hash", hash, "grant", "true"); status != http.StatusNoContent {
		t.Errorf("granted: %d %q", status, text)
	}
	if status, _ := v.do("decide", "id", id, "hash", hash, "grant", "true"); status != http.StatusUnprocessableEntity {
		t.Errorf("granted twice: %d", status)
	}
	if _, page := v.get("/tools"); strings.Contains(page, "Waiting for your word") {
		t.Error("it still waits")
	}
}

func TestPagesBesideTheTableKeepTheirMarkup(t *testing.T) {
	pages := func(word string) map[string][]string {
		h := library(t, word)
		p := bot.Person{ID: "x", Name: word}
		h.tavern.state.Turns = []bot.Turn{{ID: 1, NPC: word, Why: word, Brain: word, Error: word, Heard: 1}}
		h.tavern.state.Tools = []bot.Tool{{Turn: 1, NPC: word, Name: word, Args: word, Result: word, Error: word}}
		h.tavern.state.Lines = []bot.Line{{ID: "1", Speaker: p, Text: word}}
		v := h.guest(console.DM, "")
		out := map[string][]string{}
		for _, path := range sidePaths {
			status, page := v.get(path)
			if status != http.StatusOK {
				t.Fatalf("%s with %q: %d %q", path, word, status, page)
			}
			out[path] = skeleton(t, page)
		}
		return out
	}
	want := pages("plain")
	for _, p := range payloads {
		if strings.ContainsRune(p, 0) {
			continue // no store keeps NUL
		}
		if diff := cmp.Diff(want, pages(p)); diff != "" {
			t.Errorf("%q changes the markup (-plain +payload):\n%s", p, diff)
		}
	}
}

func BenchmarkKnowledgePage(b *testing.B) {
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "memory.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	var world []memory.Entity
	for i := range 150 {
		e := memory.Entity{ID: fmt.Sprint("e", i), Kind: memory.Location, Name: fmt.Sprint("Place ", i), Text: "somewhere"}
		for j := range 3 {
			e.Relations = append(e.Relations, memory.Relation{Kind: fmt.Sprint("leads to ", j), To: fmt.Sprint("e", (i*7+j*13+1)%150)})
		}
		world = append(world, e)
	}
	if err := store.PutWorld(b.Context(), "c", world); err != nil {
		b.Fatal(err)
	}
	h := open(b, newTavern(), console.Options{Archive: bot.NewArchive(store, "c")})
	v := h.guest(console.DM, "")
	for b.Loop() {
		if status, _ := v.get("/knowledge"); status != http.StatusOK {
			b.Fatal(status)
		}
	}
}
