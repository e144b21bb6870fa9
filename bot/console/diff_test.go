package console

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDifferencesShowWhatChangedAndALittleAround(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj"
	after := "a\nb\nc\nd\nE\nf\ng\nh\ni\nj\nk"
	want := []change{{" ", "b"}, {" ", "c"}, {" ", "d"}, {"-", "e"}, {"+", "E"}, {" ", "f"}, {" ", "g"}, {" ", "h"}, {" ", "i"}, {" ", "j"}, {"+", "k"}}
	if diff := cmp.Diff(want, differences(before, after), cmp.AllowUnexported(change{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := differences(before, before); len(got) != 0 {
		t.Errorf("equal texts differ by %v", got)
	}
}

// Both texts can be read off a comparison, and nothing in it is longer than both.
func TestBothTextsAreInTheirComparison(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		a, b := words.Draw(t, "a"), words.Draw(t, "b")
		var left, right []string
		for _, c := range compare(a, b) {
			if c.sign != "+" {
				left = append(left, c.text)
			}
			if c.sign != "-" {
				right = append(right, c.text)
			}
		}
		if strings.Join(left, "") != strings.Join(a, "") || strings.Join(right, "") != strings.Join(b, "") {
			t.Fatalf("%v and %v compare as %v and %v", a, b, left, right)
		}
	})
	huge := strings.Split(strings.Repeat("x\n", maxDiff+1), "\n")
	if got := len(compare(huge, huge)); got != 2*len(huge) {
		t.Errorf("huge texts are compared in %d lines, want both whole: %d", got, 2*len(huge))
	}
}
