package spoken

import (
	"slices"
	"strings"
	"unicode"
)

// Safety is what a table agreed on before playing.
type Safety struct {
	// Rating is "everyone", "teen" or "mature"; "" is teen.
	Rating string
	// Lines never happen; Veils happen but are not described. Both are written
	// as people write them: "harm to children", "spiders".
	Lines, Veils []string
}

const (
	// maxTopics is the most lines and veils that are watched for.
	maxTopics = 200
	// secretShare is how much of a secret's words a sentence must hold to tell
	// it, and secretWords how many at least.
	secretShare, secretWords = 0.4, 3
)

// A topic is something that must not be said: groups of words of which one each
// has to occur.
type topic struct {
	name   string
	groups [][]string
	// need is how many of the groups must occur.
	need int
}

// A guard watches over lines and veils.
type guard struct {
	lines, veils []topic
	// coarse words are over the line of the rating.
	coarse []string
}

func newGuard(s Safety, lang string) *guard {
	g := &guard{}
	for _, l := range s.Lines[:min(len(s.Lines), maxTopics)] {
		g.lines = append(g.lines, topicOf(l, lang))
	}
	for _, v := range s.Veils[:min(len(s.Veils), maxTopics)] {
		g.veils = append(g.veils, topicOf(v, lang))
	}
	for _, t := range always {
		g.lines = append(g.lines, topicOf(t, lang))
	}
	switch s.Rating {
	case "mature":
	case "everyone":
		g.coarse = append(slices.Clone(coarse), mild...)
	default:
		g.coarse = coarse
	}
	return g
}

// broken is the line or veil that the words run into.
func (g *guard) broken(words []string) (name string, veil bool) {
	for _, w := range g.coarse {
		if slices.Contains(words, w) {
			return "words for grown-ups only", false
		}
	}
	for i := range g.lines {
		if g.lines[i].in(words) {
			return g.lines[i].name, false
		}
	}
	for i := range g.veils {
		if g.veils[i].in(words) {
			return g.veils[i].name, true
		}
	}
	return "", false
}

func (t *topic) in(words []string) bool {
	if len(t.groups) == 0 {
		return false
	}
	n := 0
	for _, g := range t.groups {
		if slices.ContainsFunc(g, func(w string) bool { return slices.Contains(words, w) }) {
			n++
		}
	}
	return n >= t.need
}

// topicOf turns "harm to children" into words to watch for: of each of its own
// words, or of those that mean the same, one must occur.
func topicOf(s, lang string) topic {
	t := topic{name: strings.TrimSpace(s)}
	whole := stems(s)
	for _, w := range whole {
		if filler[w] {
			continue
		}
		group := []string{w}
		for _, k := range kin {
			if slices.Contains(k.heads, w) {
				group = slices.Concat(group, k.heads, k.words)
			}
		}
		t.groups = append(t.groups, group)
	}
	t.need = len(t.groups)
	return t
}

// secretOf prepares a secret. What it shares with everyday talk does not count.
func secretOf(s, _ string) topic {
	t := topic{name: s}
	for _, w := range stems(s) {
		if !filler[w] && len(w) > 2 && !slices.ContainsFunc(t.groups, func(g []string) bool { return g[0] == w }) {
			t.groups = append(t.groups, []string{w})
		}
	}
	t.need = max(min(secretWords, len(t.groups)), int(float64(len(t.groups))*secretShare+0.5))
	return t
}

// toldBy reports whether the words tell the secret.
func (t *topic) toldBy(words []string) bool { return t.in(words) }

// stems are the words of s without their endings, in lower case.
func stems(s string) []string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	})
	for i, w := range words {
		words[i] = stem(strings.Trim(w, "'’"))
	}
	return words
}

// stem takes an English ending off, roughly: both sides of a comparison go
// through it.
func stem(w string) string {
	if i := strings.IndexAny(w, "'’"); i > 0 {
		w = w[:i]
	}
	for _, e := range []string{"ingly", "ings", "ing", "edly", "ied", "ies", "ers", "er", "ed", "es", "ly", "s"} {
		if b, ok := strings.CutSuffix(w, e); ok && len(b) >= 3 {
			w = b
			break
		}
	}
	if len(w) > 3 {
		w = strings.TrimRight(w, "e")
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 's' && w[n-1] != 'l' {
		w = w[:n-1]
	}
	if n := len(w); n > 3 && w[n-1] == 'y' {
		w = w[:n-1] + "i"
	}
	return w
}

// filler are words that no line is about.
var filler = stemmed(`a an the to of and or in on at for with from by about any all no not as is are was were be been being it its that this these those
he she they his her their him them i me my we us our you your who what which where when how
graphic detailed description describing depiction content scene mention theme explicit against toward towards involving use topic
der die das den dem des ein eine einen und oder von zu mit für in im auf an ist sind war nicht kein keine
el la los las un una de y o con por para en es son del al no`)

// A kinship is words of a line or veil, and what else is then not to be heard.
type kinship struct{ heads, words []string }

// kin is written as heads = words; a head stands for itself too.
var kin = func() (all []kinship) {
	for line := range strings.Lines(strings.TrimSpace(`
harm hurt violence cruelty abuse = abused torture torment injure kill murder slaughter beat maim mutilate wound stab burn strangle whip
child children kid kids minors = baby babies infant toddler boy girl youngster
baby babies infants = newborn cradle
animal animals pets = dog cat horse puppy kitten pet
spider spiders arachnid arachnids = tarantula spiderweb web-spinner
insect insects bugs = bug beetle cockroach maggot centipede
snake snakes = serpent viper adder python
torture = torment flay rack thumbscrew waterboard tormentor
gore gory blood = entrails guts intestines disembowel innards viscera dismember
sex sexual nudity = intercourse erotic naked nude orgasm genitals
rape sexual-assault sexual-violence = raped rapist molest violate
suicide self-harm = suicidal kill-yourself hang-yourself
slavery slaves = slave enslave enslaved
racism racist = racial slur
cannibalism = cannibal human-flesh
drugs drug = opium addiction addict narcotic
alcohol drunkenness = drunk booze liquor
pregnancy = pregnant miscarriage abortion
death dying = dead died
needles needle = syringe injection
clowns clown = jester
drowning drown = drowned
eyes eye = eyeball
teeth tooth = dentist molar
disease plague = illness pox
incest = incestuous
homophobia = homophobic
spinne spinnen = netz
gewalt = folter foltern quälen schlagen
folter = foltern quälen
kinder kind = junge mädchen baby
araña arañas = tarántula
niños niño = niña niñas bebé
tortura violencia = torturar golpear
`)) {
		heads, words, _ := strings.Cut(line, "=")
		var k kinship
		for w := range strings.FieldsSeq(heads) {
			k.heads = append(k.heads, stem(w))
		}
		for w := range strings.FieldsSeq(words) {
			k.words = append(k.words, stem(w))
		}
		all = append(all, k)
	}
	return all
}()

// always are over the line at every table, whatever it agreed on.
var always = []string{"sexual child", "child rape", "child naked"}

// coarse and mild are words that a rating rules out.
var (
	// What is also the name of a bird or of a man is not among them.
	coarse = keys(`fuck fucking fucker motherfucker fucked cunt pussy asshole arsehole bitch whore slut bastard shit shitty bullshit blowjob jerkoff wanker twat faggot nigger retard tits cum porn`)
	mild   = keys(`damn damned goddamn hell crap piss pissed arse ass bloody bugger bollocks`)
)

func keys(s string) (out []string) {
	for w := range strings.FieldsSeq(s) {
		out = append(out, stem(w))
	}
	return out
}

func stemmed(s string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		m[stem(w)], m[w] = true, true
	}
	return m
}

// Broken names the line or veil that one sentence runs into, or "": for texts
// that are no answers, such as what is imported or to be painted.
func (s Safety) Broken(sentence, language string) (name string, veil bool) {
	return newGuard(s, language).broken(stems(sentence))
}
