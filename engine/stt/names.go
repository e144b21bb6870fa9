package stt

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine/child"
)

const (
	// maxNames is how many words of names are taught at a time, the likeliest
	// first: each one more is one more word to be mistaken for.
	maxNames = 100
	// sayTime is how long flite may take to say how names sound: 10 ms.
	sayTime = 3 * time.Second
)

// vocabulary is what pocketsphinx is given so that it knows a campaign's names: its
// own model and dictionary with the names in them, as open files without a name, so
// that nothing is left behind.
type vocabulary struct {
	model, dictionary *os.File
	// rare are the words that are names and nothing else.
	rare map[string]bool
}

// called is a text without "the" before a name at its beginning. The breath before
// a first b, d or g is often taken for one, and nobody calls a person "the Bartok".
func (v *vocabulary) called(text string) string {
	rest, ok := strings.CutPrefix(text, "the ")
	if name, _, _ := strings.Cut(rest, " "); ok && v != nil && v.rare[name] {
		return rest
	}
	return text
}

// teach makes a vocabulary with the words of names. It returns nil if there is
// nothing to teach.
func (p *Pocketsphinx) teach(ctx context.Context, names []string) (*vocabulary, error) {
	var words []string
	for _, n := range names {
		for _, w := range strings.FieldsFunc(strings.ToLower(n), func(r rune) bool { return r != '\'' && (r < 'a' || r > 'z') }) {
			w = strings.Trim(w, "'")
			if len(w) >= 3 && len(w) <= 30 && !slices.Contains(words, w) && len(words) < maxNames {
				words = append(words, w)
			}
		}
	}
	if len(words) == 0 {
		return nil, nil
	}
	dictionary, err := os.ReadFile(filepath.Join(p.model, "cmudict-en-us.dict"))
	if err != nil {
		return nil, err
	}
	sounds := p.sounds(ctx, dictionary, words)
	// A word without a sound cannot be heard.
	words = slices.DeleteFunc(words, func(w string) bool { return len(sounds[w]) == 0 })

	model, err := readLimited(filepath.Join(p.model, "en-us.lm.bin"), maxTrie)
	if err != nil {
		return nil, err
	}
	model, rare, err := withWords(model, words)
	if err != nil {
		return nil, err
	}
	var extra bytes.Buffer
	extra.WriteByte('\n')
	for _, w := range words {
		known := variants(dictionary, w)
		n := len(known)
		for _, s := range sounds[w] {
			if slices.Contains(known, s) {
				continue
			}
			if n++; n == 1 {
				fmt.Fprintf(&extra, "%s %s\n", w, s)
			} else {
				fmt.Fprintf(&extra, "%s(%d) %s\n", w, n, s)
			}
		}
	}
	v := &vocabulary{rare: rare}
	if v.model, err = nameless(model); err != nil {
		return nil, err
	}
	if v.dictionary, err = nameless(append(bytes.TrimRight(dictionary, "\n"), extra.Bytes()...)); err != nil {
		v.model.Close()
		return nil, err
	}
	return v, nil
}

// nameless is a temporary file that is gone as soon as nobody has it open.
func nameless(content []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "glyphoxa-words-")
	if err != nil {
		return nil, err
	}
	_, err = f.Write(content)
	if gone := os.Remove(f.Name()); err == nil {
		err = gone
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func readLimited(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s: over %d MB", path, most>>20)
	}
	return b, err
}

// sounds finds how words sound, each in one or more ways: from the dictionary, as
// two words of the dictionary in one ("greymantle"), and as flite would say it.
func (p *Pocketsphinx) sounds(ctx context.Context, dictionary []byte, words []string) map[string][]string {
	found := map[string][]string{}
	add := func(w, sound string) {
		if sound != "" && !slices.Contains(found[w], sound) {
			found[w] = append(found[w], sound)
		}
	}
	for _, w := range words {
		for _, s := range variants(dictionary, w) {
			add(w, s)
		}
		for i := 3; i <= len(w)-3 && len(found[w]) == 0; i++ {
			head, tail := variants(dictionary, w[:i]), variants(dictionary, w[i:])
			if len(head) > 0 && len(tail) > 0 {
				add(w, head[0]+" "+tail[0])
			}
		}
	}
	for w, s := range spell(ctx, words) {
		add(w, s)
	}
	return found
}

// variants are a word's pronunciations in the dictionary, whose lines read
// "word PH O N ES" and "word(2) ...", sorted by nothing useful.
func variants(dictionary []byte, word string) (out []string) {
	for n := 1; ; n++ {
		head := "\n" + word + " "
		if n > 1 {
			head = fmt.Sprintf("\n%s(%d) ", word, n)
		}
		i := bytes.Index(dictionary, []byte(head))
		if i < 0 {
			return out
		}
		line, _, _ := bytes.Cut(dictionary[i+len(head):], []byte("\n"))
		out = append(out, strings.Join(strings.Fields(string(line)), " "))
	}
}

// spell asks flite how it would pronounce words. Without flite it knows nothing.
func spell(ctx context.Context, words []string) map[string]string {
	flite, err := child.Find("flite", 1)
	if err != nil {
		return nil
	}
	p, err := flite.Start(ctx, sayTime, "-f", "/dev/stdin", "-ps", "-o", "none")
	if err != nil {
		return nil
	}
	// Each word a paragraph: flite answers with a line for each.
	_, _ = io.WriteString(p.In, strings.Join(words, ".\n\n")+".\n")
	_ = p.In.Close()
	var lines []string
	for s := bufio.NewScanner(io.LimitReader(p.Out, maxText)); s.Scan(); {
		lines = append(lines, s.Text())
	}
	if p.Wait() != nil || len(lines) != len(words) {
		return nil
	}
	out := map[string]string{}
	for i, line := range lines {
		var phones []string
		for ph := range strings.FieldsSeq(line) {
			switch ph {
			case "pau":
			case "ax":
				phones = append(phones, "AH")
			default:
				phones = append(phones, strings.ToUpper(ph))
			}
		}
		out[words[i]] = strings.Join(phones, " ")
	}
	return out
}
