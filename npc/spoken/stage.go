package spoken

import (
	"regexp"
	"slices"
	"strings"
)

var (
	starred  = regexp.MustCompile(`\*\*\*?[^*]+\*\*\*?|\*[^*]+\*|(?:^|\s)_[^_]+_`)
	openStar = regexp.MustCompile(`^\s*\*[^*]*$|^[^*]*\*\s*$`)
	bracket  = regexp.MustCompile(`\[[^\[\]]*\](?:\([^()]*\))?`)
	paren    = regexp.MustCompile(`\([^()]*\)`)
	ssml     = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
	links    = regexp.MustCompile(`(?i)\b(?:https?|ftp)://\S+|\bwww\.\S+`)
	heading  = regexp.MustCompile(`^\s*(?:#{1,6}\s+|>+\s*|[-+*•]\s+|\d{1,2}[.)]\s+)`)
	faces    = regexp.MustCompile(`(?:^|\s)[:;=8xX]['’]?-?[)(DPpOo/\\|3]+(?:\s|$)`)
	mentions = regexp.MustCompile(`<[@#][!&]?\d+>|<a?:\w+:\d+>|:[a-z0-9_+]{3,}:`)
)

// stages takes out stage directions: *wipes the bar*, (sighs), [laughs]. They
// are kept as captions.
func (f *Filter) stages(s string, r *Result) string {
	if !strings.ContainsAny(s, "*_([<:/") && !strings.Contains(s, "www.") {
		return strings.TrimSpace(s)
	}
	if m := links.FindAllString(s, -1); m != nil {
		for _, l := range m {
			if !strings.Contains(s, "]("+strings.TrimRight(l, ").,!?")) {
				r.strike(l, "a web address")
			}
		}
	}
	s = mentions.ReplaceAllString(s, " ")
	s = bracket.ReplaceAllStringFunc(s, func(m string) string {
		inner, _, _ := strings.Cut(m[1:], "]")
		if strings.HasSuffix(m, ")") {
			return inner // a link's own text
		}
		if strings.ContainsAny(inner, "({=") {
			return m // left for the search for calls
		}
		if strings.HasSuffix(strings.TrimSpace(inner), ":") || slices.Contains(f.names, strings.ToLower(strings.TrimSpace(inner))) {
			return inner
		}
		return r.caption(inner)
	})
	s = links.ReplaceAllString(s, " ")
	s = starred.ReplaceAllStringFunc(s, func(m string) string {
		inner := strings.Trim(m, "*_ ")
		if strings.HasPrefix(m, "**") {
			return inner // bold
		}
		words := strings.Fields(inner)
		whole := strings.TrimSpace(s) == strings.TrimSpace(m)
		edge := strings.HasPrefix(strings.TrimSpace(s), strings.TrimSpace(m)) || strings.HasSuffix(strings.TrimRight(s, " .!?"), strings.TrimSpace(m))
		switch {
		case whole, len(words) > 2, len(words) == 2 && doing(words), edge && len(words) == 1 && doing(words) && strings.HasPrefix(strings.TrimSpace(s), strings.TrimSpace(m)):
			return r.caption(inner)
		}
		lead := ""
		if m[0] == ' ' {
			lead = " "
		}
		return lead + inner // I *never* said that
	})
	if openStar.MatchString(s) {
		// A direction that the sentence's end cut in two.
		t := strings.TrimSpace(s)
		if strings.HasPrefix(t, "*") && doing(strings.Fields(t[1:])) {
			return r.caption(t[1:])
		}
	}
	s = paren.ReplaceAllStringFunc(s, func(m string) string {
		inner := strings.TrimSpace(m[1 : len(m)-1])
		i := strings.Index(s, m)
		if i > 0 && isNameByte(s[i-1]) || strings.ContainsAny(inner, `="`) {
			return m // roll(...), left for the search for calls
		}
		if doing(strings.Fields(inner)) || strings.TrimSpace(s) == m {
			return r.caption(inner)
		}
		return ", " + inner + ","
	})
	s = ssml.ReplaceAllString(s, " ")
	return strings.TrimSpace(s)
}

func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// caption keeps a stage direction.
func (r *Result) caption(s string) string {
	if s = strings.Trim(strings.TrimSpace(s), "*_"); s != "" {
		r.Captions = append(r.Captions, s)
	}
	return " "
}

// doing reports whether words tell what somebody does: smiles, leaning closer,
// a pause.
func doing(words []string) bool {
	if len(words) == 0 {
		return false
	}
	w := strings.ToLower(strings.Trim(words[0], ".,!?*"))
	switch w {
	case "a", "an", "the", "with", "in", "to", "under", "he", "she", "they", "his", "her", "their", "i":
		return len(words) > 1 && w != "i"
	case "slowly", "quietly", "softly", "pause", "beat", "silence", "sigh", "laugh", "laughter", "whisper", "cough", "grin", "aside", "dramatic", "long", "clears", "shrug", "wink", "lacht", "seufzt", "nickt", "flustert", "lächelt", "ríe", "suspira", "sonríe", "susurra":
		return true
	case "yes", "this", "thus", "us", "is", "was", "always", "unless", "perhaps", "has", "as", "its", "ours", "yours", "theirs", "less", "towards", "besides", "thanks", "sometimes", "nothing", "something", "anything", "everything", "king", "during", "bring", "sing", "ring", "thing", "spring", "evening", "morning":
		return false
	}
	n := len(w)
	return n > 3 && (strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "ing")) || n > 3 && strings.HasSuffix(w, "ly")
}

// plain takes markup off and keeps its words.
func plain(s string) string {
	if t := strings.TrimSpace(s); t != "" && strings.IndexByte("#>-+*0123456789", t[0]) >= 0 {
		s = heading.ReplaceAllString(s, "")
	}
	if strings.ContainsAny(s, ":;=") {
		s = faces.ReplaceAllString(s, " ")
	}
	s = unmark.Replace(s)
	s = strings.Trim(s, "*_# \"")
	return strings.ReplaceAll(s, "*", "")
}

var unmark = strings.NewReplacer("`", "", "**", "", "__", "", "~~", "", "||", "", "@everyone", "everyone", "@here", "here", "<", " ", ">", " ", "“", "\"", "”", "\"", "…", "...")

// roles are labels that models put before their own lines and others'.
var (
	ownRoles   = []string{"assistant", "ai", "npc", "response", "reply", "answer", "you", "character", "me", "final", "output", "speech", "dialogue"}
	otherRoles = []string{"user", "player", "players", "human", "dm", "gm", "dungeon master", "game master", "system", "narrator", "tool", "everyone", "spieler", "spielleiter", "erzähler", "jugador", "narrador"}
	labelled   = regexp.MustCompile(`^\W*([\pL][\pL\pN'’. -]{0,40}?)\s*(?:\([^()]*\)|\[[^\[\]]*\])?\W{0,3}:\W{0,3}(?:\s|$|["“*])`)
	tells      = regexp.MustCompile(`^(.{2,40}?)\s+(?:says|replies|answers|asks|whispers|sagt|antwortet|dice|responde)\s*[,:]\s*["“]?`)
)

// label takes the NPC's own name off the front. Anybody else's name there means
// that the model has begun to speak for others: the answer ends.
func (f *Filter) label(s string, r *Result) string {
	if !strings.ContainsAny(s, ":,\"“") {
		return s
	}
	if i := f.otherLabel(s); i > 0 {
		r.strike(s[i:], "words of somebody else")
		r.End = true
		s = s[:i]
	}
	for _, pattern := range []*regexp.Regexp{labelled, tells} {
		m := pattern.FindStringSubmatchIndex(s)
		if m == nil {
			continue
		}
		name := strings.ToLower(strings.Trim(s[m[2]:m[3]], " *_\"“"))
		switch {
		case slices.Contains(f.names, name), slices.Contains(ownRoles, name):
			return s[m[1]:]
		case slices.Contains(f.others, name), slices.Contains(otherRoles, name):
			r.strike(s, "words of somebody else")
			r.End = true
			return ""
		}
	}
	return s
}

// otherLabel finds where, within a sentence, somebody else's lines begin: their
// name and a colon. It is -1 if they do not.
func (f *Filter) otherLabel(s string) int {
	if !strings.Contains(s, ":") {
		return -1
	}
	low := strings.ToLower(s)
	if len(low) != len(s) {
		return -1 // letters whose cases differ in length: places would not fit
	}
	first := -1
	for _, n := range f.others {
		for from := 0; ; {
			i := strings.Index(low[from:], n+":")
			if i < 0 {
				break
			}
			i += from
			if (i == 0 || s[i-1] == ' ' || s[i-1] == '"' || s[i-1] == '*') && (first < 0 || i < first) {
				first = i
			}
			from = i + 1
		}
	}
	return first
}
