package improviser

import (
	"regexp"
	"strings"
	"unicode"
)

// maxTold bounds what is said from a stored text in one answer.
const maxTold = 320

var (
	markup  = regexp.MustCompile(`<[^<>]{0,200}>|https?://\S+|www\.\S+|\[([^\[\]]{0,200})\]\([^()]{0,300}\)`)
	symbols = regexp.MustCompile("[*_#`~<>|\\\\{}\\[\\]]+")
	// orders are sentences that try to steer a program. They are left out when
	// stored text is told: obeyed they would not be, but they also sound odd.
	orders = regexp.MustCompile(`(?i)\b(ignore|disregard|forget) (all|any|the|your|previous|everything)\b|system prompt|\b(you are|act as) (now )?(an?|the) (ai|assistant|language model|system)|\btool[ _]?call|\bas an ai\b|new instructions`)
)

// speakable makes text that came from outside fit to be said: at most the given
// number of sentences, without markup, addresses, control characters and
// sentences that are meant for a program.
func speakable(text string, most int) string {
	if len(text) > 4*maxTold {
		text = strings.ToValidUTF8(text[:4*maxTold], "")
	}
	text = markup.ReplaceAllString(text, "$1")
	text = symbols.ReplaceAllString(text, " ")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
	var out []string
	size := 0
	for _, s := range sentences(strings.Join(strings.Fields(text), " ")) {
		if orders.MatchString(s) {
			continue
		}
		if size += len(s); len(out) == most || size > maxTold && len(out) > 0 {
			break
		}
		if len(s) > maxTold {
			s = s[:strings.LastIndexByte(s[:maxTold], ' ')+1] + "…"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// inOwnMouth turns a sentence of the third person into one that this NPC can say
// to this player: its own name becomes "I" or "me", the player's "you".
func (t *turn) inOwnMouth(text string) string {
	g := t.tongue
	if g != english {
		return text // other languages bend the verb in more than one place
	}
	for _, name := range append([]string{t.persona.Name}, t.persona.Aliases...) {
		text = g.replaceName(text, name, g.i, g.me, g.my)
	}
	if player := t.playerName(); player != "" {
		text = g.replaceName(text, player, g.you, g.you, g.your)
	}
	return sentenceCase(text)
}

// replaceName replaces a name that is written with a capital letter, by the
// subject with its verb at the beginning of a sentence, else by the object.
func (g *tongue) replaceName(text, name, subject, object, owner string) string {
	if r := []rune(name); len(r) < 2 || !unicode.IsUpper(r[0]) || !strings.Contains(text, name) {
		return text
	}
	all := sentences(text)
	for i, s := range all {
		if rest, ok := strings.CutPrefix(s, name+" "); ok {
			verb, tail, _ := strings.Cut(rest, " ")
			s = subject + " " + firstPerson(verb, subject == g.i) + " " + tail
		}
		s = replaceWord(s, name+"'s", owner)
		all[i] = strings.TrimSpace(replaceWord(s, name, object))
	}
	return strings.Join(all, " ")
}

// replaceWord replaces whole words.
func replaceWord(s, old, with string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, old)
		if i < 0 {
			return b.String() + s
		}
		end := i + len(old)
		before, after := rune(' '), rune(' ')
		if i > 0 {
			before = rune(s[i-1])
		}
		if end < len(s) {
			after = rune(s[end])
		}
		b.WriteString(s[:i])
		if unicode.IsLetter(before) || unicode.IsLetter(after) || after == '\'' {
			b.WriteString(old)
		} else {
			b.WriteString(with)
		}
		s = s[end:]
	}
}

// firstPerson turns "keeps" into "keep" and "is" into "am" or "are".
func firstPerson(verb string, i bool) string {
	word := strings.TrimRight(verb, ".,;!?")
	tail := verb[len(word):]
	switch word {
	case "is":
		if i {
			return "am" + tail
		}
		return "are" + tail
	case "was":
		if i {
			return verb
		}
		return "were" + tail
	case "has":
		return "have" + tail
	case "does", "goes":
		return strings.TrimSuffix(word, "es") + tail
	}
	switch {
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y" + tail
	case strings.HasSuffix(word, "shes"), strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "sses"):
		return strings.TrimSuffix(word, "es") + tail
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return strings.TrimSuffix(word, "s") + tail
	}
	return verb
}
