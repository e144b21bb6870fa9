package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
)

// yes is a boolean as attributes spell it.
func yes(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// count is "1 tool", "3 tools".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// known drops what is empty.
func known(parts ...string) []string {
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

func hiddenCount(n bot.NPC) string {
	if len(n.Hidden) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d hidden", len(n.Hidden))
}

func orSomebody(name string) string { return cmp.Or(name, "somebody") }

// vals are fields of an action as htmx takes them: a JSON object.
func vals(pairs ...string) string {
	m := map[string]string{}
	for p := range slices.Chunk(pairs, 2) {
		m[p[0]] = p[1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		return "{}" // strings always marshal
	}
	return string(b)
}

// Names are the NPCs of those ids as one reads them.
func (v viewer) Names(ids []string) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = v.Name(id)
	}
	return strings.Join(names, ", ")
}

// ours reports whether a picture's address is a path on this server. Browsers read
// "//x" and "/\\x" as another host.
func ours(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.Contains(path, `\`)
}

// Statement is a statement in words.
func (v viewer) Statement(s bot.Statement) string {
	if s.Object == "" {
		return s.Text
	}
	words := v.Name(s.About) + " " + s.Kind + " " + v.Name(s.Object)
	if s.Text != "" {
		words += ": " + s.Text
	}
	return words
}

// hint is an example of what one may say here, with the name of somebody present.
func hint(s bot.Snapshot) string {
	for _, n := range s.NPCs {
		if n.State != bot.Absent && n.State != bot.Muted {
			first, _, _ := strings.Cut(n.Name, " ")
			return fmt.Sprintf("Say something: “%s, what have you heard lately?”", first)
		}
	}
	return "Say something"
}

// alertID is the same for the same text, so that an alert that is raised again
// does not stand there twice.
func alertID(a bot.Alert) string {
	h := fnv.New64a()
	h.Write([]byte(a.Text))
	return fmt.Sprintf("alert-%x", h.Sum64())
}

func alertIcon(a bot.Alert) string {
	if a.Bad {
		return "warn"
	}
	return "info"
}

// A bar is one stage of a turn; from and to are parts of the whole.
type bar struct {
	name, class string
	from, to    float64
	took        time.Duration
}

// stages are the bars of a turn's waterfall: each begins where the one before
// ended. Stages that did not happen are left out, and so is the speaking itself:
// it is as long as the line, not as the waiting.
func stages(t bot.Turn) []bar {
	all := []struct {
		name, class string
		at          time.Duration
	}{
		{"recognised", "hear", t.Heard}, {"routed", "route", t.Routed}, {"briefed", "brief", t.Briefed}, {"first word", "think", t.FirstToken},
		{"sentence", "write", t.FirstSentence}, {"first sound", "speak", t.FirstSound},
	}
	if t.FirstSound == 0 { // nothing was said: show what took so long instead
		all = append(all, all[0])
		all[len(all)-1].name, all[len(all)-1].class, all[len(all)-1].at = "end", "end", t.Ended
	}
	var whole, before time.Duration
	for _, s := range all {
		whole = max(whole, s.at)
	}
	var out []bar
	for _, s := range all {
		if s.at <= 0 {
			continue
		}
		from := min(before, s.at)
		out = append(out, bar{s.name, s.class, float64(from) / float64(whole), float64(s.at) / float64(whole), s.at - from})
		before = s.at
	}
	return out
}

// spoken is the waterfall for who cannot see it.
func spoken(bars []bar) string {
	parts := make([]string, len(bars))
	for i, b := range bars {
		parts[i] = b.name + " " + short(b.took)
	}
	return strings.Join(parts, ", ")
}

// query is the part of an address after the question mark.
func query(pairs ...string) string {
	q := url.Values{}
	for p := range slices.Chunk(pairs, 2) {
		if p[1] != "" {
			q.Set(p[0], p[1])
		}
	}
	return q.Encode()
}

// current marks the chosen one of several links.
func current(is bool) string {
	if is {
		return "true"
	}
	return "false"
}

// coord is a number in a picture.
func coord(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// lasted is how long a sitting went on.
func lasted(s bot.Sitting) string {
	if s.Ended.IsZero() {
		return "not closed"
	}
	return s.Ended.Sub(s.Started).Round(time.Minute).String()
}

// size is a number of bytes as people read it.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}

// sparks is how many calls a sparkline shows.
const sparks = 40

func shortest(d []time.Duration) time.Duration { return slices.Min(d[max(0, len(d)-sparks):]) }
func longest(d []time.Duration) time.Duration  { return slices.Max(d[max(0, len(d)-sparks):]) }

// heights are the bars of a sparkline 22 high.
func heights(d []time.Duration) []float64 {
	d = d[max(0, len(d)-sparks):]
	top := max(longest(d), 1)
	out := make([]float64, len(d))
	for i, v := range d {
		out[i] = max(1.5, 22*float64(v)/float64(top))
	}
	return out
}

// usage is what a turn took of the model and what it cost: "1,204 tokens, 960 of
// them cached, 41 written · 0.0021".
func usage(t bot.Turn) string {
	var parts []string
	if u := t.Used; u.In+u.Out > 0 {
		text := fmt.Sprintf("%d tokens read", u.In)
		if u.CachedIn > 0 {
			text += fmt.Sprintf(", %d of them cached", u.CachedIn)
		}
		parts = append(parts, text+fmt.Sprintf(", %d written", u.Out))
	}
	if t.Cost > 0 {
		parts = append(parts, fmt.Sprintf("cost %.4f", t.Cost))
	}
	return strings.Join(parts, " · ")
}

// money is what was spent, of what if there is a cap.
func money(s bot.Spending) string {
	text := fmt.Sprintf("%.2f", s.Total)
	if s.Cap > 0 {
		text += fmt.Sprintf(" of %.2f", s.Cap)
	}
	return strings.TrimSpace(text + " " + s.Currency)
}

// clock is a duration in hours and minutes.
func clock(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Hours()), int(d.Minutes())%60)
}

// lanes are a turn's calls of tools against the turn's own clock, each in a lane of
// its own: they run side by side.
func lanes(t bot.Turn, calls []bot.Tool) []bar {
	whole := t.Ended
	for _, c := range calls {
		whole = max(whole, c.Began+c.Took)
	}
	var out []bar
	for _, c := range calls {
		if c.Done && whole > 0 {
			out = append(out, bar{c.Name, "tool", float64(c.Began) / float64(whole), float64(c.Began+c.Took) / float64(whole), c.Took})
		}
	}
	return out
}
