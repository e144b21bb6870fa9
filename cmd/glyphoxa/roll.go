package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/glyphoxa/glyphoxa/mcp/tools/dice"
)

const (
	// maxTimes keeps one command to seconds: it is about the work of an
	// afternoon's fairness test, not of a table.
	maxTimes = 10_000_000
	// maxLine is the longest line read from standard input. An expression is
	// at most dice.MaxLength characters; JSON may escape each of them.
	maxLine = 16 * dice.MaxLength
)

const rollUsage = `Usage: glyphoxa roll [flags] EXPR

Rolls dice: 1d20+5, 4d6kh3, 8d6[fire], (1d4, 2d6kl1)kh1, "two d six plus three".

  --json            one JSON object a line
  --stdin           one expression a line, or one JSON object a line with expr
                    and advantage (adv, dis)
  --times N         roll N times and show the smallest, largest and mean total
  --seed N          the same dice for the same number; 64 hex digits replay a
                    session's revealed seed
  --advantage       roll the leading d20 twice and keep the higher one
  --disadvantage    roll it twice and keep the lower one
`

// rollFlags are the flags of roll. They are read by hand because an expression
// may itself begin with a minus.
type rollFlags struct {
	json, stdin bool
	times       int // 0 without --times: one roll, no statistics
	roller      *dice.Roller
	advantage   dice.Advantage
	words       []string
}

// roll is the command: it exits with 0 when everything was rolled, and when
// --stdin answered every line.
func roll(ctx context.Context, args []string, io stdio) int {
	f, err := parseRollFlags(args)
	switch {
	case errors.Is(err, errHelp):
		fmt.Fprint(io.out, rollUsage)
		return 0
	case err != nil:
		fmt.Fprintf(io.err, "glyphoxa roll: %v\n\n%s", err, rollUsage)
		return 2
	case f.stdin:
		return f.lines(ctx, io)
	case len(f.words) == 0:
		fmt.Fprintf(io.err, "glyphoxa roll: there is nothing to roll\n\n%s", rollUsage)
		return 2
	}
	answer := f.answer(ctx, strings.Join(f.words, " "), f.advantage)
	if f.json {
		if err := writeJSON(io.out, answer); err != nil {
			fmt.Fprintf(io.err, "glyphoxa roll: %v\n", err)
			return 1
		}
	} else {
		answer.print(io)
	}
	if answer.Error != nil {
		return 1
	}
	return 0
}

// errHelp says that the user asked for the usage.
var errHelp = errors.New("help wanted")

func parseRollFlags(args []string) (f rollFlags, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			f.words = append(f.words, args[i+1:]...)
			break
		}
		name, value, inline := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		if !strings.HasPrefix(arg, "-") {
			name = ""
		}
		switch name {
		case "h", "help":
			return f, errHelp
		case "json":
			f.json = true
		case "stdin":
			f.stdin = true
		case "advantage", "adv":
			f.advantage = dice.WithAdvantage
		case "disadvantage", "dis":
			f.advantage = dice.WithDisadvantage
		case "times", "seed":
			if !inline {
				if i++; i == len(args) {
					return f, fmt.Errorf("--%s needs a number", name)
				}
				value = args[i]
			}
			if name == "times" {
				if f.times, err = strconv.Atoi(value); err != nil || f.times < 1 || f.times > maxTimes {
					return f, fmt.Errorf("--times %s: want a number from 1 to %d", value, maxTimes)
				}
			} else if f.roller, err = seeded(value); err != nil {
				return f, err
			}
		default:
			if looksLikeFlag(name) {
				return f, fmt.Errorf("there is no flag %s", arg)
			}
			f.words = append(f.words, arg)
		}
	}
	if f.roller == nil {
		f.roller = dice.NewFair().Roller
	}
	return f, nil
}

// looksLikeFlag tells --jsn from -d20: no expression begins with three letters
// after a minus.
func looksLikeFlag(name string) bool {
	letters := 0
	for letters < len(name) && name[letters] >= 'a' && name[letters] <= 'z' {
		letters++
	}
	return letters >= 3
}

// seeded returns the dice of a number, or of a session's revealed seed.
func seeded(value string) (*dice.Roller, error) {
	if len(value) == 64 {
		return dice.Replay(value)
	}
	if n, err := strconv.ParseUint(value, 0, 64); err == nil {
		return dice.NewSeeded(n), nil
	}
	n, err := strconv.ParseInt(value, 0, 64)
	if err != nil {
		return nil, fmt.Errorf("--seed %s: want a number or 64 hex digits", value)
	}
	return dice.NewSeeded(uint64(n)), nil
}

// A rollAnswer is one line of output: a result or an error.
type rollAnswer struct {
	Expression string `json:"expression"`
	*rolled
	Stats *rollStats  `json:"stats,omitempty"`
	Error *dice.Error `json:"error,omitempty"`
}

// rolled are the fields of a result without its expression, which is there
// even when there is no result.
type rolled struct {
	Canonical string     `json:"canonical"`
	Total     int64      `json:"total"`
	Dice      []dice.Die `json:"dice"`
	Crit      string     `json:"crit,omitempty"`
	Text      string     `json:"text"`
	Comment   string     `json:"comment,omitempty"`
	Hint      string     `json:"hint,omitempty"`
}

// rollStats describe the totals of --times.
type rollStats struct {
	N    int     `json:"n"`
	Min  int64   `json:"min"`
	Max  int64   `json:"max"`
	Mean float64 `json:"mean"`
}

// answer rolls one expression as often as asked. The dice shown are those of
// the first roll.
func (f *rollFlags) answer(ctx context.Context, expr string, adv dice.Advantage) rollAnswer {
	a := rollAnswer{Expression: expr}
	first, err := f.roller.Roll(expr, adv)
	if err != nil {
		return a.failed(err)
	}
	if f.times > 0 {
		if a.Stats, err = f.repeat(ctx, expr, adv, first.Total); err != nil {
			a.Stats = nil
			return a.failed(err)
		}
	}
	a.rolled = &rolled{first.Canonical, first.Total, first.Dice, first.Crit, first.Text, first.Comment, first.Hint}
	return a
}

func (a rollAnswer) failed(err error) rollAnswer {
	if e, ok := errors.AsType[*dice.Error](err); ok {
		a.Error = e
	} else {
		a.Error = &dice.Error{Class: dice.Limit, Column: 1, Message: err.Error()}
	}
	return a
}

// repeat rolls the rest of --times after the first total.
func (f *rollFlags) repeat(ctx context.Context, expr string, adv dice.Advantage, first int64) (*rollStats, error) {
	e, err := dice.Parse(expr)
	if err != nil {
		return nil, err
	}
	s := &rollStats{N: f.times, Min: first, Max: first}
	sum := float64(first)
	for i := range f.times - 1 {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		total, err := f.roller.Total(e, adv)
		if err != nil {
			return nil, err
		}
		s.Min, s.Max = min(s.Min, total), max(s.Max, total)
		sum += float64(total)
	}
	s.Mean = sum / float64(s.N)
	return s, nil
}

// lines answers standard input line by line: one line in, one line out, so
// that a program on the other end can pair them.
func (f *rollFlags) lines(ctx context.Context, io stdio) int {
	in := bufio.NewReader(io.in)
	out := bufio.NewWriter(io.out)
	defer out.Flush()
	for ctx.Err() == nil {
		line, err := readLine(in)
		if err != nil {
			return 0
		}
		expr, adv, wrong := f.request(line)
		answer := rollAnswer{Expression: expr, Error: wrong}
		if wrong == nil {
			answer = f.answer(ctx, expr, adv)
		}
		if !f.json {
			answer.print(stdio{out: out, err: out})
		} else if err := writeJSON(out, answer); err != nil {
			fmt.Fprintf(io.err, "glyphoxa roll: %v\n", err)
			return 1
		}
		if in.Buffered() == 0 {
			out.Flush() // somebody may be waiting for this answer
		}
	}
	return 1
}

// readLine returns the next line without its end, cut where it is longer than
// any request. The error is io.EOF behind the last line.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine+1-min(len(line), maxLine+1))]...)
		switch {
		case err == nil:
			return strings.TrimRight(string(line), "\r\n"), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(line) > 0:
			return string(line), nil
		default:
			return "", io.EOF
		}
	}
}

// request reads a line: JSON when it begins like an object with a key, else an
// expression; a brace alone is one of Roll20's sets.
func (f *rollFlags) request(line string) (expr string, adv dice.Advantage, wrong *dice.Error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "{")
	if !ok || !strings.HasPrefix(strings.TrimSpace(rest), `"`) {
		return line, f.advantage, nil
	}
	var in struct {
		Expr       string `json:"expr"`
		Expression string `json:"expression"`
		Advantage  string `json:"advantage"`
	}
	if err := json.Unmarshal([]byte(line), &in); err != nil {
		return line, 0, &dice.Error{
			Class: dice.Syntax, Column: 1, Message: "that is no JSON object with expr and advantage",
			Hint: `write {"expr":"1d20+5","advantage":"adv"}`,
		}
	}
	if expr = in.Expr; expr == "" {
		expr = in.Expression
	}
	adv, err := dice.ParseAdvantage(in.Advantage)
	if e, ok := errors.AsType[*dice.Error](err); ok {
		return expr, adv, e
	}
	if adv == dice.Straight {
		adv = f.advantage
	}
	return expr, adv, nil
}

// print shows an answer to a person.
func (a rollAnswer) print(io stdio) {
	if a.Error != nil {
		fmt.Fprintf(io.err, "%s\n", a.Error.Message)
		if a.Error.Class != dice.Limit || a.Error.Column > 1 {
			fmt.Fprintf(io.err, "  %s\n  %*s\n", a.Expression, a.Error.Column, "^")
		}
		if a.Error.Hint != "" {
			fmt.Fprintf(io.err, "%s\n", a.Error.Hint)
		}
		return
	}
	fmt.Fprintln(io.out, a.Text)
	if a.Crit == "crit" {
		fmt.Fprintln(io.out, "A natural 20!")
	}
	if a.Crit == "fail" {
		fmt.Fprintln(io.out, "A natural 1.")
	}
	if s := a.Stats; s != nil {
		fmt.Fprintf(io.out, "%d rolls: %d to %d, mean %.3f\n", s.N, s.Min, s.Max, s.Mean)
	}
	if a.Hint != "" {
		fmt.Fprintf(io.out, "(%s)\n", a.Hint)
	}
}

// writeJSON writes v on one line in which < and > stay readable.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
