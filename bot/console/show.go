package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
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
		{"recognised", "hear", t.Heard}, {"routed", "route", t.Routed}, {"first word", "think", t.FirstToken},
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
