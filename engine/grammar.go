package engine

import (
	"embed"
	"fmt"
	"strings"
)

// words are what closed word classes say about the end of a sentence, one file for
// each language. They are data so that a translator need not read Go.
//
//go:embed words/*.txt
var words embed.FS

// A grammar holds a language's word classes.
type grammar struct {
	hesitates map[string]bool // "uh"
	needsMore map[string]bool // conjunctions, articles, possessives: they end nothing
	dangles   map[string]bool // prepositions, auxiliaries: they rarely do
	subjects  map[string]bool // pronouns behind which a question goes on
	counts    map[string]bool // numbers: a noun may follow
	asks      map[string]bool // first words of questions
	begins    map[string]bool // first words of clauses that need another
	items     map[string]bool // first words of a list's items
	joins     map[string]bool // "and", "or"
	whole     map[string]bool // short lines that are all there is
	polite    map[string]bool // last words of a request
	thanks    map[string]bool // first words of thanks
	agrees    map[string]bool // words of somebody who only listens
	stops     map[string]bool // phrases that mean: stop talking
	decides   map[string]bool // first words of an answer that settle it
}

var (
	english, german, spanish = read("en"), read("de"), read("es")
	// foreign is a language that is not known: nothing is believed, except that
	// thinking sounds the same everywhere.
	foreign = grammar{hesitates: english.hesitates, agrees: english.hesitates}
)

// grammarOf is the grammar of a BCP 47 tag; "" is English.
func grammarOf(language string) *grammar {
	tag, _, _ := strings.Cut(strings.ToLower(language), "-")
	switch tag {
	case "", "en":
		return &english
	case "de":
		return &german
	case "es":
		return &spanish
	}
	return &foreign
}

// read reads a language's file. A fault in it is one of the program.
func read(language string) (g grammar) {
	sections := map[string]*map[string]bool{
		"hesitates": &g.hesitates, "needsMore": &g.needsMore, "dangles": &g.dangles, "subjects": &g.subjects,
		"counts": &g.counts, "asks": &g.asks, "begins": &g.begins, "items": &g.items, "joins": &g.joins,
		"whole": &g.whole, "polite": &g.polite, "thanks": &g.thanks, "agrees": &g.agrees, "stops": &g.stops,
		"decides": &g.decides,
	}
	text, err := words.ReadFile("words/" + language + ".txt")
	if err != nil {
		panic(err)
	}
	var now map[string]bool
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name := strings.Trim(line, "[]")
			if sections[name] == nil {
				panic(fmt.Sprintf("words/%s.txt: no class %q", language, name))
			}
			now = map[string]bool{}
			*sections[name] = now
		default:
			for w := range strings.SplitSeq(line, ",") {
				if w = strings.TrimSpace(w); w != "" {
					now[w] = true
				}
			}
		}
	}
	return g
}
