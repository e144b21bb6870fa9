package npc

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

const (
	// maxCast is the most NPCs of which one can be meant; campaigns hold at most
	// 200.
	maxCast = 256
	// maxNames is the most names of players and of their characters. A voice
	// channel holds at most 99 people.
	maxNames = 256
)

// A Room is who is where while something is said.
type Room struct {
	// Present are the ids of the NPCs in the scene. Others are recognised and do
	// not answer.
	Present []string
	// Muted NPCs are recognised and do not answer either.
	Muted []string
	// Players and PCs are the names of the people at the table and of the
	// characters that they play.
	Players, PCs []string
	// Language is a BCP 47 tag; "" is English.
	Language string
	// Phrases are a campaign's additions to the tables of its language, by
	// section; see [CheckPhrases].
	Phrases map[string][]string
	// Rules are the names of rules that a library knows, imported ones too: "hunger
	// of hadar". Words that everybody uses, such as "light", are not listened for.
	Rules []string
}

// A Cast knows by which names each NPC may be meant in one scene. It is not
// changed once made, so that many speakers may use it at once; a new scene, or
// somebody coming or going, takes a new one.
type Cast struct {
	lang *language
	npcs []member
	// forms finds what somebody is called by the first word of it.
	forms map[string][]form
	// heard are the names that may be misheard.
	heard []heardForm
	// present counts the NPCs who may answer.
	present int
	// all are the ids of those who may answer, in the cast's order.
	all []string
}

// A member is an NPC of a cast.
type member struct {
	id, name string
	present  bool
	muted    bool
	self     []string // just id, ready to be handed out
}

// answers reports whether the NPC may speak.
func (m *member) answers() bool { return m.present && !m.muted }

// A callBy says how sure it is that a form means somebody.
type callBy uint8

const (
	byName  callBy = iota // a name or an alias
	byTitle               // a title, role or species; not a name of its own
	byHuman               // a player or a player's character
)

// A form is one way to call somebody.
type form struct {
	words []string
	by    callBy
	// who are indexes in Cast.npcs; several NPCs may share a title.
	who []int16
	// common marks names that are also ordinary words.
	common bool
	// human marks names that are also a player's or a character's.
	human bool
	// full marks names of several words, which nobody says by accident.
	full bool
}

// A heardForm is a name that is also listened for by its sound.
type heardForm struct {
	sounding
	form  *form
	least float32 // how much alike it has to be
}

// NewCast prepares for listening to who is meant in a room. Characters are all
// of the campaign's, so that those elsewhere are recognised too.
func NewCast(characters []Character, room Room) *Cast {
	c := &Cast{lang: languageOf(room.Language, withRules(room.Phrases, room.Rules)), forms: map[string][]form{}}
	for i, ch := range characters[:min(len(characters), maxCast)] {
		m := member{
			id: ch.ID, name: ch.Name, self: []string{ch.ID},
			present: slices.Contains(room.Present, ch.ID), muted: slices.Contains(room.Muted, ch.ID),
		}
		c.npcs = append(c.npcs, m)
		if m.answers() {
			c.present++
			c.all = append(c.all, m.id)
		}
		c.learn(int16(i), ch)
	}
	people := slices.Concat(room.Players, room.PCs)
	for _, name := range people[:min(len(people), maxNames)] {
		c.human(name)
	}
	for first := range c.forms {
		// The longest form first: "Captain Vex" before "captain".
		slices.SortStableFunc(c.forms[first], func(a, b form) int {
			return cmp.Or(cmp.Compare(len(b.words), len(a.words)), cmp.Compare(a.by, b.by))
		})
	}
	c.listen()
	return c
}

// learn takes in all that the campaign says an NPC may be called.
func (c *Cast) learn(i int16, ch Character) {
	names := append([]string{ch.Name}, ch.Aliases...)
	for _, n := range names {
		c.name(i, n)
	}
	for _, t := range ch.Titles {
		c.title(i, t, true)
	}
	if ch.Role != "" {
		c.title(i, ch.Role, true)
	}
	if ch.Species != "" {
		c.title(i, ch.Species, false)
	}
}

// name takes a name apart: "Captain Vex Harrow, of the Watch" is Vex, Harrow,
// Captain Vex, Captain Vex Harrow, and a captain.
func (c *Cast) name(i int16, name string) {
	head, tail, _ := strings.Cut(name, ",")
	if t := strings.TrimSpace(tail); t != "" {
		c.title(i, t, true)
	}
	words := cut(head)
	if len(words) == 0 {
		return
	}
	if c.article(words[0]) && len(words) > 1 {
		c.title(i, strings.Join(words[1:], " "), true)
		return
	}
	if k := slices.IndexFunc(words, c.article); k > 0 {
		c.add(words, form{by: byName, who: []int16{i}, full: true})
		c.title(i, strings.Join(words[k+1:], " "), true)
		words = words[:k]
	}
	// "Aldric of Stonehaven" is not called Stonehaven.
	own := len(words)
	if k := slices.IndexFunc(words, func(w string) bool { return c.lang.joins[w] }); k > 0 {
		own = k
	}
	common := !slices.ContainsFunc(words, func(w string) bool { return !c.lang.known(w) && !c.lang.honorifics[w] })
	c.add(words, form{by: byName, who: []int16{i}, full: len(words) > 1, common: common && len(words) == 1})
	rest := words[:own]
	for len(rest) > 1 && (c.lang.honorifics[rest[0]] || c.lang.adjectives[rest[0]]) {
		if c.lang.honorifics[rest[0]] {
			c.title(i, rest[0], true)
		}
		if len(rest) == 2 && own > 2 {
			break
		}
		c.add(rest, form{by: byName, who: []int16{i}, full: true})
		rest = rest[1:]
	}
	unusual := slices.ContainsFunc(rest, func(w string) bool { return !c.lang.known(w) })
	for k, w := range rest {
		// "Two Finger Pete" is not called "two".
		if len(w) < 3 && len(rest) > 1 || unusual && c.lang.known(w) || !unusual && k > 0 && len(rest) > 1 {
			continue
		}
		c.add([]string{w}, form{by: byName, who: []int16{i}, common: c.lang.known(w)})
		if k > 0 && len(words) > len(rest) {
			c.add([]string{words[0], w}, form{by: byName, who: []int16{i}, full: true})
		}
	}
}

// article reports whether w stands before a title in a name. English names are
// played in every language.
func (c *Cast) article(w string) bool {
	switch w {
	case "the":
		return true
	case "der", "die", "das":
		return c.lang.tag == "de"
	case "el", "la", "los", "las":
		return c.lang.tag == "es"
	}
	return false
}

// title takes in a title, role or species and the other words there are for it.
func (c *Cast) title(i int16, title string, synonyms bool) {
	title, _, _ = strings.Cut(title, ",") // "wine merchant, passing through"
	words := cut(title)
	for len(words) > 1 && c.lang.joins[words[0]] {
		words = words[1:]
	}
	if k := slices.IndexFunc(words, func(w string) bool { return c.lang.joins[w] }); k > 0 {
		c.add(words, form{by: byTitle, who: []int16{i}})
		words = words[:k] // "captain of the watch" is a captain
	}
	if len(words) == 0 || len(words) > 5 || len(words[0]) < 2 {
		return
	}
	c.add(words, form{by: byTitle, who: []int16{i}})
	last := words[len(words)-1:]
	if len(words) > 1 && len(last[0]) > 2 && !c.lang.functional(last[0]) {
		c.add(last, form{by: byTitle, who: []int16{i}}) // a hooded stranger is a stranger
		// "tavern keeper Bram": each word of a title may stand for it if it is one.
		for _, w := range words[:len(words)-1] {
			if c.lang.roles[w] != nil || c.lang.honorifics[w] {
				c.add([]string{w}, form{by: byTitle, who: []int16{i}})
			}
		}
	}
	if !synonyms {
		for _, s := range c.lang.roles[strings.Join(words, " ")] {
			c.add(strings.Fields(s), form{by: byTitle, who: []int16{i}})
		}
		return
	}
	whole := strings.Join(words, " ")
	for role, others := range c.lang.roles {
		// The table gives other words for a role; each of those is as good.
		if role == whole || role == last[0] || slices.Contains(others, whole) && (!ambiguous[whole] || c.lang.tag != "en") {
			c.add(strings.Fields(role), form{by: byTitle, who: []int16{i}})
			for _, s := range others {
				c.add(strings.Fields(s), form{by: byTitle, who: []int16{i}})
			}
		}
	}
}

// ambiguous titles stand for too many roles to lead back to one.
var ambiguous = map[string]bool{
	"keeper": true, "officer": true, "elder": true, "host": true, "sir": true, "my lord": true, "my lady": true, "your grace": true, "warden": true, "constable": true, "wise woman": true, "father": true, "mother": true, "boy": true, "mister": true, "captain": true, "commander": true, "trader": true, "seller": true, "stranger": true, "wizard": true, "sister": true, "groom": true, "hunter": true, "doc": true, "merchant": true, "cleric": true, "druid": true, "hermit": true, "priest": true, "seer": true, "archivist": true, "historian": true, "scholar": true,
}

// human takes in the name of a player or a player's character.
func (c *Cast) human(name string) {
	words := cut(name)
	if len(words) == 0 {
		return
	}
	c.add(words, form{by: byHuman, full: len(words) > 1, common: len(words) == 1 && c.lang.known(words[0])})
	if len(words) == 1 {
		return
	}
	for k, w := range words {
		if len(w) > 2 && !c.lang.joins[w] && !c.lang.honorifics[w] && (k == 0 || !c.lang.known(w)) {
			c.add([]string{w}, form{by: byHuman, common: c.lang.known(w)})
		}
	}
}

// add files a form, together with others of the same words.
func (c *Cast) add(words []string, f form) {
	if len(words) == 0 || len(words) == 1 && (c.lang.joins[words[0]] && f.by != byHuman || words[0] == "#") {
		return
	}
	if len(words) == 1 && f.by == byTitle && c.article(words[0]) {
		return
	}
	f.words = slices.Clone(words)
	list := c.forms[words[0]]
	for k := range list {
		g := &list[k]
		if !slices.Equal(g.words, f.words) {
			continue
		}
		switch {
		case f.by == byHuman && g.by != byHuman, g.by == byHuman && f.by != byHuman:
			// A name of both: kept as the NPC's, with the higher bar.
			if g.by == byHuman {
				f.human = true
				*g = f
			} else {
				g.human = true
			}
		case f.by == g.by:
			for _, w := range f.who {
				if !slices.Contains(g.who, w) {
					g.who = append(g.who, w)
				}
			}
			g.full = g.full || f.full
		case f.by < g.by: // a name is more than a title
			*g = f
		}
		return
	}
	c.forms[words[0]] = append(list, f)
}

// listen prepares the names that may be misheard.
func (c *Cast) listen() {
	for _, list := range c.forms {
		for k := range list {
			f := &list[k]
			if f.by != byName || len(f.who) != 1 || f.human || len(f.words) > 3 || !c.npcs[f.who[0]].present {
				continue // those elsewhere are known by their names only
			}
			var parts [][]byte
			letters := 0
			for _, w := range f.words {
				parts = append(parts, []byte(w))
				letters += len(w)
			}
			if letters < 3 {
				continue // too short to guess at
			}
			h := heardForm{form: f}
			h.sound(parts...)
			switch {
			case h.n < 2:
				continue
			case f.common && letters < 6:
				h.least = 0.92 // an ordinary word; misheard looks at its place too
			case h.weight < 30:
				h.least = 0.92
			case h.weight < 40:
				h.least = 0.86
			case h.weight < 50:
				h.least = 0.78
			default:
				h.least = 0.74
			}
			// A name that sounds like a player's has a higher bar.
			if c.soundsHuman(&h.sounding) {
				h.least = max(h.least, 0.94)
			}
			c.heard = append(c.heard, h)
		}
	}
	// Maps have no order, but the same words must always get the same answer.
	slices.SortFunc(c.heard, func(a, b heardForm) int {
		return cmp.Or(bytes.Compare(a.code[:a.n], b.code[:b.n]), slices.Compare(a.form.words, b.form.words))
	})
}

// soundsHuman reports whether a player or a player's character has a name that
// is easily taken for s.
func (c *Cast) soundsHuman(s *sounding) bool {
	for _, list := range c.forms {
		for k := range list {
			if f := &list[k]; f.by == byHuman || f.human {
				var o sounding
				var parts [][]byte
				for _, w := range f.words {
					parts = append(parts, []byte(w))
				}
				o.sound(parts...)
				if o.alike(s, 0.7) > 0.75 {
					return true
				}
			}
		}
	}
	return false
}

// index is the place of the NPC with this id, or -1.
func (c *Cast) index(id string) int {
	if id == "" {
		return -1
	}
	return slices.IndexFunc(c.npcs, func(m member) bool { return m.id == id })
}
