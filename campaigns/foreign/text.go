package foreign

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/markup"
)

// allowed leaves out the sentences that cross a line of the campaign, and reports
// where. Veils may happen, so what is veiled stays.
func (in *importing) allowed(where, text string) string {
	var kept []string
	for paragraph := range strings.Lines(text) {
		whole := sentences(paragraph)
		left := slices.DeleteFunc(slices.Clone(whole), func(s string) bool {
			line, veil := in.safety.Broken(s, in.options.Language)
			if line == "" || veil {
				return false
			}
			in.notice("%s: left out what crosses a line of this campaign (%s)", where, line)
			return true
		})
		if len(left) < len(whole) {
			paragraph = strings.Join(left, " ") + "\n"
		}
		kept = append(kept, paragraph)
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}

// plain makes prose of HTML or Markdown, without pictures and links to elsewhere.
// HTML folds line ends into spaces; here they are the writer's.
func plain(source string) string {
	source = links.ReplaceAllString(pictures.ReplaceAllString(source, ""), "$1")
	open, secret := markup.HTML(strings.ReplaceAll(source, "\n", "<br>\n"))
	return tidy(open + "\n" + secret)
}

var (
	pictures = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	links    = regexp.MustCompile(`\[([^\]\[]*)\]\([^)]*\)`)
	blank    = regexp.MustCompile(`\n\s*\n+`)
	bold     = regexp.MustCompile(`\*\*([^*\n]+)\*\*|__([^_\n]+)__`)
)

// tidy trims lines and leaves at most one empty line between paragraphs.
func tidy(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(strings.Map(printable, lines[i]))
	}
	s = bold.ReplaceAllString(strings.Join(lines, "\n"), "$1$2")
	return strings.TrimSpace(blank.ReplaceAllString(s, "\n\n"))
}

// printable drops control characters and those that turn the direction of text.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
		return -1
	}
	return r
}

// id makes an id that is not taken yet.
func (in *importing) id(name string) string {
	base := campaigns.Slug(name)
	if base == "" || base == "everyone" || base == "dm" {
		base = strings.Trim("imported-"+base, "-")
	}
	id := base
	for n := 2; in.ids[id]; n++ {
		id = base[:min(len(base), 60)] + "-" + strconv.Itoa(n)
	}
	in.ids[id] = true
	return id
}

// sentences cuts prose into sentences, roughly: it is only used to shorten.
func sentences(s string) []string {
	var out []string
	start := 0
	for i, r := range s {
		if strings.ContainsRune(".!?…\n", r) && i+1 <= len(s) {
			next := i + len(string(r))
			if next == len(s) || unicode.IsSpace(rune(s[next])) || r == '\n' {
				if one := strings.TrimSpace(s[start:next]); one != "" {
					out = append(out, one)
				}
				start = next
			}
		}
	}
	if one := strings.TrimSpace(s[start:]); one != "" {
		out = append(out, one)
	}
	return out
}

// first is the beginning of a text: whole sentences of at most n characters, one
// at least.
func first(text string, n int) string {
	out := ""
	for _, s := range sentences(text) {
		if out != "" && len([]rune(out))+1+len([]rune(s)) > n {
			break
		}
		out = strings.TrimSpace(out + " " + s)
	}
	if r := []rune(out); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return out
}
