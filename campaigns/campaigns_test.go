package campaigns_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
)

var update = flag.Bool("update", false, "rewrite the expected half of the files in testdata")

// options are what the program knows in these tests.
var options = campaigns.Options{
	Tools: map[string]mcp.Tier{
		"roll": mcp.Fast, "roll_table": mcp.Fast, "query_entities": mcp.Fast,
		"search_rules": mcp.Standard, "get_rule": mcp.Standard, "get_summary": mcp.Standard, "search_sessions": mcp.Standard,
		"generate_image": mcp.Deep, "search": mcp.Deep,
		"play_track": mcp.Fast, "stop_music": mcp.Fast, "recap": mcp.Fast, "search_history": mcp.Fast,
	},
	HelperTools:  []string{"search"},
	Pieces:       []string{"hearth", "shadows"},
	Servers:      []string{"weather"},
	Synthesizers: []string{"espeak", "flite"},
}

// folder is a campaign folder made from the files of a test.
func folder(files []txtar.File) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range files {
		if f.Name != "problems" {
			fsys[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return fsys
}

func TestEveryMistakeInAFolderIsToldAtOnce(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, problems := campaigns.Load(folder(a.Files), options)
			if c != nil || problems == nil {
				t.Fatalf("a broken folder was loaded: %+v", c)
			}
			got := problems.Error() + "\n"
			last := len(a.Files) - 1
			if *update {
				if a.Files[last].Name != "problems" {
					a.Files, last = append(a.Files, txtar.File{Name: "problems"}), last+1
				}
				a.Files[last].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[last].Data), got); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsNotSaidToBeKnownIsTheGameMastersAlone(t *testing.T) {
	c := load(t, `
id: x
name: X
edition: 2014
npcs:
  - {id: ann, name: Ann, personality: Kind., facts: [Ann is a spy.], relations: [{kind: loves, to: bob}]}
entities:
  - {id: bob, kind: npc, name: Bob, text: Bob is tall., facts: [{text: Bob lies., known_by: ann}, {text: Bob lives., known_by: everyone}]}
  - {id: guild, kind: faction, name: Guild, known_by: everyone, relations: [{kind: pays, to: bob}, {kind: fears, to: bob, known_by: dm}]}
`)
	got := map[string]memory.Audience{}
	for _, e := range c.Entities {
		got[e.ID] = e.Audience
		for _, f := range e.Facts {
			got[f.Text] = f.Audience
		}
		for _, r := range e.Relations {
			got[e.ID+" "+r.Kind] = r.Audience
		}
	}
	want := map[string]memory.Audience{
		"ann": {"ann"}, "Ann is a spy.": nil, "ann loves": {"ann"},
		"bob": nil, "Bob lies.": {"ann"}, "Bob lives.": {"everyone"},
		"guild": {"everyone"}, "guild pays": {"everyone"}, "guild fears": nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audiences (-want +got):\n%s", diff)
	}
}

func load(t *testing.T, yaml string) *campaigns.Campaign {
	t.Helper()
	c, problems := campaigns.Load(fstest.MapFS{"campaign.yaml": {Data: []byte(yaml)}}, options)
	if problems != nil {
		t.Fatal(problems)
	}
	return c
}

func TestAbsentKeysTakeTheirDefaults(t *testing.T) {
	c := load(t, "{id: x, name: X, edition: 2024, npcs: [{id: ann, name: Ann, personality: Kind.}], tables: [{id: t, rows: [a, {text: b, weight: 3}]}]}")
	if c.System != "dnd5e" || c.Language != "en" || c.Safety.Rating != "teen" {
		t.Errorf("campaign has system %q, language %q, rating %q", c.System, c.Language, c.Safety.Rating)
	}
	n := c.NPCs[0]
	if n.Engine != "cascaded" || n.Tier != mcp.Fast || n.ToolChoice != "auto" || n.Tools != nil {
		t.Errorf("NPC has engine %q, tier %v, choice %q, tools %q", n.Engine, n.Tier, n.ToolChoice, n.Tools)
	}
	if diff := cmp.Diff([]campaigns.Row{{Text: "a", Weight: 1}, {Text: "b", Weight: 3}}, c.Tables[0].Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestLinkOutOfTheFolderIsNotFollowed(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("id: stolen\nname: Stolen\nedition: 2014\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "campaign.yaml")); err != nil {
		t.Fatal(err)
	}
	c, problems := campaigns.Open(dir, options)
	if c != nil || problems == nil {
		t.Errorf("read a file outside the folder: %+v", c)
	}
}

func TestTooManyFilesAreRefused(t *testing.T) {
	fsys := fstest.MapFS{"campaign.yaml": {Data: []byte("{id: x, name: X, edition: 2014}")}}
	for i := range 600 {
		fsys[fmt.Sprintf("npcs/n%d.yaml", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "{name: N%d, personality: x}", i)}
	}
	_, problems := campaigns.Load(fsys, options)
	if !strings.Contains(problems.Error(), "more than 500 files") || !strings.Contains(problems.Error(), "more than 200 NPCs") {
		t.Errorf("600 NPCs: problems %.200q", problems.Error())
	}
}

func TestSchemaFileIsTheTypes(t *testing.T) {
	want, err := campaigns.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("schema.json is not what Schema makes: run `go test ./campaigns -update`")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("{id: x, name: X, edition: 2014, npcs: [{id: ann, name: Ann, personality: Kind., tools: [rol]}], tables: [{id: t, rows: [{table: t}]}]}"))
	f.Add([]byte("id: x\nscenes: [{id: a, present: [b], location: c}]\nentities: [{id: c, kind: npc, relations: [{to: d}]}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, problems := campaigns.Load(fstest.MapFS{"campaign.yaml": {Data: data}}, options)
		if (c == nil) == (problems == nil) {
			t.Errorf("campaign %v with problems %v", c, problems)
		}
	})
}
