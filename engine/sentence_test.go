package engine

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSentencesEndWherePeopleWouldBreathe(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"plain", "Aye. Two rooms left.", []string{"Aye.", "Two rooms left."}},
		{"question and cry", "A room? Of course! Sit.", []string{"A room?", "Of course!", "Sit."}},
		{"title", "Mr. Gundren left with Dr. Vey. Ask her.", []string{"Mr. Gundren left with Dr. Vey.", "Ask her."}},
		{"initials", "J. R. Hook owes me. Still.", []string{"J. R. Hook owes me.", "Still."}},
		{"number", "It is 3.5 miles. Walk.", []string{"It is 3.5 miles.", "Walk."}},
		{"number ends it", "That makes 12. Pay up.", []string{"That makes 12.", "Pay up."}},
		{"german ordinal", "Am 3. mai kommt er. Gut.", []string{"Am 3. mai kommt er.", "Gut."}},
		{"german abbreviation", "Bring z. B. Brot mit. Danke.", []string{"Bring z. B. Brot mit.", "Danke."}},
		{"quotes", `He said "Run!" and ran. "Now." Quiet.`, []string{`He said "Run!"`, "and ran.", `"Now."`, "Quiet."}},
		{"ellipsis", "Well... maybe. Perhaps…", []string{"Well...", "maybe.", "Perhaps…"}},
		{"lines", "First\nsecond", []string{"First", "second"}},
		{"nothing to say", "... ?! \n —", nil},
		{"chinese", "你好。请坐！", []string{"你好。", "请坐！"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, cut(tc.text, len(tc.text))); diff != "" {
				t.Errorf("at once (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, cut(tc.text, 1)); diff != "" {
				t.Errorf("letter by letter (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEndlessSentenceIsSplitAtABreath(t *testing.T) {
	got := cut(strings.Repeat("and then we walked on, ", 60), 7)
	for _, s := range got {
		if len(s) > maxSentence+utf8.UTFMax {
			t.Errorf("sentence of %d bytes, want at most %d", len(s), maxSentence)
		}
	}
	if len(got) < 3 {
		t.Errorf("got %d sentences, want the text split in several", len(got))
	}
}

// cut feeds text in pieces of n bytes, as a model's stream would.
func cut(text string, n int) []string {
	var s splitter
	var out []string
	for len(text) > 0 {
		k := min(n, len(text))
		for k < len(text) && !utf8.RuneStart(text[k]) {
			k++
		}
		out = append(out, s.push(text[:k])...)
		text = text[k:]
	}
	return append(out, s.flush()...)
}

func FuzzSplitterLosesNoLetters(f *testing.F) {
	f.Add("Mr. X said 3.5. \"Go!\" Then?", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if !utf8.ValidString(text) || n < 1 {
			t.Skip("a model's stream is decoded text")
		}
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if speakable(string(r)) {
					return r
				}
				return -1
			}, s)
		}
		if got, want := letters(strings.Join(cut(text, n), "")), letters(text); got != want {
			t.Errorf("got letters %q, want %q", got, want)
		}
	})
}
