package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/discord"
	"github.com/glyphoxa/glyphoxa/campaigns"
)

// packed is a campaign's folder as an archive, below a folder of that name.
func packed(t *testing.T, id, below string, more ...string) []byte {
	t.Helper()
	fsys, err := campaigns.ShippedFolder("gilded-flagon")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name, text string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		add(below+name, strings.Replace(string(text), "id: gilded-flagon\n", "id: "+id+"\n", 1))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(more); i += 2 {
		add(more[i], more[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestServerImportsCampaignsThatItAloneCanPlay(t *testing.T) {
	g := &guilds{cfg: defaults(), dir: t.TempDir(), log: slog.New(slog.DiscardHandler), offline: true}
	place := discord.Place{Guild: "1"}
	for _, below := range []string{"", "my-folder/"} {
		s, notes, err := g.Import(t.Context(), place, "mine.zip", packed(t, "mine", below, "../../outside", "x", "/abs", "x"))
		if err != nil || s.Name != "mine" || len(notes) == 0 {
			t.Fatalf("below %q: %+v, %q, %v", below, s, notes, err)
		}
	}
	for guild, want := range map[string]bool{"1": true, "2": false} {
		list, err := g.Stories(t.Context(), guild)
		got := false
		for _, s := range list {
			got = got || s.Name == "mine"
		}
		if err != nil || got != want || len(list) < len(campaigns.Shipped) {
			t.Errorf("server %s can play %+v, %v", guild, list, err)
		}
	}
	if c, err := loadCampaign(g.config(discord.Place{Guild: "1", Campaign: "mine"})); err != nil || c.ID != "mine" {
		t.Errorf("playing it: %+v, %v", c, err)
	}
	left, err := filepath.Glob(filepath.Join(g.dir, "*outside*"))
	if err != nil || len(left) > 0 {
		t.Errorf("a file left the folder: %v, %v", left, err)
	}
	drafts, err := filepath.Glob(filepath.Join(g.folder("1"), "campaigns", ".draft*"))
	if err != nil || len(drafts) > 0 {
		t.Errorf("drafts are left: %v, %v", drafts, err)
	}
}

func TestWhatCannotBePlayedIsRefusedAndNothingIsKept(t *testing.T) {
	g := &guilds{cfg: defaults(), dir: t.TempDir(), log: slog.New(slog.DiscardHandler), offline: true}
	place := discord.Place{Guild: "1"}
	for name, tc := range map[string]struct {
		file string
		data []byte
		want string
	}{
		"no archive":                {"x.zip", []byte("PK nothing"), "archive"},
		"a shipped campaign's name": {"x.zip", packed(t, "gilded-flagon", ""), "already"},
		"mistakes":                  {"campaign.yaml", []byte("id: mine\nnonsense: x\n"), "nonsense"},
		"a bomb":                    {"x.zip", packed(t, "mine", "", "npcs/big.yaml", strings.Repeat(" ", maxUnpacked+1)), "more than"},
		"neither":                   {"x.txt", []byte("hello"), ""},
	} {
		if s, _, err := g.Import(t.Context(), place, tc.file, tc.data); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %+v, %v; want an error with %q", name, s, err, tc.want)
		}
	}
	entries, err := os.ReadDir(filepath.Join(g.folder("1"), "campaigns"))
	if err != nil || len(entries) > 0 {
		t.Errorf("kept %v, %v", entries, err)
	}
}

func TestCharacterCardBecomesSomebodyToTalkTo(t *testing.T) {
	g := &guilds{cfg: defaults(), dir: t.TempDir(), log: slog.New(slog.DiscardHandler), offline: true}
	place := discord.Place{Guild: "1"}
	card := []byte(`{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Orla","description":"A ferrywoman.","personality":"dry","first_mes":"Two coins.","system_prompt":"obey","mes_example":"","scenario":""}}`)
	s, notes, err := g.Import(t.Context(), place, "orla.json", card)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(notes, "\n"); !strings.Contains(text, "1 to talk to") || !strings.Contains(text, "never used") {
		t.Errorf("the notes are %q", notes)
	}
	c, err := loadCampaign(g.config(discord.Place{Guild: "1", Campaign: s.Name}))
	if err != nil || len(c.NPCs) != 1 || c.NPCs[0].Name != "Orla" {
		t.Fatalf("%+v, %v", c, err)
	}
	// The next one joins the campaign that is played.
	place.Campaign = s.Name
	second := bytes.ReplaceAll(card, []byte("Orla"), []byte("Bran"))
	if _, _, err := g.Import(t.Context(), place, "bran.json", second); err != nil {
		t.Fatal(err)
	}
	if c, err = loadCampaign(g.config(place)); err != nil || len(c.NPCs) != 2 {
		t.Errorf("%d NPCs, %v", len(c.NPCs), err)
	}
}

func TestWhereIsOnlySaidOfOtherMachines(t *testing.T) {
	for url, want := range map[string]string{
		"http://localhost:11434/v1": "", "http://127.0.0.1:1": "", "https://api.example.com/v1": "api.example.com",
	} {
		if got := where(provider{Provider: "openai", URL: url}, bot.Part{Name: "x"}); got != want {
			t.Errorf("%s is at %q, want %q", url, got, want)
		}
	}
	if got := where(provider{Provider: "deepgram"}, bot.Part{Name: "x"}); got != "deepgram" {
		t.Errorf("got %q", got)
	}
}
