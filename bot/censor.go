package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/npc/spoken"
)

// A censor stands between a model and the room for one answer: it takes out what
// the NPC would not say, and knows what the dice really showed.
type censor struct {
	npc    npc.Character
	struck func(spoken.Result)

	mu       sync.Mutex // guards all below; the engine calls from several goroutines
	filter   *spoken.Filter
	swerved  bool // the NPC has already changed the subject
	captions []string
}

// newCensor prepares for one answer of c. struck is told of everything that was
// taken out; it must not block.
func (t *Table) newCensor(ctx context.Context, c npc.Character, belt *mcp.Belt, struck func(spoken.Result)) *censor {
	safety := t.campaign.Safety
	o := spoken.Options{
		Names: append([]string{c.Name}, c.Aliases...), Secrets: c.Secrets,
		Language: cmp.Or(c.Language, t.campaign.Language),
		Safety:   spoken.Safety{Rating: safety.Rating, Lines: safety.Lines, Veils: safety.Veils},
	}
	for _, other := range t.campaign.NPCs {
		if other.ID != c.ID {
			o.Others = append(o.Others, other.Name)
		}
	}
	o.Others = append(append(o.Others, t.players...), t.characters()...)
	for _, tool := range belt.Tools() {
		o.Tools = append(o.Tools, tool.Name)
		if tool.Name == "roll" {
			o.Roll = func(expression string) (int, bool) { return rollFor(ctx, belt, expression) }
		}
	}
	return &censor{npc: c, struck: struck, filter: spoken.New(o)}
}

// rollFor throws real dice in place of a result that a model made up.
func rollFor(ctx context.Context, belt *mcp.Belt, expression string) (total int, ok bool) {
	args, err := json.Marshal(map[string]string{"expression": expression})
	if err != nil {
		return 0, false
	}
	res := belt.Call(ctx, "roll", args)
	m := totals.FindStringSubmatch(res.Text)
	if res.Err != nil || m == nil {
		return 0, false
	}
	total, err = strconv.Atoi(m[1])
	return total, err == nil
}

var (
	totals  = regexp.MustCompile(`"?total"?\s*[:=]\s*(-?\d+)`)
	numbers = regexp.MustCompile(`-?\d+`)
)

// result tells the censor what a tool found, so that the NPC may speak of it.
func (x *censor) result(_ engine.Call, res mcp.Result) {
	if res.Err != nil {
		return
	}
	var all []int
	for _, n := range numbers.FindAllString(res.Text, 200) {
		if v, err := strconv.Atoi(n); err == nil {
			all = append(all, v)
		}
	}
	m := totals.FindStringSubmatch(res.Text)
	if m == nil {
		return // no dice: a rule or a memory
	}
	total, err := strconv.Atoi(m[1])
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.filter.Rolled(total, all...)
}

// sentence is what of s is spoken.
func (x *censor) sentence(s string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.filter.Sentence(s)
	x.captions = append(x.captions, r.Captions...)
	if len(r.Struck) > 0 || len(r.Captions) > 0 {
		x.struck(r)
	}
	if r.Text != "" || r.Broken == "" && !r.Secret || x.swerved {
		return r.Text
	}
	x.swerved = true
	return x.swerve(r)
}

// swerve is how the NPC changes the subject.
func (x *censor) swerve(r spoken.Result) string {
	occasion, plain := "line", "Let us speak of something else."
	switch {
	case r.Secret:
		occasion, plain = "secret", "That is not for me to tell."
	case r.Fade:
		occasion, plain = "veil", "And of what came then, let us not speak."
	}
	if lines := x.npc.Lines[occasion]; len(lines) > 0 {
		return strings.TrimSpace(lines[0])
	}
	return plain
}
