package improviser

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
)

// A turn is one line being answered. The improviser's lock is held meanwhile.
type turn struct {
	*Model
	hearing
	request engine.Request
	dice    *rand.Rand // to choose between lines, never for the game
}

// slowTool is from when on it is worth saying something before a tool is done.
const slowTool = 250 // milliseconds

// reply answers the player's line.
func (t *turn) reply() (string, []engine.Call) {
	u := t.understand()
	calls := t.choose(u)
	if u.topic.entity != nil || len(u.topic.words) > 0 && u.topic.introduced && u.intent == wantsTopic {
		t.topic = u.topic
	}
	if len(calls) > 0 {
		for _, tool := range t.request.Tools {
			if tool.Name == calls[0].Name && tool.Estimated.Milliseconds() >= slowTool {
				return t.line("filler", nil), calls
			}
		}
		return "", calls
	}
	return t.tell(u), nil
}

// tell answers without tools.
func (t *turn) tell(u understanding) string {
	switch u.intent {
	case wantsRoll:
		return t.line("no_dice", nil)
	case wantsTable:
		if t.offered("roll_table") >= 0 {
			return t.line("unknown", nil) // there is no such table
		}
		return first(t.recalling(u, boldly), t.saying("no_dice", nil))
	case wantsRule:
		return first(t.recalling(u, surely), t.saying("rule_unknown", nil))
	case wantsMemory:
		return first(func() string { return t.fromPast(u) }, func() string { return t.fromMemory(u) }, t.recalling(u, boldly), t.saying("memory_unknown", nil))
	case wantsCompany:
		return first(t.company, t.saying("alone", nil))
	case wantsSelf:
		return t.line("self", map[string]string{"self": t.self()})
	case wantsPlayer:
		if t.speaker == "" {
			return t.line("unknown", nil)
		}
		return t.line("player", nil)
	case wantsMore:
		return t.more()
	case wantsTopic:
		if t.isSelf(u.topic) {
			return t.line("self", map[string]string{"self": t.self()})
		}
		return first(t.recalling(u, boldly), func() string { return t.unknown(u) })
	case wantsPrices:
		if has(u.plain, t.tongue.wants["bill"]) {
			return t.line("prices", nil)
		}
		return first(func() string { return t.price(u) }, t.recalling(u, boldly), t.saying("prices", nil))
	case wantsOrder:
		if len(t.persona.Lines["order"]) > 0 {
			return t.line("order", nil)
		}
		return first(t.recalling(u, boldly), t.saying("order", nil))
	case wantsAnswer:
		if strings.HasPrefix(u.plain, " "+t.tongue.areYou+" ") {
			return first(func() string { return t.ownLife(u) }, t.saying("self", map[string]string{"self": t.self()}))
		}
		return first(func() string { return t.ownLife(u) }, func() string { return t.unknown(u) })
	case wantsHelp:
		if topics := t.topicsLeft(); topics != "" {
			return t.line("help", map[string]string{"topics": topics})
		}
		return t.line("more", nil)
	case wantsChat:
		if len(u.words) == 1 {
			return first(t.recalling(u, hinted), t.saying("smalltalk", nil))
		}
		return first(t.recalling(u, surely), t.saying("smalltalk", nil))
	case wantsJoke:
		if len(t.persona.Lines["joke"]) == 0 {
			return first(t.recalling(u, boldly), t.saying("joke", nil))
		}
	case wantsGreeting:
		if t.greeted() {
			return t.line("greeting_again", nil)
		}
	}
	return t.line(string(u.intent), nil)
}

// first is the first text that is not empty. The rest are not even made, since
// a line that was chosen counts as said.
func first(texts ...func() string) string {
	for _, text := range texts {
		if s := text(); s != "" {
			return s
		}
	}
	return ""
}

func (t *turn) recalling(u understanding, bold boldness) func() string {
	return func() string { return t.recall(u, bold) }
}

func (t *turn) saying(occasion string, values map[string]string) func() string {
	return func() string { return t.line(occasion, values) }
}

// greeted reports whether this player has been greeted lately.
func (t *turn) greeted() bool {
	for _, template := range append(slices.Clone(t.persona.Lines["greeting"]), t.tongue.lines["greeting"]...) {
		if slices.Contains(t.used, template) {
			return true
		}
		for _, msg := range t.past {
			if msg.Role == engine.Assistant && strings.HasPrefix(msg.Text, template) {
				return true
			}
		}
	}
	return false
}

func (t *turn) self() string {
	if t.persona.Role == "" {
		return t.persona.Name
	}
	return t.persona.Name + ", " + t.persona.Role
}

func (t *turn) isSelf(s topic) bool {
	if s.entity != nil {
		return s.entity.Name != "" && strings.EqualFold(s.entity.Name, t.persona.Name)
	}
	for _, n := range append([]string{t.persona.Name}, t.persona.Aliases...) {
		if words := t.lore.content(n); len(words) > 0 && len(s.words) > 0 && allIn(s.words, words) && allIn(words, s.words) {
			return true
		}
	}
	return false
}

// unknown admits not to know, by what was asked for.
func (t *turn) unknown(u understanding) string {
	values := map[string]string{"name": u.topic.name}
	switch {
	case u.topic.name == "" || u.intent == wantsAnswer:
		return t.line("unknown", nil)
	case u.where:
		return t.line("unknown_place", values)
	case has(u.plain, t.tongue.wants["who"]):
		return t.line("unknown_person", values)
	}
	return t.line("unknown", nil)
}

// line says something on an occasion: the NPC's own words if it has any, else
// stock ones; one that was not said lately, and can be filled in.
func (t *turn) line(occasion string, values map[string]string) string {
	own, stock := t.persona.Lines[occasion], t.tongue.lines[occasion]
	// An NPC with one line of its own does not say it twice running.
	if len(own) == 1 && t.last(own[0]) {
		own = nil
	}
	for _, lines := range [][]string{own, stock, t.persona.Lines[occasion]} {
		if template, ok := t.pick(lines, values); ok {
			return t.fill(template, values)
		}
	}
	return ""
}

// last reports whether a line was among the last two things said.
func (t *turn) last(template string) bool {
	return slices.Contains(t.used[max(0, len(t.used)-2):], template) || t.justSaid(template)
}

// pick chooses the line that was said longest ago, at random among those that
// were not said at all.
func (t *turn) pick(lines []string, values map[string]string) (string, bool) {
	var fresh []string
	oldest, at := "", len(t.used)+1
	for _, l := range lines {
		if !t.fillable(l, values) {
			continue
		}
		i := lastIndex(t.used, l)
		switch {
		case i < 0 && !t.justSaid(l):
			fresh = append(fresh, l)
		case i < at:
			oldest, at = l, i
		}
	}
	if len(fresh) > 0 {
		oldest = fresh[t.dice.IntN(len(fresh))]
	} else if at > len(t.used) {
		return "", false
	}
	t.use(oldest)
	return oldest, true
}

// use notes that a line was said.
func (t *turn) use(template string) {
	t.used = append(t.used, template)
	if extra := len(t.used) - remembered; extra > 0 {
		t.used = append(t.used[:0], t.used[extra:]...)
	}
}

// justSaid reports whether the talk's last line of ours already contains text,
// for a talk that began before this improviser did.
func (t *turn) justSaid(text string) bool {
	if text == "" {
		return false
	}
	for i := len(t.past) - 1; i >= 0; i-- {
		if t.past[i].Role == engine.Assistant {
			return strings.Contains(t.past[i].Text, text)
		}
	}
	return false
}

func lastIndex(list []string, s string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == s {
			return i
		}
	}
	return -1
}

// fillable reports whether every {slot} of a line has a value.
func (t *turn) fillable(line string, values map[string]string) bool {
	for {
		_, rest, ok := strings.Cut(line, "{")
		if !ok {
			return true
		}
		slot, after, closed := strings.Cut(rest, "}")
		if !closed {
			return true
		}
		if value := values[slot]; value == "" && (slot != "player" || t.playerName() == "") {
			return false
		}
		line = after
	}
}

func (t *turn) fill(line string, values map[string]string) string {
	pairs := []string{"{player}", t.playerName()}
	for k, v := range values {
		pairs = append(pairs, "{"+k+"}", v)
	}
	return strings.NewReplacer(pairs...).Replace(line)
}

// playerName is who speaks, if it is a name that can be said.
func (t *turn) playerName() string {
	name := speakable(t.speaker, 1)
	if len(strings.Fields(name)) > 3 || len(name) > 30 {
		return ""
	}
	return name
}

// tells reports whether text would give a secret away: it has much of the
// secret's words, or few others. It is asked of what comes from
// the world, from tools and from the talk; what the NPC's own file lets it say,
// its author has weighed.
func (t *turn) tells(text string) bool {
	said := t.lore.content(text)
	for _, secret := range t.persona.Secrets {
		words, same := t.lore.content(secret), 0
		for _, w := range words {
			if slices.Contains(said, w) {
				same++
			}
		}
		if same >= 3 && 5*same >= 2*len(words) || same >= 2 && 2*same >= len(said) {
			return true
		}
	}
	return false
}
