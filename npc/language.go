package npc

import (
	"embed"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// tables are how people talk at a table, one file for each language. They are
// data so that a campaign may add to them and a translator need not read Go.
//
//go:embed tables/*.txt
var tables embed.FS

// maxPhrases is the most phrases a campaign may add to a language: ten times
// what the largest table has would still be read in a few milliseconds.
const maxPhrases = 20_000

// A meaning is what a word or a phrase may mean at the table: a section of a
// language's table.
type meaning uint8

// The meanings an utterance is read for. Those from dice on are what a line is
// about, and [inert] phrases can take them away.
const (
	inert meaning = iota
	opener
	greeting
	formal
	thanks
	you
	third
	me
	we
	other
	ask
	aux
	be
	does
	det
	that
	prep
	stranded
	conj
	order
	polite
	verb
	clause
	give
	say
	sayto
	says
	asking
	turnto
	buy
	will
	character
	about
	honor
	everyone
	react
	sirs
	answer
	weak
	musing
	deal
	party
	dmask
	action
	number
	whole
	deepnot
	dice // from here on: what the line is about
	health
	turn
	app
	food
	clock
	meta
	noise
	rules
	rulesask
	rulesonly
	memoryask
	world
	roll
	deep
	xcard
	software
	meanings // how many there are
)

// sections are the names of the meanings in a table's headings.
var sections = [meanings]string{
	"inert", "opener", "greeting", "formal", "thanks", "you", "third", "me", "we", "other", "ask", "aux", "be", "does", "det", "that",
	"prep", "stranded", "conj", "order", "polite", "verb", "clause", "give", "say", "sayto", "says", "asking", "turnto", "buy", "will",
	"character", "about", "honor", "everyone", "react", "sirs", "answer", "weak", "musing", "deal", "party", "dmask", "action", "number",
	"whole", "deepnot", "dice", "health", "turn", "app", "food", "time", "meta", "noise", "rules", "rulesask", "rulesonly",
	"memory", "world", "roll", "deep", "xcard", "software",
}

// orderSections are the headings of what a game master may command.
var orderSections = []string{
	"cmdmute", "cmdunmute", "cmdquiet", "cmdstop", "cmdgo", "cmdsay", "cmdmake", "cmdtime", "cmdfast", "cmdstandard", "cmddeep", "cmdauto", "cmdall", "filler",
}

// nameSections are read when a cast is built, not when somebody speaks.
var nameSections = []string{"honorific", "adjective", "join", "common", "roles"}

// meaningSet is a set of meanings.
type meaningSet uint64

func set(ms ...meaning) (s meaningSet) {
	for _, m := range ms {
		s |= 1 << m
	}
	return s
}

func (s meaningSet) has(m meaning) bool    { return s>>m&1 != 0 }
func (s meaningSet) any(t meaningSet) bool { return s&t != 0 }

// topics are the meanings that an inert phrase takes away.
const topics = ^meaningSet(1<<dice - 1)

// A language is the words of one language, ready to be looked up.
type language struct {
	tag    string
	talk   lexicon // sections
	orders lexicon // orderSections

	honorifics, adjectives, joins, common map[string]bool
	// roles are other words for a role or title.
	roles map[string][]string
}

// A lexicon finds phrases. It is a trie whose first step, from a word to its
// node, is a map of strings and whose other steps are one map of numbers.
type lexicon struct {
	words map[string]entry
	steps map[uint64]uint32 // node<<32 | word id -> node
	ends  []meaningSet      // by node: what the phrase ending there means
}

// An entry is what a lexicon knows of one word.
type entry struct {
	id   uint32
	node uint32 // 0 if no phrase begins with the word
	more bool   // longer phrases begin with it
}

// anyNumber is the word id of "#" in a phrase.
const anyNumber = 1

func newLexicon() lexicon {
	return lexicon{
		words: map[string]entry{"#": {id: anyNumber}},
		steps: map[uint64]uint32{},
		ends:  make([]meaningSet, 1),
	}
}

// bare holds words that would become another word without their apostrophe.
var bare = map[string]bool{"we're": true, "i'll": true, "she'll": true, "he'll": true, "we'll": true, "i'd": true, "we'd": true, "she'd": true, "who're": true}

// word returns w's entry, making one if there is none.
func (l *lexicon) word(w string) entry {
	e, ok := l.words[w]
	if !ok {
		e = entry{id: uint32(len(l.words) + 1)}
		l.words[w] = e
	}
	return e
}

// add gives a phrase one more meaning. Recognisers often leave apostrophes out,
// so that "whats" is read like "what's".
func (l *lexicon) add(words []string, m meaning) {
	plain := make([]string, len(words))
	differs := false
	for i, w := range words {
		plain[i] = w
		if strings.Contains(w, "'") && !bare[w] {
			plain[i], differs = strings.ReplaceAll(w, "'", ""), true
		}
	}
	l.addExact(words, m)
	if differs {
		l.addExact(plain, m)
	}
}

func (l *lexicon) addExact(words []string, m meaning) {
	if len(words) == 0 {
		return
	}
	e := l.word(words[0])
	if e.node == 0 {
		e.node = uint32(len(l.ends))
		l.ends = append(l.ends, 0)
	}
	e.more = e.more || len(words) > 1
	l.words[words[0]] = e
	node := e.node
	for _, w := range words[1:] {
		key := uint64(node)<<32 | uint64(l.word(w).id)
		next := l.steps[key]
		if next == 0 {
			next = uint32(len(l.ends))
			l.ends = append(l.ends, 0)
			l.steps[key] = next
		}
		node = next
	}
	l.ends[node] |= 1 << m
}

// loaded keeps the shipped languages; each is read once, when first needed.
var loaded = struct {
	mu   sync.Mutex // guards the three below
	all  map[string]*language
	base map[string]map[string][]string // the sections as they were read
	own  map[uint64]*language           // with additions, by what they are
}{all: map[string]*language{}, base: map[string]map[string][]string{}, own: map[uint64]*language{}}

// Languages lists the languages whose table talk is understood.
func Languages() []string {
	var tags []string
	files, _ := tables.ReadDir("tables") // embedded: cannot fail
	for _, f := range files {
		tags = append(tags, strings.TrimSuffix(f.Name(), ".txt"))
	}
	return tags
}

// languageOf returns the table for a BCP 47 tag, with a campaign's own phrases
// added. A language that is not shipped is read with the English table.
func languageOf(tag string, extra map[string][]string) *language {
	tag, _, _ = strings.Cut(strings.ToLower(tag), "-")
	if !slices.Contains(Languages(), tag) {
		tag = "en"
	}
	loaded.mu.Lock()
	defer loaded.mu.Unlock()
	base, ok := loaded.base[tag]
	if !ok {
		text, err := tables.ReadFile(path.Join("tables", tag+".txt"))
		if err != nil {
			panic(err) // embedded
		}
		if base, err = parseTable(string(text)); err != nil {
			panic(err) // a test reads every shipped table
		}
		loaded.base[tag] = base
	}
	if len(extra) > 0 {
		sum := sumOf(tag, extra)
		if l := loaded.own[sum]; l != nil {
			return l
		}
		if len(loaded.own) >= maxCompiled {
			clear(loaded.own)
		}
		loaded.own[sum] = compile(tag, base, extra)
		return loaded.own[sum]
	}
	if loaded.all[tag] == nil {
		loaded.all[tag] = compile(tag, base, nil)
	}
	return loaded.all[tag]
}

// withRules adds the names of rules to a campaign's phrases. They are only listened
// for as rules; single words are told apart from ordinary ones when compiled.
func withRules(extra map[string][]string, rules []string) map[string][]string {
	if len(rules) == 0 {
		return extra
	}
	all := maps.Clone(extra)
	if all == nil {
		all = map[string][]string{}
	}
	all[ruleNames] = rules[:min(len(rules), maxPhrases)]
	return all
}

// ruleNames is the key of the names of rules among a language's additions; no table
// and no campaign has such a section.
const ruleNames = "rule names"

// maxCompiled is how many languages with additions are kept: each campaign that is
// played in this process has one.
const maxCompiled = 32

// sumOf tells additions apart.
func sumOf(tag string, extra map[string][]string) uint64 {
	h := fnv.New64a()
	write := func(s string) { _, _ = h.Write(append([]byte(s), 0)) } // a hash does not fail
	write(tag)
	for _, section := range slices.Sorted(maps.Keys(extra)) {
		write("[" + section)
		for _, p := range extra[section] {
			write(p)
		}
	}
	return h.Sum64()
}

// CheckPhrases says what is wrong with phrases that a campaign adds to its
// language: the keys are sections of the tables, such as "food" or "party".
func CheckPhrases(extra map[string][]string) error {
	n := 0
	for _, s := range slices.Sorted(maps.Keys(extra)) {
		if !slices.Contains(sections[:], s) && !slices.Contains(orderSections, s) && !slices.Contains(nameSections, s) {
			return fmt.Errorf("phrases: no section %q; there are %s", s, strings.Join(sections[:], ", "))
		}
		n += len(extra[s])
	}
	if n > maxPhrases {
		return fmt.Errorf("phrases: %d are too many, at most %d", n, maxPhrases)
	}
	return nil
}

// parseTable reads a table into the phrases of each section.
func parseTable(text string) (map[string][]string, error) {
	out := map[string][]string{}
	section := ""
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "//"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
			if err := CheckPhrases(map[string][]string{section: nil}); err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
		case section == "":
			return nil, fmt.Errorf("line %d: a phrase before the first [section]", n+1)
		case section == "roles":
			out[section] = append(out[section], line)
		default:
			for p := range strings.SplitSeq(line, ",") {
				if p = strings.TrimSpace(p); p != "" {
					out[section] = append(out[section], p)
				}
			}
		}
	}
	return out, nil
}

// compile builds the lexicons from a table and a campaign's additions.
func compile(tag string, base, extra map[string][]string) *language {
	l := &language{
		tag: tag, talk: newLexicon(), orders: newLexicon(),
		honorifics: map[string]bool{}, adjectives: map[string]bool{}, joins: map[string]bool{}, common: map[string]bool{},
		roles: map[string][]string{},
	}
	each := func(section string, do func(phrase string)) {
		for _, from := range []map[string][]string{base, extra} {
			for _, p := range from[section] {
				do(p)
			}
		}
	}
	for m, section := range sections {
		each(section, func(p string) { l.talk.add(cut(p), meaning(m)) })
	}
	for m, section := range orderSections {
		each(section, func(p string) { l.orders.add(cut(p), meaning(m)) })
	}
	for section, to := range map[string]map[string]bool{"honorific": l.honorifics, "adjective": l.adjectives, "join": l.joins, "common": l.common} {
		each(section, func(p string) { to[strings.Join(cut(p), " ")] = true })
	}
	for _, name := range extra[ruleNames] {
		// "Light" and "Shield" are said all the time; "Hunger of Hadar" is not.
		if words := cut(name); len(words) > 1 || len(words) == 1 && !l.known(words[0]) && !l.common[words[0]] {
			l.talk.add(words, rules)
		}
	}
	each("roles", func(p string) {
		role, words, _ := strings.Cut(p, "=")
		role = strings.Join(cut(role), " ")
		for w := range strings.SplitSeq(words, ",") {
			if c := strings.Join(cut(w), " "); c != "" && !slices.Contains(l.roles[role], c) {
				l.roles[role] = append(l.roles[role], c)
			}
		}
	})
	return l
}

// known reports whether w is an ordinary word of the language.
func (l *language) known(w string) bool {
	_, ok := l.talk.words[w]
	return ok || l.common[w]
}

// functional reports whether w only holds sentences together: "wise one" is not
// called one.
func (l *language) functional(w string) bool {
	e := l.talk.words[w]
	return e.node != 0 && l.talk.ends[e.node].any(set(other, number, det, that, prep, conj, we, third, ask))
}
