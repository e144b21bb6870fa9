package strict_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/glyphoxa/glyphoxa/campaigns/strict"
)

var update = flag.Bool("update", false, "rewrite the expected half of the files in testdata")

// A tavern has a field of every kind that can be decoded.
type tavern struct {
	Name    string             `yaml:"name" strict:"required,max=20"`
	Rooms   int                `yaml:"rooms" strict:"min=1,max=50"`
	Rating  float64            `yaml:"rating"`
	Open    bool               `yaml:"open"`
	Closes  time.Duration      `yaml:"closes"`
	System  string             `yaml:"system" strict:"oneof=dnd5e|pf2e"`
	Guests  []string           `yaml:"guests" strict:"max=3"`
	Prices  map[string]float64 `yaml:"prices"`
	Keeper  keeper             `yaml:"keeper"`
	Staff   []keeper           `yaml:"staff"`
	Till    *till              `yaml:"till"`
	Key     secret             `yaml:"key"`
	Songs   songs              `yaml:"songs"`
	Address `yaml:",inline"`
}

type keeper struct {
	Name  string   `yaml:"name" strict:"required"`
	Tools []string `yaml:"tools"`
}

type till struct {
	Coins uint8 `yaml:"coins"`
}

// Address shows that inlined keys are the struct's own.
type Address struct {
	Street string `yaml:"street"`
}

// A secret can only be read as text and says why it was refused.
type secret struct{ value string }

func (s *secret) UnmarshalText(b []byte) error {
	name, ok := strings.CutPrefix(string(b), "file:")
	if !ok {
		return errors.New("a secret is not written here: write file:PATH")
	}
	s.value = name
	return nil
}

// songs is a list that may be written as one text.
type songs []string

func (s *songs) UnmarshalText(b []byte) error {
	*s = songs{string(b)}
	return nil
}

func TestEveryProblemIsToldWithItsPosition(t *testing.T) {
	files, err := filepath.Glob("testdata/problems/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var into tavern
			got := strict.Decode(a.Files[0].Name, a.Files[0].Data, &into).Error()
			if got != "" {
				got += "\n"
			}
			if *update {
				a.Files = append(a.Files[:1], txtar.File{Name: "problems", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGoodFileFillsTheStructAndKeepsDefaults(t *testing.T) {
	const in = `
name: 1884            # a number is a fine name
rooms: 0x10
rating: 4
open: true
closes: 1h30m
guests: &all [Ann, "Bo"]
prices: {ale: 0.4, bed: 5}
keeper: &k {name: Rosie}
staff:
  - <<: *k
    tools: *all
  - name: Tom
till: {coins: 200}
key: file:door.txt
songs: The Ploughman
street: Mill Lane
`
	got := tavern{System: "dnd5e", Rooms: 3}
	if ps := strict.Decode("t.yaml", []byte(in), &got); ps != nil {
		t.Fatal(ps)
	}
	want := tavern{
		Name: "1884", Rooms: 16, Rating: 4, Open: true, Closes: 90 * time.Minute, System: "dnd5e",
		Guests: []string{"Ann", "Bo"}, Prices: map[string]float64{"ale": 0.4, "bed": 5},
		Keeper: keeper{Name: "Rosie"},
		Staff:  []keeper{{Name: "Rosie", Tools: []string{"Ann", "Bo"}}, {Name: "Tom"}},
		Till:   &till{Coins: 200}, Key: secret{"door.txt"}, Songs: songs{"The Ploughman"},
		Address: Address{Street: "Mill Lane"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(secret{})); diff != "" {
		t.Errorf("decoded wrongly (-want +got):\n%s", diff)
	}
}

func TestEmptyFileOnlyLacksWhatIsRequired(t *testing.T) {
	for _, in := range []string{"", "\n# nothing\n", "---\n", "~"} {
		var into tavern
		got := strict.Decode("t.yaml", []byte(in), &into).Error()
		if want := `t.yaml:1:1: the key "name" is missing`; got != want {
			t.Errorf("Decode(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMultiplyingAliasesAreRefusedQuickly(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: x\nguests: [a]\nstaff:\n  - &a0 {name: a}\n")
	b.WriteString("songs:\n  - &b0 [la, la, la, la, la, la, la, la, la, la]\n")
	for i := range 12 {
		fmt.Fprintf(&b, "  - &b%d [%s]\n", i+1, strings.Repeat(fmt.Sprintf("*b%d, ", i), 10))
	}
	var deep struct {
		Name   string   `yaml:"name"`
		Guests []string `yaml:"guests"`
		Staff  []keeper `yaml:"staff"`
		Songs  [][]nest `yaml:"songs"`
	}
	got := strict.Decode("bomb.yaml", []byte(b.String()), &deep)
	if got == nil {
		t.Fatal("a file of 10^12 values was accepted")
	}
}

func TestMistakeInALargeFileIsFoundInItsPlace(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"last line": {strings.Repeat("a: b\n", 12_000) + "c: d: e\n", "f.yaml:12001:5: a colon followed by a space"},
		"many keys": {"name: x\n" + strings.Repeat("rooms: 3\n", 5_000), `f.yaml:3:1: the key "rooms" is written twice`},
		"too large": {strings.Repeat("# much ado\n", 100_000), "f.yaml:1:1: the file has 1100000 bytes"},
		"too deep":  {"guests: " + strings.Repeat("[", 11_000), "f.yaml:1:10009: this is nested more deeply"},
	} {
		var into tavern
		got := strict.Decode("f.yaml", []byte(tt.in), &into)
		if len(got) == 0 || !strings.HasPrefix(got.Error(), tt.want) || len(got) > 101 {
			t.Errorf("%s: %d problems, the first %.120q; want %q", name, len(got), got.Error(), tt.want)
		}
	}
}

// nest takes lists of any depth.
type nest struct{ In []nest }

func TestAliasThatContainsItselfIsRefused(t *testing.T) {
	var into struct {
		In []nest `yaml:"in"`
	}
	if got := strict.Decode("loop.yaml", []byte("in: &a\n  - in: *a\n"), &into); got == nil {
		t.Error("an endless value was accepted")
	}
}

func TestProblemPointsAtTheValueOnAPath(t *testing.T) {
	doc, ps := strict.Parse("t.yaml", []byte("name: x\nstaff:\n  - name: Tom\n    tools: [roll, röll,  spill]\n"))
	if ps != nil {
		t.Fatal(ps)
	}
	for _, tt := range []struct {
		path []any
		want string
	}{
		{[]any{"staff", 0, "tools", 2}, "t.yaml:4:26: bad"},
		{[]any{"staff", 0, "name"}, "t.yaml:3:11: bad"},
		{[]any{"staff", 0, "voice", "pitch"}, "t.yaml:3:5: bad"},
		{[]any{"staff", 7}, "t.yaml:3:3: bad"},
		{nil, "t.yaml:1:1: bad"},
	} {
		if got := doc.Problem("bad", tt.path...).String(); got != tt.want {
			t.Errorf("Problem at %v = %q, want %q", tt.path, got, tt.want)
		}
	}
}

func TestNoProblemsAreNoError(t *testing.T) {
	if err := (strict.Problems{}).Err(); err != nil {
		t.Errorf("Err() = %v, want nil", err)
	}
}

func TestSuggestionsAreSlipsAndNotGuesses(t *testing.T) {
	tools := []string{"roll", "roll_table", "search_rules", "get_rule", "query_entities", "search_sessions"}
	for word, want := range map[string]string{
		"searchRules": "search_rules", "serach_rules": "search_rules", "get_rules": "get_rule",
		"query_entity": "query_entities", "rol": "roll", "rolltable": "roll_table", "search": "search_rules",
		"fireball": "", "": "", "x": "", "roll": "", strings.Repeat("roll", 40): "",
	} {
		got := strict.DidYouMean(word, tools)
		if want != "" {
			want = `; did you mean "` + want + `"?`
		}
		if got != want {
			t.Errorf("DidYouMean(%q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/problems/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var into tavern
		// YAML ends lines at more characters than most editors do.
		lines := 1
		for _, r := range string(data) {
			if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) {
				lines++
			}
		}
		for _, p := range strict.Decode("f.yaml", data, &into) {
			if p.Line < 1 || p.Column < 1 || p.Line > lines && p.Line != 1<<30 || p.Text == "" {
				t.Errorf("problem out of the file: %v", p)
			}
		}
	})
}
