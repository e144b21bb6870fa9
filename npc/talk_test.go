package npc

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// A labelled line is one of the labelled set.
type labelled struct {
	category string
	in       ExplainInput
	// to are the NPCs who should answer; "everyone" is all of them.
	to     []string
	tier   string
	intent string // "" is not checked
	target string
	where  string
}

// readTalk reads one half of the labelled set.
func readTalk(tb testing.TB, name string) []labelled {
	tb.Helper()
	f, err := os.Open("testdata/talk/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var all []labelled
	var room ExplainInput
	category := ""
	list := func(s string) (out []string) {
		for p := range strings.SplitSeq(s, ";") {
			out = append(out, strings.TrimSpace(p))
		}
		return out
	}
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		switch head, rest, _ := strings.Cut(line, ":"); {
		case head == "room":
			room = ExplainInput{NPCsPresent: list(rest)}
		case head == "players":
			room.PlayerNames = list(rest)
		case head == "pcs":
			room.PCNames = list(rest)
		case strings.HasPrefix(line, "-- "):
			category = line[3:]
		case category != "" && line != "":
			s := labelled{category: category, in: room, tier: "fast", where: fmt.Sprintf("%s:%d", name, n)}
			cols := strings.Split(line, "|")
			if len(cols) < 2 {
				tb.Fatalf("%s: want text | addressed | tier | options, got %q", s.where, line)
			}
			s.in.Text = strings.TrimSpace(cols[0])
			if to := strings.TrimSpace(cols[1]); to != "-" {
				for p := range strings.SplitSeq(to, " + ") {
					s.to = append(s.to, strings.TrimSpace(p))
				}
			}
			if len(cols) > 2 && strings.TrimSpace(cols[2]) != "" {
				s.tier = strings.TrimSpace(cols[2])
			}
			if len(cols) > 3 {
				s.options(tb, cols[3])
			}
			all = append(all, s)
		}
	}
	if err := sc.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

// options reads "dm first lang=de last=Bartok@4 target=Captain Vex".
func (s *labelled) options(tb testing.TB, text string) {
	tb.Helper()
	key := ""
	put := func(v string) {
		switch key {
		case "last":
			name, secs, _ := strings.Cut(v, "@")
			s.in.LastNPC = name
			s.in.LastNPCSecondsAgo, _ = strconv.ParseFloat(secs, 64)
		case "lang":
			s.in.Lang = v
		case "target":
			s.target = v
		case "intent":
			s.intent = v
		}
	}
	value := ""
	flush := func() {
		if key != "" {
			put(strings.TrimSpace(value))
		}
		key, value = "", ""
	}
	for w := range strings.FieldsSeq(text) {
		k, v, ok := strings.Cut(w, "=")
		switch {
		case ok:
			flush()
			key, value = k, v
		case w == "dm":
			flush()
			s.in.Speaker = "dm"
		case w == "first":
			flush()
			s.in.FirstTurn = true
		case key != "":
			value += " " + w
		default:
			tb.Fatalf("%s: unknown option %q", s.where, w)
		}
	}
	flush()
}

// A tally counts how often something was right.
type tally struct{ right, all int }

func (t *tally) add(ok bool) {
	t.all++
	if ok {
		t.right++
	}
}

func (t tally) percent() float64 {
	if t.all == 0 {
		return 0
	}
	return 100 * float64(t.right) / float64(t.all)
}

// A scorecard is how well a half of the set went.
type scorecard struct {
	silence  tally // lines to nobody that nobody answers
	category map[string]*tally
	commands tally
	tier     tally
	intent   tally
	// needlessDeep counts deep turns that nobody asked for.
	needlessDeep int
	failures     []string
}

// score explains every line and compares.
func score(lines []labelled) scorecard {
	c := scorecard{category: map[string]*tally{}}
	for _, s := range lines {
		out := Explainer{}.Explain(s.in)
		var got []string
		if out.Addressed != nil {
			got = append(append(got, *out.Addressed), out.Also...)
		}
		right := strings.Join(got, " + ") == strings.Join(s.to, " + ")
		target := ""
		if out.Target != nil {
			target = *out.Target
		}
		fail := func(what string, got, want any) {
			c.failures = append(c.failures, fmt.Sprintf("%s (%s) %q: %s %v, want %v: %s", s.where, s.category, s.in.Text, what, got, want, strings.Join(out.Reasons, "; ")))
		}
		if s.target != "" {
			c.commands.add(target == s.target && out.Intent == "command")
			if target != s.target {
				fail("target", target, s.target)
			}
		}
		if len(s.to) == 0 {
			c.silence.add(out.Addressed == nil)
		} else {
			if c.category[s.category] == nil {
				c.category[s.category] = &tally{}
			}
			c.category[s.category].add(right)
		}
		if !right {
			fail("addressed", got, s.to)
		}
		c.tier.add(out.Tier.String() == s.tier)
		if out.Tier.String() != s.tier {
			fail("tier", out.Tier, s.tier)
		}
		if out.Tier.String() == "deep" && s.tier != "deep" {
			c.needlessDeep++
		}
		if s.intent != "" {
			c.intent.add(out.Intent == s.intent)
			if out.Intent != s.intent {
				fail("intent", out.Intent, s.intent)
			}
		}
	}
	return c
}

func TestNPCsAnswerWhatIsSaidToThemAndNothingElse(t *testing.T) {
	for _, half := range []string{"tuning.txt", "tables.txt", "held-out.txt"} {
		t.Run(half, func(t *testing.T) {
			c := score(readTalk(t, half))
			if half != "held-out.txt" { // that half is not for looking at
				for _, f := range c.failures {
					t.Log(f)
				}
			}
			if got := 100 - c.silence.percent(); got > 4 {
				t.Errorf("false speech: %.1f %%, want at most 4 %%", got)
			}
			for category, least := range map[string]float64{"direct": 95, "title": 95, "misheard": 85, "follow-up": 84, "narrated": 90, "two": 80, "other languages": 90} {
				if got := c.category[category].percent(); got < least {
					t.Errorf("%s: %.1f %% right, want at least %v %%", category, got, least)
				}
			}
			if c.commands.percent() < 100 {
				t.Errorf("commands: %.1f %% right, want all", c.commands.percent())
			}
			if c.tier.percent() < 92 {
				t.Errorf("tiers: %.1f %% right, want at least 92 %%", c.tier.percent())
			}
			if c.intent.percent() < 90 {
				t.Errorf("intents: %.1f %% right, want at least 90 %%", c.intent.percent())
			}
			if c.needlessDeep > 0 {
				t.Errorf("%d needless deep turns, want none", c.needlessDeep)
			}
		})
	}
}

// BenchmarkAddressing reports how well both halves of the labelled set go, and
// how long a decision takes.
func BenchmarkAddressing(b *testing.B) {
	for _, half := range []string{"tuning.txt", "tables.txt", "held-out.txt"} {
		b.Run(half, func(b *testing.B) {
			lines := readTalk(b, half)
			c := score(lines)
			b.ReportMetric(100-c.silence.percent(), "false-speech-%")
			for _, category := range []string{"direct", "title", "misheard", "follow-up"} {
				b.ReportMetric(c.category[category].percent(), category+"-%")
			}
			b.ReportMetric(c.commands.percent(), "commands-%")
			b.ReportMetric(c.tier.percent(), "tier-%")
			b.ReportMetric(float64(c.needlessDeep), "needless-deep")
			cast, us := castOf(lines)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				cast.Address(us[i%len(us)])
				i++
			}
		})
	}
}

// castOf is the cast of the set's first room and what is said in it.
func castOf(lines []labelled) (*Cast, []Utterance) {
	var people []Character
	room := Room{Players: lines[0].in.PlayerNames, PCs: lines[0].in.PCNames}
	for _, n := range lines[0].in.NPCsPresent {
		people = append(people, Plain(n))
		room.Present = append(room.Present, Plain(n).ID)
	}
	var us []Utterance
	for _, l := range lines {
		if l.in.Lang == "" {
			u := Utterance{Text: l.in.Text, DM: l.in.Speaker == "dm", Since: time.Duration(l.in.LastNPCSecondsAgo) * time.Second}
			if l.in.LastNPC != "" {
				u.Last = Plain(l.in.LastNPC).ID
			}
			us = append(us, u)
		}
	}
	return NewCast(people, room), us
}

func TestDecidingThatNobodyIsMeantAllocatesNothing(t *testing.T) {
	cast, us := castOf(readTalk(t, "tuning.txt"))
	for _, u := range us {
		d := cast.Address(u)
		if len(d.To) > 1 || d.Command.Kind != NoCommand {
			continue
		}
		if got := testing.AllocsPerRun(1, func() { cast.Address(u) }); got > 0 {
			t.Errorf("%q: %v allocations, want none", u.Text, got)
		}
	}
}

func BenchmarkSelectTier(b *testing.B) {
	cast, us := castOf(readTalk(b, "tuning.txt"))
	d := cast.Address(us[0])
	b.ReportAllocs()
	for b.Loop() {
		SelectTier(&d, Moment{Ceiling: mcp.Deep, Waiting: 1})
	}
}
