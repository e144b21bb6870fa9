package console_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/console"
	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/google/go-cmp/cmp"
)

const inn = "id: inn\nname: The inn\nedition: 2014\nscenes:\n  - id: taproom\n    name: The taproom\n    present: [bartok]\n"

const bartok = "id: bartok\nname: Bartok\npersonality: Loud and kind.\nknown_by: everyone\n"

// desk is a console with a campaign folder in dir.
func desk(t *testing.T) (h *house, dir string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("campaign.yaml", inn)
	write("npcs/bartok.yaml", bartok)
	write("pictures/bartok.png", "a picture")
	write("pictures/evil.svg", "<svg onload=alert(1)>")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return open(t, newTavern(), console.Options{Manuscript: bot.NewManuscript(root.FS(), root, campaigns.Options{})}), dir
}

func TestDraftsAreCheckedWithTheWholeCampaign(t *testing.T) {
	h, dir := desk(t)
	v := h.guest(console.DM, "")
	for _, c := range []struct{ name, file, text, says string }{
		{"a typing error", "npcs/bartok.yaml", strings.Replace(bartok, "personality", "persnality", 1), "npcs/bartok.yaml:3:1"},
		{"somebody else needs it", "npcs/bartok.yaml", strings.Replace(bartok, "id: bartok", "id: barto", 1), "campaign.yaml:7"},
		{"not YAML", "campaign.yaml", "{{{", "campaign.yaml:1"},
		{"no such file", "../secret.yaml", "x", "has no file"},
		{"not a campaign's file", "pictures/bartok.png", "x", "has no file"},
		{"too long", "campaign.yaml", "#" + strings.Repeat("x", bot.MaxManuscript), "at most 256"},
	} {
		for _, action := range []string{"check", "write"} {
			if _, text := v.do(action, "file", c.file, "text", c.text, "before", bartok); !strings.Contains(text, c.says) {
				t.Errorf("%s, %s: %q does not say %q", c.name, action, text, c.says)
			}
		}
	}
	for name, want := range map[string]string{"campaign.yaml": inn, "npcs/bartok.yaml": bartok} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is now %q, %v", name, got, err)
		}
	}
}

func TestGoodDraftIsShownAndWritten(t *testing.T) {
	h, dir := desk(t)
	v := h.guest(console.DM, "")
	// A browser's form has CR LF.
	draft := strings.ReplaceAll(strings.Replace(bartok, "Loud and kind.", "Quiet.", 1), "\n", "\r\n")
	begun := strings.ReplaceAll(bartok, "\n", "\r\n")
	_, text := v.do("check", "file", "npcs/bartok.yaml", "text", draft, "before", begun)
	for _, want := range []string{"Nothing is wrong", "- personality: Loud and kind.", "+ personality: Quiet."} {
		if !strings.Contains(text, want) {
			t.Errorf("checking shows %q, want %q in it", text, want)
		}
	}
	if _, text := v.do("write", "file", "npcs/bartok.yaml", "text", draft, "before", begun); !strings.Contains(text, "Written") {
		t.Errorf("writing shows %q", text)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "npcs/bartok.yaml")); err != nil || !strings.Contains(string(got), "Quiet.\n") {
		t.Errorf("the file is %q, %v", got, err)
	}
	if status, text := v.do("write", "file", "npcs/bartok.yaml", "text", draft+"#", "before", begun); status != http.StatusUnprocessableEntity || !strings.Contains(text, "somebody else") {
		t.Errorf("writing over another's change: %d %q", status, text)
	}
	if names, err := os.ReadDir(filepath.Join(dir, "npcs")); err != nil || len(names) != 1 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

func TestShippedCampaignIsOnlyRead(t *testing.T) {
	folder, err := campaigns.ShippedFolder(campaigns.Shipped[0])
	if err != nil {
		t.Fatal(err)
	}
	v := open(t, newTavern(), console.Options{Manuscript: bot.NewManuscript(folder, nil, campaigns.Options{})}).guest(console.DM, "")
	_, page := v.get("/campaign?file=campaign.yaml")
	if !strings.Contains(page, "part of the program") || strings.Contains(page, "/do/write") {
		t.Error("the page offers to change it")
	}
	if status, text := v.do("write", "file", "campaign.yaml", "text", inn); status == http.StatusOK && strings.Contains(text, "Written") {
		t.Error("it was written")
	}
}

func TestOnlyTheDMSeesTheManuscript(t *testing.T) {
	h, _ := desk(t)
	v := h.guest(console.Player, "Mira")
	if status, _ := v.get("/campaign"); status != http.StatusForbidden {
		t.Errorf("the page: %d", status)
	}
	for _, action := range []string{"check", "write"} {
		if status, _ := v.do(action, "file", "campaign.yaml", "text", inn, "before", inn); status != http.StatusForbidden {
			t.Errorf("%s: %d", action, status)
		}
	}
}

func TestOnlyPicturesAreServedOfTheFolder(t *testing.T) {
	h, _ := desk(t)
	v := h.guest(console.Spectator, "")
	for path, want := range map[string]int{
		"pictures/bartok.png": 200, "campaign.yaml": 404, "pictures/evil.svg": 404, "npcs/bartok.yaml": 404,
		"pictures/": 404, "pictures/none.png": 404, "..%2f..%2fetc%2fpasswd": 404, "pictures%2f..%2f..%2fx.png": 404, "%00.png": 404,
	} {
		if status, text := v.get("/portraits/" + path); status != want {
			t.Errorf("%s: %d %q, want %d", path, status, text, want)
		}
	}
}

func TestDraftKeepsTheMarkupWhateverItSays(t *testing.T) {
	h, dir := desk(t)
	page := func(word string) [][]string {
		v := h.guest(console.DM, "") // a new one each time: actions are bounded
		if err := os.WriteFile(filepath.Join(dir, "npcs/bartok.yaml"), []byte(word), 0o600); err != nil {
			t.Fatal(err)
		}
		_, whole := v.get("/campaign?file=npcs/bartok.yaml")
		_, piece := v.do("check", "file", "npcs/bartok.yaml", "text", "- "+word)
		_, after, _ := strings.Cut(piece, "</ul>") // there are as many faults as there are
		return [][]string{skeleton(t, whole), skeleton(t, after)}
	}
	want := page("plain")
	for _, p := range payloads {
		if diff := cmp.Diff(want, page(p)); diff != "" {
			t.Errorf("%q changes the markup (-plain +payload):\n%s", p, diff)
		}
	}
}
