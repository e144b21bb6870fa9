package spoken

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxSentence is the longest sentence that is looked at, in bytes. The engine
	// cuts at 400; this is for other callers.
	maxSentence = 2000
	// maxSwallowed is how many sentences a tool call or a thought that was never
	// closed may swallow. After that the model has lost its way: the answer ends.
	maxSwallowed = 40
)

// Options say who speaks and what the table agreed on. Zero is useful.
type Options struct {
	// Names are those of the NPC; a label such as "Bartok:" is taken off.
	Names []string
	// Others are the names of everybody else who may speak. A sentence that
	// begins with one as a label ends the answer.
	Others []string
	// Tools are the names of all tools, so that roll("2d6") is known for a call.
	Tools []string
	// Language is a BCP 47 tag; "" is English.
	Language string
	// Safety is what the table agreed on.
	Safety Safety
	// Secrets are never told.
	Secrets []string
	// Roll throws dice for a result that the model made up. Nil strikes the
	// sentence.
	Roll func(expression string) (total int, ok bool)
}

// A Filter cleans the sentences of one answer, in their order. It is not safe
// for concurrent use.
type Filter struct {
	o       Options
	names   []string
	others  []string
	tools   map[string]bool
	guard   *guard
	secrets []topic

	rolled    map[int]bool // totals and dice of real rolls
	lastTotal int

	inside    *fence // a call or a thought that is still open
	depth     int    // of braces, while inside bare JSON
	swallowed int
	buffer    strings.Builder
	ended     bool
}

// A Result is what became of a sentence.
type Result struct {
	// Text is to be spoken; "" is nothing.
	Text string
	// Captions are stage directions: shown, not spoken.
	Captions []string
	// Calls are tool calls that the model wrote as text.
	Calls []Call
	// Struck are the parts that were taken out, and why.
	Struck []Struck
	// Broken is the line or veil that the sentence ran into, or "". The NPC has
	// to change the subject.
	Broken string
	// Fade is set if it was a veil: the scene fades, nothing is described.
	Fade bool
	// Secret is set if the sentence told a secret.
	Secret bool
	// End is set if nothing of the answer that follows may be spoken.
	End bool
}

// A Struck is a part that is not spoken.
type Struck struct{ Text, Why string }

// A Call is a tool call written as text. Args is what stood there, a JSON object
// where one could be made out.
type Call struct {
	Name string
	Args string
}

// New prepares a filter for one answer.
func New(o Options) *Filter {
	f := &Filter{o: o, tools: map[string]bool{}, rolled: map[int]bool{}, guard: newGuard(o.Safety, o.Language)}
	for _, n := range o.Names {
		f.names = append(f.names, labels(n)...)
	}
	for _, n := range o.Others {
		f.others = append(f.others, labels(n)...)
	}
	for _, t := range o.Tools {
		f.tools[strings.ToLower(t)] = true
	}
	for _, s := range o.Secrets {
		f.secrets = append(f.secrets, secretOf(s, o.Language))
	}
	return f
}

// labels are the ways in which a model writes a name before a colon.
func labels(name string) []string {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		return nil
	}
	out := []string{name}
	if first, _, ok := strings.Cut(name, " "); ok && len(first) > 2 && first != "the" && first != "old" {
		out = append(out, first)
	}
	return out
}

// Rolled tells the filter of a real roll, so that the model may speak of it.
func (f *Filter) Rolled(total int, dice ...int) {
	f.rolled[total], f.lastTotal = true, total
	for _, d := range dice {
		f.rolled[d] = true
	}
}

// Sentence says what of a sentence may be spoken.
func (f *Filter) Sentence(text string) Result {
	var r Result
	if f.ended {
		r.End = true
		r.strike(text, "the answer had ended")
		return r
	}
	text = clean(text)
	text = f.unfence(text, &r)
	if text = f.stages(text, &r); text != "" {
		text = f.label(text, &r)
	}
	text = plain(text)
	text = f.calls(text, &r)
	text = f.dice(text, &r)
	text = strings.TrimSpace(tidy(text))
	if !speakable(text) {
		text = ""
	}
	if text != "" {
		f.check(&text, &r)
	}
	r.Text = text
	f.ended = f.ended || r.End
	return r
}

// check holds the sentence against the table's agreement and the NPC's secrets.
func (f *Filter) check(text *string, r *Result) {
	words := stems(*text)
	for _, s := range f.secrets {
		if s.toldBy(words) {
			r.strike(*text, "it tells a secret")
			r.Secret, *text = true, ""
			return
		}
	}
	if name, veil := f.guard.broken(words); name != "" {
		r.Broken, r.Fade = name, veil
		if veil {
			r.strike(*text, "veiled: "+name)
			r.End = true
		} else {
			r.strike(*text, "over the table's line: "+name)
		}
		*text = ""
	}
}

func (r *Result) strike(text, why string) {
	if text = strings.TrimSpace(text); text != "" {
		r.Struck = append(r.Struck, Struck{text, why})
	}
}

// clean cuts and removes what no voice can say: control characters, marks that
// turn the direction of text, emoji.
func clean(s string) string {
	if len(s) > maxSentence {
		s = s[:maxSentence]
		for !utf8.ValidString(s) && len(s) > maxSentence-utf8.UTFMax {
			s = s[:len(s)-1]
		}
	}
	s = strings.ToValidUTF8(s, "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\u00a0', r == '\u202f':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		case picture(r):
			return -1
		}
		return r
	}, s)
}

// picture reports whether r is an emoji or another symbol that has no sound.
func picture(r rune) bool {
	switch {
	case r >= 0x1F000, // emoji, cards, flags
		r >= 0x2190 && r <= 0x21FF, // arrows
		r >= 0x2300 && r <= 0x27BF && r != '❘',
		r >= 0x2900 && r <= 0x2BFF,
		r >= 0xFE00 && r <= 0xFE0F, // how the character before is drawn
		r == 0x20E3, r == '©', r == '®', r == '™', r == '•', r == '■', r == '□', r == '▪', r == '●':
		return true
	}
	return false
}

// tidy mends what taking parts out left behind.
func tidy(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, p := range []string{" ,", " .", " !", " ?", " ;", " :"} {
		s = strings.ReplaceAll(s, p, p[1:])
	}
	s = strings.ReplaceAll(s, ",,", ",")
	s = strings.TrimLeft(s, ",.;:!? ")
	return s
}

// speakable reports whether there is anything to say in s.
func speakable(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
