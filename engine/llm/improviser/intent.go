package improviser

import (
	"regexp"
	"slices"
	"strings"
)

// An intent is what a line wants. Most are also occasions in [Persona.Lines].
type intent string

const (
	wantsSoftware  intent = "software" // whether a person is playing
	wantsSecret    intent = "secret"   // secrets, or orders to the program
	wantsMemory    intent = "memory"
	wantsRoll      intent = "roll"
	wantsTable     intent = "table"
	wantsRule      intent = "rule"
	wantsSelf      intent = "self"
	wantsPlayer    intent = "player" // who the player is
	wantsWellbeing intent = "wellbeing"
	wantsOrder     intent = "order"
	wantsPrices    intent = "prices"
	wantsTopic     intent = "topic" // about somebody or something
	wantsMore      intent = "more"
	wantsJoke      intent = "joke"
	wantsThreat    intent = "threatened"
	wantsInsult    intent = "insulted"
	wantsPraise    intent = "praised"
	wantsFlirt     intent = "flirt"
	wantsApology   intent = "apology"
	wantsThanks    intent = "thanks"
	wantsIntro     intent = "introduced"
	wantsFarewell  intent = "farewell"
	wantsGreeting  intent = "greeting"
	wantsYes       intent = "agree"
	wantsNo        intent = "disagree"
	wantsAnswer    intent = "unknown" // a question about nothing that is known
	wantsChat      intent = "smalltalk"
)

// An understanding is what the improviser makes of a line.
type understanding struct {
	intent intent
	plain  string   // the line without the NPC's name in front or behind
	words  []string // its content
	topic  topic
	throw  throw
	// question is set if the line asks something.
	question bool
	// where is set if it asks for a place, last for the session before.
	where, last bool
}

// A topic is what is talked about.
type topic struct {
	name   string   // as it was said, or as the entity is called
	words  []string // its content
	entity *Known   // nil if it is none that is known
}

// understand finds out what the line wants.
func (t *turn) understand() understanding {
	g := t.tongue
	u := understanding{plain: t.withoutNames(plain(t.heard))}
	u.question = g.isQuestion(t.heard, u.plain)
	u.words = g.content(u.plain)
	u.where = has(u.plain, g.wants["where"])
	u.last = has(u.plain, g.wants["last"])
	u.topic = t.subject(u)
	u.intent = t.intent(&u)
	return u
}

// intent goes through what a line can want, the most telling first.
func (t *turn) intent(u *understanding) intent {
	g, p := t.tongue, u.plain
	wants := func(in intent) bool { return has(p, g.wants[in]) }
	short := len(strings.Fields(p)) <= 6
	switch {
	case strings.TrimSpace(p) == "":
		return wantsGreeting // only the NPC's name was called
	case wants(wantsSoftware):
		return wantsSoftware
	case wants(wantsSecret):
		return wantsSecret
	}
	if th, ok := t.dicePlease(p); ok {
		u.throw = th
		return wantsRoll
	}
	switch {
	case has(p, g.wants["drawing"]):
		return wantsTable
	case wants(wantsMemory):
		return wantsMemory
	case t.asksRule(u):
		return wantsRule
	case wants(wantsThreat):
		return wantsThreat
	case wants(wantsInsult) && (short && !u.question || strings.Contains(p, " "+g.you+" ")):
		return wantsInsult
	case wants(wantsPlayer):
		return wantsPlayer
	case wants(wantsSelf):
		return wantsSelf
	case wants(wantsWellbeing):
		return wantsWellbeing
	case wants(wantsApology):
		return wantsApology
	case wants(wantsJoke):
		return wantsJoke
	case wants(wantsMore) && len(u.words) == 0:
		return wantsMore
	case wants(wantsPrices):
		return wantsPrices
	case wants(wantsOrder) && !wants("really asks"):
		return wantsOrder
	case u.question && len(u.topic.words) > 0:
		return wantsTopic
	case wants(wantsFarewell):
		return wantsFarewell
	case short && strings.HasPrefix(strings.TrimSpace(p), g.no):
		return wantsNo
	case wants(wantsThanks):
		return wantsThanks
	case wants(wantsFlirt):
		return wantsFlirt
	case wants(wantsPraise):
		return wantsPraise
	case wants(wantsIntro):
		return wantsIntro
	case wants(wantsGreeting) && len(u.words) == 0:
		return wantsGreeting
	case short && wants(wantsYes) && !u.question:
		return wantsYes
	case short && wants(wantsNo) && !u.question:
		return wantsNo
	case len(u.topic.words) > 0 && (u.question || u.topic.entity != nil || has(p, g.about)):
		return wantsTopic
	case wants(wantsGreeting):
		return wantsGreeting
	case u.question:
		return wantsAnswer
	}
	return wantsChat
}

// withoutNames takes the NPC's own name off the ends of a line: there it only
// says who is meant. Elsewhere it is what the line is about.
func (t *turn) withoutNames(p string) string {
	words := strings.Fields(p)
	var names [][]string
	for _, n := range append([]string{t.persona.Name}, t.persona.Aliases...) {
		if w := strings.Fields(plain(n)); len(w) > 0 {
			names = append(names, w)
		}
	}
	slices.SortFunc(names, func(a, b []string) int { return len(b) - len(a) })
	same := func(a, b []string) bool { return slices.EqualFunc(a, b, alike) }
	for range 3 {
		before := len(words)
		for len(words) > 0 && t.tongue.stop[words[0]] && slices.Contains(t.tongue.questions, "!"+words[0]) {
			words = words[1:] // "hey", "so", "well"
		}
		for _, n := range names {
			if k := len(n); len(words) >= k && same(words[:k], n) {
				words = words[k:]
			}
			if k := len(n); len(words) >= k && same(words[len(words)-k:], n) && !t.aboutEndsAt(words, len(words)-k) {
				words = words[:len(words)-k]
			}
		}
		if len(words) == before {
			break
		}
	}
	if len(words) == 0 {
		return " "
	}
	return " " + strings.Join(words, " ") + " "
}

// aboutEndsAt reports whether what stands before the name makes it the topic:
// "who is Bartok", "tell me about Bartok".
func (t *turn) aboutEndsAt(words []string, i int) bool {
	before := " " + strings.Join(words[:i], " ") + " "
	for _, p := range append(slices.Clone(t.tongue.about), t.tongue.wants["takes name"]...) {
		if strings.HasSuffix(before, " "+p+" ") {
			return true
		}
	}
	return false
}

// subject is what a line is about: what follows "tell me about", or else its
// content; and the last topic where it only says "he" or "there".
func (t *turn) subject(u understanding) topic {
	g := t.tongue
	rest, introduced := after(u.plain, g.about)
	name := rest
	if !introduced {
		rest, name = u.plain, ""
	}
	words := g.content(rest)
	if len(words) == 0 && introduced {
		words = g.content(u.plain)
	}
	e := t.lore.entity(words)
	if e == nil && introduced {
		e = t.lore.entity(g.content(u.plain))
	}
	pointing := slices.ContainsFunc(strings.Fields(u.plain), func(w string) bool { return g.pronouns[w] })
	if e == nil && pointing && len(words) <= 2 {
		last := t.lastTopic()
		if len(last.words) > 0 {
			for _, w := range words {
				if !slices.Contains(last.words, w) {
					last.words = append(slices.Clip(last.words), w)
				}
			}
			return last
		}
	}
	if e != nil {
		name = e.Name
	}
	if name = tidyName(name, g); name == "" {
		name = tidyName(strings.Join(g.bare(u), " "), g)
	}
	return topic{name: name, words: words, entity: e}
}

// lastTopic is what was talked about before, from memory or from the talk.
func (t *turn) lastTopic() topic {
	if len(t.topic.words) > 0 {
		return t.topic
	}
	for i := len(t.past) - 1; i >= 0 && i >= len(t.past)-8; i-- {
		if e := t.lore.entity(t.tongue.content(t.past[i].Text)); e != nil {
			return topic{name: e.Name, words: t.tongue.content(e.Name), entity: e}
		}
	}
	return topic{}
}

// tidyName makes of what a player said something that can be said back, or
// nothing if it is not a name.
func tidyName(name string, g *tongue) string {
	words := strings.Fields(name)
	for len(words) > 0 && g.stop[words[0]] && words[0] != "the" && words[0] != "der" && words[0] != "die" && words[0] != "das" {
		words = words[1:]
	}
	for len(words) > 0 && g.stop[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	if len(words) == 0 || len(words) > 4 || len(strings.Join(words, " ")) > 40 {
		return ""
	}
	for i, w := range words {
		if !g.stop[w] {
			r := []rune(w)
			words[i] = strings.ToUpper(string(r[:1])) + string(r[1:])
		}
	}
	return strings.Join(words, " ")
}

// dicePlease reports whether the line asks for dice now: it names some and does
// little else, or it has a word for rolling, and is not about another time.
func (t *turn) dicePlease(p string) (throw, bool) {
	g := t.tongue
	if has(p, g.wants["not rolling"]) {
		return throw{}, false
	}
	rolling := has(p, g.wants["rolling"])
	th, ok := throwIn(t.heard)
	switch {
	case ok && (rolling || len(strings.Fields(p)) <= 8):
		return th, true
	case !rolling:
		return throw{}, false
	case has(p, g.wants["coin"]):
		th.expression = "1d2"
	case has(p, g.wants["check"]):
		th.expression = "1d20"
		if m := modifier.FindStringSubmatch(spelled(p)); m != nil {
			th.expression += map[string]string{"plus": "+", "minus": "-"}[m[1]] + m[2]
		}
	case has(p, g.wants["dice"]):
		th.expression = "1d6"
	default:
		return throw{}, false
	}
	return th, true
}

// asksRule reports whether the line is about the rules of the game.
func (t *turn) asksRule(u *understanding) bool {
	g := t.tongue
	if has(u.plain, g.wants[wantsRule]) {
		return true
	}
	var strong, weak bool
	for w := range strings.FieldsSeq(u.plain) {
		s := g.stem(w)
		strong = strong || g.rulesStrong[s]
		weak = weak || g.rulesWeak[s]
	}
	for _, two := range g.wants["two words of rules"] {
		strong = strong || strings.Contains(u.plain, " "+two+" ")
	}
	if !strong && !weak {
		// "what does hex do" asks for a rule unless hex is somebody.
		rest, ok := after(u.plain, []string{"what does"})
		does := ok && (strings.HasSuffix(u.plain, " do ") || strings.HasSuffix(u.plain, " spell do "))
		return does && t.lore.entity(g.content(rest)) == nil && !u.pointing(g) && len(strings.Fields(rest)) <= 5
	}
	framed := has(u.plain, g.ruleFrames)
	return strong && (u.question || framed) || weak && framed
}

func (u understanding) pointing(g *tongue) bool {
	return slices.ContainsFunc(strings.Fields(u.plain), func(w string) bool { return g.pronouns[w] })
}

// modifier is what is added to a check, as [spelled] leaves it.
var modifier = regexp.MustCompile(`\b(plus|minus) (\w+)`)
