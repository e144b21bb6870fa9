package memory_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/memory"
)

// testdata/clean.txt has forty lines of table talk and 360 sentences of the
// System Reference Document (Wizards of the Coast LLC, CC-BY-4.0).
func lines(t testing.TB, file string) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func TestCleanSentencesAreNotHarmed(t *testing.T) {
	g := memory.NewGlossary(lines(t, "names.txt"))
	for _, s := range lines(t, "clean.txt") {
		if got, changes := g.Correct(s); got != s {
			t.Errorf("%q\nbecame %q: %+v", s, got, changes)
		}
		low := strings.ToLower(s)
		if got, changes := g.Correct(low); got != low {
			t.Errorf("%q\nbecame %q: %+v", low, got, changes)
		}
	}
}

func TestMisheardNamesAreRepaired(t *testing.T) {
	for _, c := range []struct{ heard, want string }{
		{"bar tock, what's in the pot tonight?", "Bartok, what's in the pot tonight?"},
		{"Bar-tock's stew", "Bartok's stew"},
		{"hey bartock", "hey Bartok"},
		{"ask grey mantel the sage", "ask Greymantle the sage"},
		{"where is fandalin?", "where is Phandalin?"},
		{"we met gun drin rock seeker on the road", "we met Gundren Rockseeker on the road"},
		{"zanathral dendrix sleeps", "Xanathraldendrix sleeps"},
		{"it was silder hall winter.", "it was Sildar Hallwinter."},
		{"I told Bartok everything", "I told Bartok everything"},
		{"bartok. Sage advice.", "Bartok. Sage advice."},
		{"the cragmaws are near", "the cragmaws are near"},
	} {
		got, _ := memory.NewGlossary(lines(t, "names.txt")).Correct(c.heard)
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.heard, got, c.want)
		}
	}
}

// mishear spells a name as a recogniser that has never heard it might.
func mishear(r *rand.Rand, name string) string {
	s := strings.ToLower(name)
	changes := [][2]string{{"ph", "f"}, {"f", "ph"}, {"ck", "k"}, {"k", "c"}, {"x", "cks"}, {"th", "t"}, {"v", "f"}, {"d", "t"},
		{"b", "p"}, {"g", "k"}, {"m", "n"}, {"z", "s"}, {"s", "z"}, {"ll", "l"}, {"rr", "r"}, {"ae", "ay"}, {"y", "i"}, {"i", "ee"},
		{"e", "a"}, {"a", "o"}, {"o", "u"}, {"u", "oo"}, {"er", "ar"}, {"or", "ar"}, {"ar", "er"}, {"in", "en"}, {"en", "an"}, {"wh", "w"}}
	for range 1 + r.IntN(2) {
		for range 20 { // until one applies after the first letter
			c := changes[r.IntN(len(changes))]
			if i := strings.Index(s[1:], c[0]); i >= 0 {
				s = s[:i+1] + c[1] + s[i+1+len(c[0]):]
				break
			}
		}
	}
	if r.IntN(2) == 0 && len(s) > 6 && !strings.Contains(s, " ") {
		at := len(s)/2 - 1 + r.IntN(2)
		s = s[:at] + " " + s[at:]
	}
	return s
}

func TestMostMisheardNamesOfABigCampaignAreRepaired(t *testing.T) {
	names := lines(t, "names.txt")
	g := memory.NewGlossary(names)
	r := rand.New(rand.NewPCG(1, 2))
	frames := []string{"have you seen %s today?", "I heard that %s is gone", "%s, come here.", "we travelled from %s to the coast", "where does %s live"}
	fixed, wrong, total := 0, 0, 0
	for range 10 {
		for _, name := range names {
			frame := frames[r.IntN(len(frames))]
			heard := strings.Replace(frame, "%s", mishear(r, name), 1)
			got, changes := g.Correct(heard)
			total++
			switch {
			case got == strings.Replace(frame, "%s", name, 1):
				fixed++
			case slices.ContainsFunc(changes, func(c memory.Correction) bool { return !strings.Contains(name, c.Name) }):
				wrong++
				if testing.Verbose() {
					t.Logf("%s: %q became %q", name, heard, got)
				}
			case testing.Verbose():
				t.Logf("%s: %q became %q", name, heard, got)
			}
		}
	}
	t.Logf("%d of %d repaired, %d given another name", fixed, total, wrong)
	if fixed*100 < total*85 {
		t.Errorf("%d of %d repaired, want 85 %%", fixed, total)
	}
	if wrong*100 > total {
		t.Errorf("%d of %d given another name, want at most 1 %%", wrong, total)
	}
}

func TestAnOrdinaryWordThatIsANameIsLeftToItsMeaning(t *testing.T) {
	g := memory.NewGlossary([]string{"Rose", "Hope", "Grim", "Marten"})
	for _, s := range []string{"the rose is red", "we hope for the best", "a grim night", "Martin rolled a one", "Rose, come here"} {
		if got, _ := g.Correct(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestCorrectionsSayWhatWasChanged(t *testing.T) {
	text := "ask bar tock or fandalin"
	got, changes := memory.NewGlossary([]string{"Bartok", "Phandalin"}).Correct(text)
	if got != "ask Bartok or Phandalin" || len(changes) != 2 {
		t.Fatalf("got %q with %+v", got, changes)
	}
	for _, c := range changes {
		if text[c.Start:c.End] != c.Heard || c.Likeness < 0.84 {
			t.Errorf("correction %+v does not fit %q", c, text)
		}
	}
}

func TestTaughtMishearingIsAlwaysReplaced(t *testing.T) {
	g := memory.NewGlossary([]string{"Bartok"})
	g.Teach("look and way", "Lucan Vey")
	g.Teach("five words are too many", "Never")
	g.Teach("Bartok", "somebody else") // is right already
	for text, want := range map[string]string{
		"who killed look and way?":        "who killed Lucan Vey?",
		"Look and, way":                   "Look and, way",
		"look and wayward":                "look and wayward",
		"Bartok, five words are too many": "Bartok, five words are too many",
	} {
		if got, _ := g.Correct(text); got != want {
			t.Errorf("Correct(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzCorrect(f *testing.F) {
	g := memory.NewGlossary(lines(f, "names.txt"))
	for _, s := range []string{"bar tock's", "Zoë’s", "'", "a' 'b", "聞いて", "\xff\xfe", "x-y -z", "İ", "ß ﬀ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, changes := g.Correct(s)
		if len(changes) == 0 && got != s {
			t.Errorf("%q became %q without a correction", s, got)
		}
		last := 0
		for _, c := range changes {
			if c.Start < last || c.End > len(s) || s[c.Start:c.End] != c.Heard {
				t.Fatalf("correction %+v does not fit %q", c, s)
			}
			last = c.End
		}
	})
}

func BenchmarkCorrect200Names(b *testing.B) {
	g := memory.NewGlossary(lines(b, "names.txt"))
	clean := lines(b, "clean.txt")
	g.Correct("warm the list of words")
	i := 0
	for b.Loop() {
		g.Correct(clean[i%len(clean)])
		i++
	}
}
