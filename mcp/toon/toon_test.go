package toon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// fixtures are the specification's own, version 4.0.
type fixtures struct {
	Tests []struct {
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input"`
		Expected json.RawMessage `json:"expected"`
		Fails    bool            `json:"shouldError"`
		Options  struct {
			Delimiter string `json:"delimiter"`
			Indent    int    `json:"indentSize"`
			Strict    *bool  `json:"strict"`
		} `json:"options"`
	} `json:"tests"`
}

func load(t *testing.T, dir string) map[string]fixtures {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	all := map[string]fixtures{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var x fixtures
		if err := json.Unmarshal(b, &x); err != nil {
			t.Fatal(f, err)
		}
		all[filepath.Base(f)] = x
	}
	return all
}

func unquoteJSON(t *testing.T, b json.RawMessage) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEncodesTheSpecificationsExamples(t *testing.T) {
	n := 0
	for file, f := range load(t, "encode") {
		for _, c := range f.Tests {
			n++
			o := EncodeOptions{Indent: c.Options.Indent}
			if c.Options.Delimiter != "" {
				o.Delimiter = Delimiter(c.Options.Delimiter[0])
			}
			got, err := Encode(c.Input, o)
			if err != nil {
				t.Errorf("%s: %s: %v", file, c.Name, err)
				continue
			}
			if d := cmp.Diff(unquoteJSON(t, c.Expected), got); d != "" {
				t.Errorf("%s: %s: %s", file, c.Name, d)
			}
		}
	}
	if n != 173 {
		t.Errorf("%d examples, want 173", n)
	}
}

func TestDecodesTheSpecificationsExamples(t *testing.T) {
	n, failing := 0, 0
	for file, f := range load(t, "decode") {
		for _, c := range f.Tests {
			n++
			o := DecodeOptions{Indent: c.Options.Indent, Lenient: c.Options.Strict != nil && !*c.Options.Strict}
			got, err := Decode(unquoteJSON(t, c.Input), o)
			if c.Fails {
				failing++
				if err == nil {
					t.Errorf("%s: %s: read as %s, want an error", file, c.Name, got)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %s: %v", file, c.Name, err)
				continue
			}
			var g, w any
			if err := json.Unmarshal(got, &g); err != nil {
				t.Errorf("%s: %s: %s: %v", file, c.Name, got, err)
			}
			if err := json.Unmarshal(c.Expected, &w); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(w, g); d != "" {
				t.Errorf("%s: %s: %s", file, c.Name, d)
			}
		}
	}
	if n != 343 || failing != 79 {
		t.Errorf("%d examples of which %d must fail, want 343 and 79", n, failing)
	}
}

// anyJSON draws JSON values, with strings that try the quoting rules.
func anyJSON(depth int) *rapid.Generator[any] {
	word := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", " ", "-", "- x", "#", "true", "null", "05", "1e5", "+1", "a:b", "a,b", "a|b", "a\tb", "[2]: x", "[]", "{}", "a{b}", `"`, `\`, "x\r", "\u00a0x", "k[2]"}),
		rapid.StringMatching(`[a-z_]{1,6}`),
	)
	plain := rapid.OneOf(
		rapid.Map(word, func(s string) any { return s }),
		rapid.Map(rapid.Int64Range(-1<<50, 1<<50), func(n int64) any { return n }),
		rapid.Map(rapid.Float64Range(-1e12, 1e12), func(f float64) any { return f }),
		rapid.SampledFrom([]any{nil, true, false}),
	)
	if depth == 0 {
		return plain
	}
	inner := anyJSON(depth - 1)
	// Rows with the same keys, so that there are tables.
	row := rapid.MapOfN(rapid.SampledFrom([]string{"id", "a b", "x"}), plain, 3, 3)
	return rapid.OneOf(
		plain,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(word, inner, 0, 4), func(m map[string]any) any { return m }),
		rapid.Map(rapid.SliceOfN(row, 1, 4), func(m []map[string]any) any { return m }),
		rapid.Map(rapid.MapOfN(word, row, 1, 4), func(m map[string]map[string]any) any { return m }),
	)
}

func TestWhatIsEncodedIsDecodedToTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in, err := json.Marshal(anyJSON(3).Draw(rt, "json"))
		if err != nil {
			rt.Fatal(err)
		}
		o := EncodeOptions{
			Indent:    rapid.IntRange(1, 4).Draw(rt, "indent"),
			Delimiter: rapid.SampledFrom([]Delimiter{Comma, Tab, Pipe}).Draw(rt, "delimiter"),
		}
		doc, err := Encode(in, o)
		if err != nil {
			rt.Fatal(err)
		}
		out, err := Decode(doc, DecodeOptions{Indent: o.Indent})
		if err != nil {
			rt.Fatalf("%v in\n%s\nfrom %s", err, doc, in)
		}
		var a, b any
		if json.Unmarshal(in, &a) != nil || json.Unmarshal(out, &b) != nil {
			rt.Fatalf("%s became %s", in, out)
		}
		if d := cmp.Diff(a, b); d != "" {
			rt.Fatalf("%s\nfrom %s:\n%s", d, in, doc)
		}
	})
}

func TestShorterNeverGrows(t *testing.T) {
	table := `[{"id":"cellar","name":"The cellar"},{"id":"taproom","name":"The taproom"}]`
	if got := Shorter([]byte(table)); got != "[2]{id,name}:\n  cellar,The cellar\n  taproom,The taproom" {
		t.Errorf("a table: %q", got)
	}
	deep := `{"a":{"b":{"c":[{"d":1},{"e":[{"f":2}]}]}}}`
	if got := Shorter([]byte(deep)); got != deep {
		t.Errorf("a tree: %q, want it left alone", got)
	}
}

func TestDeepAndEndlessInputIsRefused(t *testing.T) {
	deep := make([]byte, 0, 4000)
	for range 1000 {
		deep = append(deep, '[')
	}
	for range 1000 {
		deep = append(deep, ']')
	}
	if _, err := Encode(deep, EncodeOptions{}); err == nil {
		t.Error("1,000 brackets were encoded")
	}
	var doc strings.Builder
	for i := range 200 {
		for range i {
			doc.WriteString("  ")
		}
		doc.WriteString("a:\n")
	}
	if _, err := Decode(doc.String(), DecodeOptions{}); err == nil {
		t.Error("200 levels were decoded")
	}
	if out, err := Encode([]byte(`[1e999999999,-1e-999999999]`), EncodeOptions{}); err != nil || out != `[2]: "1e999999999","-1e-999999999"` {
		t.Errorf("huge exponents: %q, %v", out, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("items[2]{id,name}:\n  1,Ada\n  2,\"Bob\"")
	f.Add("m[1:]{a{b}}:\n  k: 1\nx:\n  - y")
	f.Add("[1]:\n  - [1]: \"\\u0041\"")
	f.Fuzz(func(t *testing.T, doc string) {
		for _, o := range []DecodeOptions{{}, {Lenient: true}} {
			if out, err := Decode(doc, o); err == nil && !json.Valid(out) {
				t.Errorf("%q was read as %q", doc, out)
			}
		}
	})
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":1},{"b":2}],"c":{"d":{"e":1},"f":{"e":2}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		doc, err := Encode(in, EncodeOptions{})
		if err != nil {
			return
		}
		if _, err := Decode(doc, DecodeOptions{}); err != nil {
			t.Errorf("%s became %q: %v", in, doc, err)
		}
	})
}
