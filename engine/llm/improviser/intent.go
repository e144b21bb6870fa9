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
	wantsAttention intent = "listening"
	wantsHelp      intent = "help"    // what it can be asked
	wantsAdvice    intent = "advice"  // what to do
	wantsFavor     intent = "request" // to do something
	wantsDoubt     intent = "doubted"
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
	// introduced is set if the line named it as what it asks about.
	introduced bool
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
	case wants(wantsSecret) || t.namesTool():
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
	case wants(wantsOrder) && !wants("really asks"), short && !u.question && strings.HasSuffix(p, g.please) && len(u.words) > 0:
		return wantsOrder
	case u.question && t.known(*u):
		return wantsTopic
	case wants(wantsAttention):
		return wantsAttention
	case wants(wantsHelp):
		return wantsHelp
	case wants(wantsAdvice):
		return wantsAdvice
	case wants(wantsDoubt):
		return wantsDoubt
	case wants(wantsFavor) && u.question:
		return wantsFavor
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
	case u.topic.introduced && has(p, g.about):
		return wantsTopic
	case wants(wantsGreeting):
		return wantsGreeting
	case u.question:
		return wantsAnswer
	}
	return wantsChat
}

// namesTool reports whether the line has the name of a tool as only a program
// would write it.
func (t *turn) namesTool() bool {
	heard := strings.ToLower(t.heard)
	for _, tool := range t.request.Tools {
		if strings.Contains(tool.Name, "_") && strings.Contains(heard, strings.ToLower(tool.Name)) {
			return true
		}
	}
	return false
}

// known reports whether a question is about something: it says so, or the NPC
// has words of its own for it.
func (t *turn) known(u understanding) bool {
	if u.topic.introduced {
		return len(u.topic.words) > 0
	}
	_, ok := t.bestLore(u.words)
	return ok || t.mentioning(u.words) != nil
}

// withoutNames takes the NPC's own name off the ends of a line, where it only
// says who is meant. Elsewhere it is what the line is about.
func (t *turn) withoutNames(p string) string {
	words := strings.Fields(p)
	var names [][]string
	for _, n := range append([]string{t.persona.Name}, t.persona.Aliases...) {
		if w := strings.Fields(plain(n)); len(w) > 0 {
			names = append(names, w)
		}
	}
	slices.SortStableFunc(names, func(a, b []string) int { return len(b) - len(a) })
	same := func(a, b []string) bool { return slices.EqualFunc(a, b, alike) }
	first := 0 // behind "hey", "so", "good evening"
	for first < len(words) && t.tongue.fillers[words[first]] {
		first++
	}
	for _, n := range names {
		if k := first + len(n); len(words) >= k && same(words[first:k], n) {
			words = slices.Delete(words, first, k)
			break
		}
	}
	for _, n := range names {
		if k := len(words) - len(n); k >= 0 && same(words[k:], n) && !t.aboutEndsAt(words, k) {
			words = words[:k]
			break
		}
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
	head, introduced := after(u.plain, g.about)
	if first, _, _ := strings.Cut(head, " "); first == g.your {
		introduced = false // asked about the NPC itself
	}
	if introduced {
		head = g.head(head)
	} else {
		head = u.plain
	}
	words := g.content(head)
	if introduced && len(words) == 0 {
		words = u.words
	}
	e := t.lore.entity(words)
	if e == nil && !introduced {
		e = t.lore.entity(u.words)
	}
	if (e == nil || !person(e)) && t.pointsBack(u, words, e != nil) {
		last := t.lastTopic()
		last.words = slices.Clone(last.words)
		for _, w := range words {
			if !slices.Contains(last.words, w) {
				last.words = append(last.words, w)
			}
		}
		last.introduced = introduced || last.entity != nil
		return last
	}
	name := tidyName(head, g)
	switch {
	case e != nil:
		name = e.Name
		words = u.words
	case !introduced:
		words = u.words
	}
	return topic{name: name, words: words, entity: e, introduced: introduced || e != nil}
}

// pointsBack reports whether the line says "she" or "there" for what was talked
// about before. "it" gives way to words that the NPC knows something about.
// Where the line names something else, only a person is pointed back to.
func (t *turn) pointsBack(u understanding, words []string, named bool) bool {
	g := t.tongue
	last := t.lastTopic()
	if len(last.words) == 0 || len(words) > 2 {
		return false
	}
	all := strings.Fields(u.plain)
	for i, w := range all {
		switch {
		case g.persons[w]:
			return last.entity == nil || person(last.entity)
		case named:
		case g.pronouns[w]:
			_, known := t.bestLore(words)
			return !known
		case g.demonstratives[w] && (i == len(all)-1 || len(words) == 0):
			_, known := t.bestLore(words)
			return !known
		}
	}
	return false
}

// person reports whether an entity is one that "she" or "they" can stand for.
func person(e *Known) bool {
	return e.Kind == "npc" || e.Kind == "player" || e.Kind == "faction" || e.Kind == ""
}

// head is the beginning of what follows "tell me about", up to the word that
// begins to say more about it: "a temple in town" is about a temple.
func (g *tongue) head(rest string) string {
	words := strings.Fields(rest)
	seen := false
	for i, w := range words {
		if seen && g.joins[w] {
			return strings.Join(words[:i], " ")
		}
		seen = seen || !g.stop[w]
	}
	return strings.Join(words, " ")
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
		th.expression += modifier.FindString(spelled(p))
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
		return does && t.lore.entity(g.content(rest)) == nil && !t.pointsBack(*u, nil, false) && len(strings.Fields(rest)) <= 5
	}
	framed := has(u.plain, g.ruleFrames)
	return strong && (u.question || framed) || weak && framed
}

// modifier is what is added to a check, as [spelled] leaves it.
var modifier = regexp.MustCompile(`[+-]\d{1,3}\b`)
