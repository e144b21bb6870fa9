package dice

import "testing"

func TestSentencesRollWhatTheySay(t *testing.T) {
	for said, want := range map[string]string{
		"a d twenty plus five":                    "1d20 + 5",
		"two d six plus three":                    "2d6 + 3",
		"two d six":                               "2d6",
		"one d twenty with advantage":             "2d20kh1",
		"roll a d20 with advantage":               "2d20kh1",
		"d 20 plus seven at disadvantage":         "2d20kl1 + 7",
		"with advantage d twenty plus two":        "2d20kh1 + 2",
		"Roll a d-twenty, please":                 "1d20",
		"to d six":                                "2d6",
		"for d six drop the lowest":               "4d6pl1",
		"4d6 keep the highest three plus 2":       "4d6kh3 + 2",
		"percentile dice":                         "1d100",
		"a d percent":                             "1d100",
		"a twenty sided die minus one":            "1d20 - 1",
		"three six-sided dice":                    "3d6",
		"a d hundred":                             "1d100",
		"one d one hundred":                       "1d100",
		"ten d ten times two":                     "10d10 * 2",
		"a hundred d six":                         "100d6",
		"four fate dice plus one":                 "4dF + 1",
		"d twenty plus twenty one":                "1d20 + 21",
		"dtwenty":                                 "1d20",
		"I'd like to roll a d 20 for stealth":     "1d20",
		"two d sixes plus a d four":               "2d6 + 1d4",
		"could you give me eight d six":           "8d6",
		"one d twelve plus two d eight minus one": "1d12 + 2d8 - 1",
		"two d six rerolling ones":                "2d6ro1",
		"three d six exploding":                   "3d6e6",
		"fifteen divided by two":                  "15 / 2",
		"2 d 6 + 3":                               "2d6 + 3",
		"won dee twenty":                          "1d20",
	} {
		got, err := NewSeeded(1).Roll(said, Straight)
		if err != nil || got.Canonical != want {
			t.Errorf("%q: got %s, %v, want %s", said, got.Canonical, err, want)
		}
	}
}

func TestSentencesWithoutDiceAreRefused(t *testing.T) {
	for _, said := range []string{
		"hello there", "with advantage", "I want to talk to the innkeeper", "a dozen apples",
		"what do you mean", "two thousand", "keep the highest", "the d of it",
	} {
		if got, err := NewSeeded(1).Roll(said, Straight); err == nil {
			t.Errorf("%q rolled %s", said, got.Text)
		}
	}
}

func TestWordsBehindDiceAreAComment(t *testing.T) {
	for said, want := range map[string]string{
		"1d20 keep watch":           "keep watch",
		"1d20+5 to hit":             "to hit",
		"1d20 # 2d6 later":          "2d6 later",
		"d twenty to hit the troll": "to hit the troll",
		"1d20 for initiative":       "for initiative",
		"1d20":                      "",
	} {
		got, err := NewSeeded(1).Roll(said, Straight)
		if err != nil || got.Comment != want || got.Canonical != "1d20" && got.Canonical != "1d20 + 5" {
			t.Errorf("%q: got %s with %q, %v, want %q", said, got.Canonical, got.Comment, err, want)
		}
	}
}
