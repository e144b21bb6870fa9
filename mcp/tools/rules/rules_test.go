package rules

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// library is the shipped one.
func library(t testing.TB) *Library {
	t.Helper()
	l, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestEveryEntryCanBeSaidAndShown(t *testing.T) {
	for _, e := range library(t).entries {
		if n := len(strings.Fields(e.Say)); n == 0 || n > 25 {
			t.Errorf("%s: say has %d words", e.ID, n)
		}
		if n := len(strings.Fields(e.Text)); n == 0 || n > 80 {
			t.Errorf("%s: text has %d words", e.ID, n)
		}
		if len(e.SRD) == 0 || e.Name == "" || e.Kind == "" || e.System != system {
			t.Errorf("%s: %+v", e.ID, e)
		}
	}
}

func TestRulesAreFoundByFullAndShortIDs(t *testing.T) {
	l := library(t)
	for in, want := range map[string]string{
		"dnd5e-2024/condition/exhaustion": "dnd5e-2024/condition/exhaustion",
		"condition-blinded":               "dnd5e/condition/blinded",
		"condition/exhaustion":            "dnd5e-2014/condition/exhaustion",
		" Combat-Cover ":                  "dnd5e/combat/cover",
		"combat/influence":                "dnd5e-2024/combat/influence",
	} {
		if e, err := l.Get(in, ""); err != nil || e.ID != want {
			t.Errorf("%s: got %v, %v, want %s", in, e, err, want)
		}
	}
	for _, in := range []string{"", "condition-", "nothing-here", "../../etc/passwd", strings.Repeat("x", 10_000)} {
		if e, err := l.Get(in, ""); !errors.Is(err, ErrUnknown) {
			t.Errorf("%.20q: got %v, %v", in, e, err)
		}
	}
}

func TestEachEditionAnswersForItself(t *testing.T) {
	l := library(t)
	for _, edition := range []Edition{Edition2014, Edition2024} {
		for _, question := range []string{"what does exhaustion do", "how does surprise work", "how do I grapple someone", "long rest"} {
			hits := l.Search(Query{Text: question, Edition: edition})
			if len(hits) == 0 || hits[0].Edition != edition {
				t.Errorf("%s in %s: got %v", question, edition, hits)
			}
			if slices.ContainsFunc(hits, func(h Hit) bool { return h.Edition != "" && h.Edition != edition }) {
				t.Errorf("%s in %s: the other edition answers too", question, edition)
			}
		}
	}
}
func TestEveryReferenceLeadsSomewhere(t *testing.T) {
	l := library(t)
	for _, e := range l.entries {
		for _, see := range e.See {
			if _, err := l.Get(see, ""); err != nil {
				t.Errorf("%s: %v", e.ID, err)
			}
		}
		if e.Differs == "" {
			continue
		}
		other, err := l.Get(e.Differs, "")
		if err != nil || other.Differs != e.ID || other.Edition == e.Edition || other.Say == e.Say && other.Text == e.Text {
			t.Errorf("%s differs from %s: %v", e.ID, e.Differs, err)
		}
	}
}
