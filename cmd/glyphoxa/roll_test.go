package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// glyphoxa runs a command as a shell would.
func glyphoxaRun(t *testing.T, input string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, stdio{strings.NewReader(input), &o, &e})
	return code, o.String(), e.String()
}

func TestRollAnswersEachLineWithOneObject(t *testing.T) {
	input := "1d20+5\n\n4d6kx3\n" + `{"expr":"1d20","advantage":"adv"}` + "\n{1d4,2}kh1\n" +
		`{"expr":"1d20","advantage":"often"}` + "\n" + `{"expr":` + "\n" + strings.Repeat("9", 100_000) + "\n8d6>4"
	code, out, errs := glyphoxaRun(t, input, "roll", "--json", "--stdin", "--seed", "7")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d, %s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := []string{"1d20 + 5", "syntax", "syntax", "2d20kh1", "(1d4, 2)kh1", "value", "syntax", "limit", "8d6 > 4"}
	if len(lines) != len(want) {
		t.Fatalf("%d lines for %d:\n%s", len(lines), len(want), out)
	}
	for i, line := range lines {
		var got struct {
			Expression *string
			Canonical  string
			Total      *int64
			Error      *struct {
				Class   string
				Column  int
				Message string
			}
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Expression == nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		said := got.Canonical
		if got.Error != nil {
			said = got.Error.Class
		}
		if said != want[i] || (got.Error == nil) != (got.Total != nil) {
			t.Errorf("line %d: got %s, want %s", i+1, line, want[i])
		}
	}
}

func TestRollTakesExpressionsThatLookLikeFlags(t *testing.T) {
	for _, args := range [][]string{{"-d20"}, {"-1d20"}, {"--1"}, {"2d6", "+", "3"}, {"--", "-5"}, {"-5", "--json"}, {"1d20", "--seed=3"}} {
		if code, out, errs := glyphoxaRun(t, "", append([]string{"roll"}, args...)...); code != 0 || out == "" {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}

func TestRollExplainsItself(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		said string
	}{
		{[]string{"4d6kx3"}, 1, "did you mean kh3?"},
		{[]string{}, 2, "nothing to roll"},
		{[]string{"--jsn", "1d20"}, 2, "no flag --jsn"},
		{[]string{"--times", "0", "1d20"}, 2, "--times"},
		{[]string{"--times"}, 2, "needs a number"},
		{[]string{"--seed", "dawn", "1d20"}, 2, "--seed"},
	} {
		if code, _, errs := glyphoxaRun(t, "", append([]string{"roll"}, c.args...)...); code != c.code || !strings.Contains(errs, c.said) {
			t.Errorf("%v: exit %d, %q", c.args, code, errs)
		}
	}
}

func TestRollTimesCountsEveryRoll(t *testing.T) {
	code, out, errs := glyphoxaRun(t, "", "roll", "--json", "--times", "100000", "--seed", "1", "2d6")
	var got struct {
		Total int64
		Stats struct {
			N        int
			Min, Max int64
			Mean     float64
		}
	}
	if code != 0 || json.Unmarshal([]byte(out), &got) != nil || got.Stats.N != 100_000 ||
		got.Stats.Min != 2 || got.Stats.Max != 12 || got.Stats.Mean < 6.95 || got.Stats.Mean > 7.05 {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if _, again, _ := glyphoxaRun(t, "", "roll", "--json", "--times", "100000", "--seed", "1", "2d6"); again != out {
		t.Error("the same seed rolled something else")
	}
}
