package improviser

import (
	"regexp"
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
	wantsPlayer    intent = "player"  // who the player is
	wantsCompany   intent = "present" // who else is there
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
	u.words = t.lore.content(u.plain)
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
	case wants(wantsMemory), wants("did") && wants("uttered"):
		return wantsMemory
	case t.asksRule(u):
		return wantsRule
	case wants(wantsThreat):
		return wantsThreat
	case wants(wantsInsult) && (short && !u.question || strings.Contains(p, " "+g.you+" ")):
		return wantsInsult
	case wants(wantsCompany):
		return wantsCompany
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
	case wants("company"):
		return wantsFavor
	case u.question && t.known(*u):
		return wantsTopic
	case wants(wantsAttention):
		return wantsAttention
	case wants(wantsHelp) && u.topic.entity == nil:
		return wantsHelp
	case wants(wantsAdvice):
		return wantsAdvice
	case wants(wantsDoubt):
		return wantsDoubt
	case wants(wantsFavor) && u.question:
		return wantsFavor
	case wants(wantsFarewell) && !has(p, g.wants["meeting"]):
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
	case wants("meeting"), wants(wantsGreeting) && len(u.words) == 0:
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
		return does && t.lore.entity(t.lore.content(rest)) == nil && !t.pointsBack(*u, nil, false) && len(strings.Fields(rest)) <= 5
	}
	framed := has(u.plain, g.ruleFrames)
	return strong && (u.question || framed) || weak && framed
}

// modifier is what is added to a check, as [spelled] leaves it.
var modifier = regexp.MustCompile(`[+-]\d{1,3}\b`)
