package improviser

import (
	"strings"
	"unicode"
)

// plain is a line as the improviser looks at it: lower-case words without
// punctuation, contractions spelled out, one space before and behind each.
func plain(line string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, w := range strings.FieldsFunc(strings.ToLower(line), notInWord) {
		w = strings.Trim(strings.ReplaceAll(w, "’", "'"), "'-")
		if w == "" {
			continue
		}
		if full, ok := contractions[w]; ok {
			b.WriteString(full)
		} else {
			b.WriteString(possessive(w))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' && r != '+' && r != '%'
}

// contractions are those whose 's or 'd is a word of its own.
var contractions = map[string]string{
	"what's": "what is", "whats": "what is", "who's": "who is", "whos": "who is", "where's": "where is", "wheres": "where is",
	"how's": "how is", "when's": "when is", "why's": "why is", "that's": "that is", "it's": "it is", "he's": "he is",
	"she's": "she is", "there's": "there is", "here's": "here is", "let's": "let us", "i'm": "i am", "im": "i am",
	"you're": "you are", "we're": "we are", "they're": "they are", "i've": "i have", "you've": "you have",
	"we've": "we have", "they've": "they have", "i'd": "i would", "you'd": "you would", "we'd": "we would",
	"he'd": "he would", "she'd": "she would", "they'd": "they would", "i'll": "i will", "you'll": "you will",
	"we'll": "we will", "he'll": "he will", "she'll": "she will", "they'll": "they will", "don't": "do not",
	"dont": "do not", "doesn't": "does not", "didn't": "did not", "can't": "can not", "cannot": "can not",
	"cant": "can not", "couldn't": "could not", "won't": "will not", "wouldn't": "would not", "isn't": "is not",
	"aren't": "are not", "wasn't": "was not", "weren't": "were not", "haven't": "have not", "hasn't": "has not",
	"shouldn't": "should not", "ain't": "is not", "gonna": "going to", "wanna": "want to", "gimme": "give me",
	"lemme": "let me", "ya": "you", "y'all": "you all", "wie's": "wie ist", "was's": "was ist", "gibt's": "gibt es",
	"geht's": "geht es", "gehts": "geht es", "gibts": "gibt es", "ist's": "ist es", "bist'n": "bist denn", "'s": "is",
}

func possessive(w string) string {
	if s, ok := strings.CutSuffix(w, "'s"); ok {
		return s
	}
	return strings.TrimSuffix(w, "'")
}

// stem cuts a word's ending, so that "cooking" and "cook", "wheels" and "wheel"
// are the same. It need not be a word; it only has to be the same cut for
// question and answer.
func stem(w string) string {
	n := len(w)
	switch {
	case n > 5 && strings.HasSuffix(w, "ies"):
		return w[:n-3] + "y"
	case n > 4 && strings.HasSuffix(w, "ses"), n > 4 && strings.HasSuffix(w, "xes"), n > 5 && strings.HasSuffix(w, "hes"):
		w = w[:n-2]
	case n > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:n-1]
	}
	for _, ending := range []string{"ings", "ing", "ed", "ly"} {
		s, ok := strings.CutSuffix(w, ending)
		if !ok || len(s) < 3 || !strings.ContainsAny(s, "aeiouyäöü") {
			continue
		}
		if k := len(s); k > 3 && s[k-1] == s[k-2] && !strings.ContainsRune("lsz", rune(s[k-1])) {
			s = s[:k-1] // running, run
		}
		return strings.TrimSuffix(s, "e")
	}
	if len(w) > 3 {
		return strings.TrimSuffix(w, "e")
	}
	return w
}

// stemGerman does the same for German words.
func stemGerman(w string) string {
	w = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss").Replace(w)
	for _, ending := range []string{"ern", "em", "en", "er", "es", "st", "e", "n", "s", "t"} {
		if s, ok := strings.CutSuffix(w, ending); ok && len(s) >= 3 {
			return s
		}
	}
	return w
}

// alike reports whether two words may be one, misheard or misspelt: one slip in
// five letters, two in eight, and the same first sound.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	short := min(len(a), len(b))
	if short < 4 || len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return false
	}
	if short >= 5 && distance(a, b) <= short/2-1 && skeleton(a) == skeleton(b) {
		return true
	}
	allowed := 0
	switch {
	case short >= 8:
		allowed = 2
	case short >= 5:
		allowed = 1
	}
	return allowed > 0 && a[0] == b[0] && distance(a, b) <= allowed
}

// skeleton is how a word sounds, roughly: its consonants, with those that are
// mistaken for each other made the same.
func skeleton(w string) string {
	w = strings.NewReplacer("ph", "f", "ck", "k", "gh", "g", "wh", "w", "kn", "n", "th", "t", "sch", "s", "sh", "s", "ch", "k", "qu", "k", "x", "ks").Replace(w)
	var b strings.Builder
	var last rune
	for i, r := range w {
		switch r {
		case 'a', 'e', 'i', 'o', 'u', 'y', 'ä', 'ö', 'ü', 'h':
			if i > 0 {
				continue
			}
			r = 'a'
		case 'c', 'g', 'k', 'q':
			r = 'k'
		case 'd', 't':
			r = 't'
		case 'b', 'p':
			r = 'p'
		case 'f', 'v', 'w':
			r = 'f'
		case 's', 'z', 'j':
			r = 's'
		case 'm', 'n':
			r = 'n'
		}
		if r != last {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// distance is Levenshtein's, in bytes; words are short.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// has reports whether the padded line contains one of the phrases as words, or
// ends with it if the phrase ends with "$".
func has(line string, phrases []string) bool {
	for _, p := range phrases {
		if end, ok := strings.CutSuffix(p, "$"); ok && strings.HasSuffix(line, " "+end+" ") || strings.Contains(line, " "+p+" ") {
			return true
		}
	}
	return false
}

// after is what follows the first of the phrases that the line contains.
func after(line string, phrases []string) (rest string, ok bool) {
	for _, p := range phrases {
		if i := strings.Index(line, " "+p+" "); i >= 0 {
			return strings.TrimSpace(line[i+len(p)+1:]), true
		}
	}
	return "", false
}

// sentences splits text where a sentence ends.
func sentences(text string) []string {
	var out []string
	start := 0
	for i, r := range text {
		if strings.ContainsRune(".!?…", r) && (i+1 >= len(text) || text[i+1] == ' ' || text[i+1] == '\n') {
			if s := strings.TrimSpace(text[start : i+len(string(r))]); s != "" {
				out = append(out, s)
			}
			start = i + len(string(r))
		}
	}
	if s := strings.TrimSpace(text[start:]); s != "" {
		out = append(out, s)
	}
	return out
}
