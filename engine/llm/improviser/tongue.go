package improviser

import (
	"slices"
	"strings"
)

// A tongue is a language: how to tell what a line wants, and what to say when
// the NPC has no words of its own for it.
type tongue struct {
	stem func(string) string
	stop map[string]bool // words that say nothing about the topic
	// like are groups of stems that mean nearly the same.
	like map[string][]int
	// wants are the phrases that give an intent away, in plain words.
	wants map[intent][]string
	// about are the phrases before a topic: "tell me about".
	about []string
	// rules are words of the game's rules: strong ones make any question one
	// about rules, weak ones only with a frame such as "how does ... work".
	rulesStrong, rulesWeak map[string]bool
	ruleFrames             []string
	questions              []string // first words of questions
	// Words that stand for what was talked about: persons, things and places, and
	// those that only do where no noun follows.
	persons, pronouns, demonstratives map[string]bool
	// notFor are the words that do not fit those whose pronouns begin so.
	notFor     map[string][]string
	joins      map[string]bool // words behind which more is said about a topic
	fillers    map[string]bool // words before a name at the beginning
	past       map[string]bool // words of questions about the past
	directions []string        // how the game master says what to speak about
	coin       map[bool]string
	then       string              // how a second thing that was said is told
	spoke, and string              // how the topics of a talk are told
	lines      map[string][]string // stock lines by occasion
	// A few words that answers are made with.
	areYou, please, there, no, i, me, my, you, your, is, said, asked, somebody string
}

func tongueFor(language string) *tongue {
	if l := strings.ToLower(language); l == "de" || strings.HasPrefix(l, "de-") {
		return german
	}
	if l := strings.ToLower(language); l == "es" || strings.HasPrefix(l, "es-") {
		return spanish
	}
	return english
}

// content is the stems of a text's words that say what it is about: all but those
// that say nothing, unless they are names.
func (t *tongue) content(text string, names map[string]bool) []string {
	var out []string
	for w := range strings.FieldsSeq(plain(text)) {
		if t.stop[w] && !names[w] {
			continue
		}
		if s := t.stem(w); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// related reports whether two stems mean nearly the same.
func (t *tongue) related(a, b string) bool {
	for _, g := range t.like[a] {
		if slices.Contains(t.like[b], g) {
			return true
		}
	}
	return false
}

// set makes a set of the words of a list.
func set(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

// groups numbers lists of words of like meaning.
func groups(stem func(string) string, lists ...string) map[string][]int {
	out := map[string][]int{}
	for g, list := range lists {
		for w := range strings.FieldsSeq(list) {
			s := stem(w)
			out[s] = append(out[s], g)
		}
	}
	return out
}

// isQuestion reports whether a line asks something.
func (t *tongue) isQuestion(raw, p string) bool {
	if strings.Contains(raw, "?") {
		return true
	}
	first, _, _ := strings.Cut(strings.TrimSpace(p), " ")
	return slices.Contains(t.questions, first)
}
