package npc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFeelingsMoveWithWhatIsSaid(t *testing.T) {
	now := time.Now()
	f := NewFeelings([]string{"jovial", "worried", "flustered"})
	f.Hear("mira", "Give me your money or else!", now)
	if got := f.Mood(now); got != "worried" {
		t.Errorf("threatened: %q, want worried", got)
	}
	if got := f.Toward("mira", "Mira", now); !strings.Contains(got, "do not trust Mira") {
		t.Errorf("of Mira: %q", got)
	}
	if got := f.Toward("dave", "Dave", now); strings.Contains(got, "Dave") {
		t.Errorf("of Dave, who said nothing: %q", got)
	}
	if got := f.Mood(now.Add(moodLasts + time.Second)); got != "jovial" {
		t.Errorf("later: %q, want the usual mood", got)
	}
	for range 6 {
		f.Hear("mira", "I'm sorry, forgive me.", now)
	}
	if got := f.Toward("mira", "Mira", now); !strings.Contains(got, "like Mira") {
		t.Errorf("after many apologies: %q", got)
	}
}

func TestTonesAreWholeWordsAndMeant(t *testing.T) {
	for text, want := range map[string]Tone{
		"Thank you, Bartok.": Thanking, "You liar!": Insulting, "The liars' guild?": Neutral, "I am no fool.": Neutral,
		"How is business?": Neutral, "This stew is delicious!": Praising, "Father, may I?": Neutral, "Danke, Wirt.": Thanking, "¡Mentiroso!": Insulting,
	} {
		if got := ToneOf(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestFeelingsStayWithinTheCampaignsMoods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moods := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"jovial", "angry", "afraid", "sad", "proud"}), 0, 4, rapid.ID[string]).Draw(t, "moods")
		f := NewFeelings(moods)
		now := time.Now()
		for i := range rapid.IntRange(0, 200).Draw(t, "lines") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second)
			f.Hear(fmt.Sprint(i), rapid.SampledFrom([]string{"thanks", "you idiot", "or else", "sorry", "you're the best", "hm"}).Draw(t, "said"), now)
			if m := f.Mood(now); m != "" && !slices.Contains(moods, m) || len(f.bonds) > maxBonds {
				t.Fatalf("mood %q of %q, %d bonds", m, moods, len(f.bonds))
			}
		}
	})
}
