package rules

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// folder writes files into a directory.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// imported reads a folder and fails on anything skipped.
func imported(t *testing.T, dir string, opts ImportOptions) map[string]*Entry {
	t.Helper()
	entries, skipped, err := Import(t.Context(), dir, opts)
	if err != nil || len(skipped) > 0 {
		t.Fatalf("%v, skipped %v", err, skipped)
	}
	all := make(map[string]*Entry)
	for _, e := range entries {
		all[e.ID] = e
	}
	return all
}

func Test5eBitsFilesBecomeEntries(t *testing.T) {
	dir := folder(t, map[string]string{
		"2014/en/5e-SRD-Conditions.json": `[{"index":"blinded","name":"Blinded","desc":["- Sees nothing. At all.","- Misses."],"url":"/api/2014/conditions/blinded"}]`,
		"2024/5e-SRD-Feats.json":         `[{"index":"alert","name":"Alert","description":"Quick.","url":"/api/2024/feats/alert"}]`,
		"5e-SRD-Monsters.json":           `[{"index":"troll","name":"Troll","url":"/api/2014/monsters/troll"}]`,
		"5e-SRD-Rule-Sections.json":      `[{"index":"cover","name":"Cover","desc":"## Cover\n\nWalls help.\n\n### Half Cover\n\nA little."}]`,
		"5e-SRD-Ability-Scores.json":     `[{"index":"str","name":"STR","full_name":"Strength","desc":["Power."]}]`,
		".git/x.json":                    `broken`,
	})
	got := imported(t, dir, ImportOptions{Format: Format5eBits})
	for id, text := range map[string]string{
		"dnd5e-2014/condition/blinded": "- Sees nothing. At all.\n\n- Misses.",
		"dnd5e-2024/feat/alert":        "Quick.",
		"dnd5e-2014/monster/troll":     "Troll. The statistics are in the data set.",
		"dnd5e-2014/rule/cover":        "Walls help.",
		"dnd5e-2014/rule/half-cover":   "A little.",
		"dnd5e-2014/ability/strength":  "Power.",
	} {
		e := got[id]
		if e == nil {
			t.Errorf("%s is missing from %v", id, got)
			continue
		}
		if e.Text != text || e.License != "CC-BY-4.0" || !strings.Contains(e.Source, "5e-database") || e.DM != (e.Kind == "monster") {
			t.Errorf("%s: %+v", id, e)
		}
	}
	if len(got) != 6 || got["dnd5e-2014/condition/blinded"].Say != "Sees nothing." {
		t.Errorf("got %d entries, %+v", len(got), got["dnd5e-2014/condition/blinded"])
	}
}

func TestOpen5eKeepsEachDocumentsLicenceAndGame(t *testing.T) {
	dir := folder(t, map[string]string{
		"a5e/Document.json":   `[{"model":"api_v2.document","pk":"a5e","fields":{"name":"Level Up","gamesystem":"a5e","licenses":["cc-by-40","ogl-10a"]}}]`,
		"a5e/Rule.json":       `[{"model":"api_v2.rule","pk":"x","fields":{"name":"Exertion","desc":"Spend it.","document":"a5e"}}]`,
		"srd/Document.json":   `[{"model":"api_v2.document","pk":"srd-2024","fields":{"name":"SRD 5.2","gamesystem":"5e-2024","licenses":["cc-by-40"]}}]`,
		"srd/Spell.json":      `[{"model":"api_v2.spell","pk":"y","fields":{"name":"Hex","desc":"A curse.","higher_level":"More.","document":"srd-2024"}}]`,
		"srd/Creature.json":   `[{"model":"api_v2.creature","pk":"z","fields":{"name":"Ogre","document":"srd-2024"}}]`,
		"srd/Background.json": `[{"model":"api_v2.background","pk":"b","fields":{"name":"Sage","document":"srd-2024"}}]`,
	})
	got := imported(t, dir, ImportOptions{Format: FormatOpen5e})
	if e := got["a5e/rule/exertion"]; e == nil || e.License != "CC-BY-4.0 or OGL-1.0a" || e.Source != "Level Up" {
		t.Errorf("got %+v", e)
	}
	if e := got["dnd5e-2024/spell/hex"]; e == nil || e.License != "CC-BY-4.0" || e.Text != "A curse.\n\nMore." {
		t.Errorf("got %+v", e)
	}
	if e := got["dnd5e-2024/monster/ogre"]; e == nil || !e.DM {
		t.Errorf("got %+v", e)
	}
	if len(got) != 3 {
		t.Errorf("got %d entries", len(got))
	}
}

func TestFoundryPagesKeepTheirSecrets(t *testing.T) {
	dir := folder(t, map[string]string{"rules.json": `{"name":"House rules","ownership":{"default":2},"pages":[
		{"name":"Luck","type":"text","text":{"content":"<p>Reroll <b>one</b> die.</p><h2>Limits</h2><p>Once a day.</p><section class=\"a secret b\"><p>Unless I say so.</p><section>Really.</section></section><p>Ask.</p><script>x()</script>"}},
		{"name":"Plot","type":"text","ownership":{"default":0},"text":{"markdown":"The duke did it."}},
		{"name":"Inherits","type":"text","ownership":{"default":-1},"text":{"content":"Seen."}},
		{"name":"Map","type":"image","text":{}}]}`})
	got := imported(t, dir, ImportOptions{Format: FormatFoundry, System: "homebrew:mine", License: "ours"})
	for id, want := range map[string]struct {
		text string
		dm   bool
	}{
		"homebrew:mine/rule/luck":        {"Reroll one die.", false},
		"homebrew:mine/rule/limits":      {"Once a day. \n\n\nAsk.", false},
		"homebrew:mine/rule/luck-secret": {"Unless I say so. \n\nReally.", true},
		"homebrew:mine/rule/plot":        {"The duke did it.", true},
		"homebrew:mine/rule/inherits":    {"Seen.", false},
	} {
		e := got[id]
		if e == nil {
			t.Errorf("%s is missing", id)
			continue
		}
		if strings.Join(strings.Fields(e.Text), " ") != strings.Join(strings.Fields(want.text), " ") || e.DM != want.dm || e.License != "ours" {
			t.Errorf("%s: %+v", id, e)
		}
	}
	if len(got) != 5 {
		t.Errorf("got %d entries", len(got))
	}
}

func TestMarkdownHeadingsBecomeEntries(t *testing.T) {
	dir := folder(t, map[string]string{
		"fate/core.md": "---\ntitle: Aspects\nlicense: CC-BY-3.0\nsource: Fate\nsystem: fate\n---\nTrue things.\n\n## Invoke\r\n\r\nPay a point. Roll again.\n```\n# no heading\n```\n## Empty\n",
		"gm.md":        "---\ndm: true\n---\nThe butler.\n",
		"notes.txt":    "no",
	})
	got := imported(t, dir, ImportOptions{Format: FormatMarkdown})
	if e := got["fate/rule/invoke"]; e == nil || e.Say != "Pay a point." || e.License != "CC-BY-3.0" || !strings.Contains(e.Text, "# no heading") {
		t.Errorf("got %+v", e)
	}
	if e := got["homebrew/rule/gm"]; e == nil || !e.DM || !strings.HasPrefix(e.License, "unknown") {
		t.Errorf("got %+v", e)
	}
	if got["fate/rule/aspects"] == nil || len(got) != 3 {
		t.Errorf("got %v", got)
	}
}

func TestImportsRefuseWhatTheyCannotTrust(t *testing.T) {
	secret := folder(t, map[string]string{"outside.md": "# Secret\nText."})
	dir := folder(t, map[string]string{"in.md": "# A\nText."})
	if err := os.Symlink(filepath.Join(secret, "outside.md"), filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	if got := imported(t, dir, ImportOptions{Format: FormatMarkdown}); len(got) != 1 {
		t.Errorf("a link was followed: %v", got)
	}
	for name, opts := range map[string]ImportOptions{
		"format": {Format: "pdf"}, "system": {Format: FormatMarkdown, System: "../x"}, "none": {Format: FormatFoundry},
	} {
		if _, _, err := Import(t.Context(), dir, opts); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, _, err := Import(t.Context(), filepath.Join(dir, "missing"), ImportOptions{Format: FormatMarkdown}); err == nil {
		t.Error("a missing folder was accepted")
	}
	broken := folder(t, map[string]string{
		"a.json": "[", "b.json": `{"name":"x"}`, "c.json": strings.Repeat("[", 200_000),
		"good.json": `{"name":"J","pages":[{"name":"P","text":{"markdown":"Fine."}}]}`,
	})
	entries, skipped, err := Import(t.Context(), broken, ImportOptions{Format: FormatFoundry})
	if err != nil || len(entries) != 1 || len(skipped) != 3 {
		t.Errorf("%d entries, skipped %v, %v", len(entries), skipped, err)
	}
}

func TestImportedTextJoinsOurOwnEntries(t *testing.T) {
	var file bytes.Buffer
	if err := WriteEntries(&file, []*Entry{
		{ID: "dnd5e-2014/condition/exhaustion", System: "dnd5e", Edition: "2014", Kind: "condition", Name: "Exhaustion", Text: "The full text.", Source: "SRD 5.1", License: "CC-BY-4.0"},
		{ID: "dnd5e-2014/spell/fireball", System: "dnd5e", Edition: "2014", Kind: "spell", Name: "Fireball", Text: "Boom in full.", Source: "SRD 5.1", License: "CC-BY-4.0"},
		{ID: "dnd5e-2014/monster/troll", System: "dnd5e", Edition: "2014", Kind: "monster", Name: "Troll", Say: "It regenerates.", Text: "It regenerates.", DM: true, License: "CC-BY-4.0"},
		{ID: "fate/rule/zot", System: "fate", Kind: "rule", Name: "Zotting maneuver", Text: "Zot.", License: "CC-BY-3.0"},
	}); err != nil {
		t.Fatal(err)
	}
	l, err := New(Options{Imported: fstest.MapFS{"srd.jsonl": {Data: file.Bytes()}}})
	if err != nil {
		t.Fatal(err)
	}
	own, err := library(t).Get("spell/fireball", "")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := l.Get("spell/fireball", ""); err != nil || e.Text != "Boom in full." || e.Say != own.Say || e.License != "CC-BY-4.0" {
		t.Errorf("got %+v, %v", e, err)
	}
	if own.Text == "Boom in full." {
		t.Error("the import changed the shipped entry for everybody")
	}
	if hits := l.Search(Query{Text: "troll"}); len(hits) > 0 && hits[0].Kind == "monster" {
		t.Error("players find monsters")
	}
	if hits := l.Search(Query{Text: "troll", DM: true}); len(hits) == 0 || hits[0].Name != "Troll" {
		t.Errorf("the game master does not find the troll: %v", names(hits))
	}
	if hits := l.Search(Query{Text: "zotting maneuver"}); len(hits) > 0 {
		t.Errorf("another game answers: %v", names(hits))
	}
	if hits := l.Search(Query{Text: "zotting maneuver", System: "fate"}); len(hits) != 1 {
		t.Errorf("got %v", names(hits))
	}
	for _, bad := range []string{"{", `{"id":"x"}`, `{"id":"a","name":"b","system":"c"} trailing`} {
		if _, err := New(Options{Imported: fstest.MapFS{"bad.jsonl": {Data: []byte(bad)}}}); err == nil {
			t.Errorf("%s: accepted", bad)
		}
	}
}

func FuzzImporters(f *testing.F) {
	for _, s := range []string{`[{"name":"X","desc":["a","b"]}]`, `[{"model":"a.rule","pk":1,"fields":{"name":"N","desc":"D"}}]`,
		`{"name":"J","pages":[{"name":"P","text":{"content":"<section class=secret><p>x"}}]}`, "---\ndm: true\n---\n# H\ntext\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for format, read := range readers {
			in := &importing{opts: ImportOptions{Format: format}, seen: map[string]bool{}, documents: map[string]document{}}
			if err := read(in, "x.json", b); err != nil {
				continue
			}
			for _, e := range in.entries {
				if e.Name == "" || e.ID == "" || e.License == "" || len(strings.Fields(e.Say)) > 25 {
					t.Fatalf("%s: %+v", format, e)
				}
			}
		}
	})
}

func FuzzSearch(f *testing.F) {
	for _, s := range []string{"what does fire ball do", "", "\xff\xfe", "eldridge  blast!!", strings.Repeat("grapple ", 100)} {
		f.Add(s)
	}
	l := library(f)
	f.Fuzz(func(t *testing.T, s string) {
		hits := l.Search(Query{Text: s, Limit: 1000})
		if len(hits) > maxResults {
			t.Fatalf("%d results", len(hits))
		}
		for i, h := range hits {
			if i > 0 && h.Score > hits[i-1].Score {
				t.Fatal("not in order")
			}
		}
	})
}
