package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// A note is one page of a vault.
type note struct {
	name    string // of the file, which links use
	folder  string
	front   map[string]any // what stands between dashes at its top
	body    string
	secret  string
	links   []link
	id      string
	aliases []string
}

// A link leads from a page to another, by name, in some role: "mentions", or the
// key it was written under.
type link struct{ role, to string }

var (
	wikiLink = regexp.MustCompile(`!?\[\[([^\]|#\n]+)(?:#[^\]|\n]*)?(?:\|([^\]\n]*))?\]\]`)
	// inline is a field in the text, as the plugin Dataview has it.
	inline  = regexp.MustCompile(`(?m)^\s*(?:[-*]\s+)?\**([\pL][\pL\d _-]{1,40})\**::\**\s*(.+)$`)
	comment = regexp.MustCompile(`(?s)%%(.*?)%%|<!--(.*?)-->`)
	// callout is a block of quoted lines of one sort.
	callout = regexp.MustCompile(`(?mi)^> ?\[!(secret|dm|gm)[^\]]*\][^\n]*\n((?:>.*\n?)*)`)
	heading = regexp.MustCompile(`(?mi)^(#{1,6})\s*(.*)$`)
	hidden  = regexp.MustCompile(`(?i)^(secrets?|(for the )?(dm|gm)('s)?( only| notes?| secrets?)?|hidden)\b`)
	tag     = regexp.MustCompile(`(?:^|\s)#[\pL][\pL\d/_-]*`)
)

// vault reads pages of Markdown as a world: each page is a node, each link an
// edge.
func (in *importing) vault(files []file) {
	in.Format = cmp.Or(in.Format, "vault of Markdown pages")
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var notes []*note
	byName := map[string]*note{}
	for _, f := range files {
		if len(f.data) > maxPage {
			in.notice("%s has more than %d kB and is left out", f.name, maxPage>>10)
			continue
		}
		n := in.note(f)
		n.id = in.id(n.name)
		notes = append(notes, n)
		for _, name := range append(n.aliases, n.name) {
			if key := strings.ToLower(name); byName[key] == nil {
				byName[key] = n
			}
		}
	}
	for _, n := range notes {
		in.page(n, byName)
	}
}

// note takes a page apart.
func (in *importing) note(f file) *note {
	n := &note{name: tidy(strings.TrimSuffix(path.Base(f.name), path.Ext(f.name))), folder: path.Dir(f.name)}
	body := strings.ReplaceAll(strings.TrimPrefix(string(f.data), "\ufeff"), "\r\n", "\n")
	if rest, ok := strings.CutPrefix(body, "---\n"); ok {
		if front, after, ok := strings.Cut(rest, "\n---"); ok {
			if err := yaml.Unmarshal([]byte(front), &n.front); err != nil {
				in.notice("%s: what stands at its top is not read: %v", f.name, err)
			}
			_, body, _ = strings.Cut(after, "\n")
		}
	}
	for _, a := range append(texts(n.front["aliases"]), texts(n.front["alias"])...) {
		if a = first(tidy(a), maxName); a != "" && !strings.EqualFold(a, n.name) {
			n.aliases = append(n.aliases, a)
		}
	}
	body, n.secret = secrets(body)
	for _, key := range slices.Sorted(maps.Keys(n.front)) {
		for _, value := range texts(n.front[key]) {
			n.linked(key, value)
		}
	}
	body = inline.ReplaceAllStringFunc(body, func(line string) string {
		if m := inline.FindStringSubmatch(line); wikiLink.MatchString(m[2]) {
			n.linked(m[1], m[2])
			return ""
		}
		return line
	})
	n.linked("mentions", body)
	n.body = plain(readable(body))
	n.secret = plain(readable(n.secret))
	return n
}

// linked notes the links in a text.
func (n *note) linked(role, text string) {
	for _, m := range wikiLink.FindAllStringSubmatch(text, -1) {
		to := tidy(path.Base(m[1]))
		if to != "" && !slices.ContainsFunc(n.links, func(l link) bool { return strings.EqualFold(l.to, to) }) {
			n.links = append(n.links, link{role, to})
		}
	}
}

// secrets takes out what only the game master is to see: comments, callouts of
// that sort, and what stands under headings such as "Secrets".
func secrets(body string) (open, secret string) {
	var out []string
	body = comment.ReplaceAllStringFunc(body, func(m string) string {
		out = append(out, strings.Trim(strings.TrimSuffix(strings.TrimPrefix(m, "<!--"), "-->"), "%"))
		return ""
	})
	body = callout.ReplaceAllStringFunc(body, func(m string) string {
		var lines []string
		for i, line := range strings.Split(strings.TrimRight(m, "\n"), "\n") {
			if i > 0 {
				lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, ">")))
			}
		}
		out = append(out, strings.Join(lines, "\n"))
		return ""
	})
	level := 0 // of the heading that hides what is under it
	var kept, under []string
	for line := range strings.SplitSeq(body, "\n") {
		if m := heading.FindStringSubmatch(line); m != nil {
			switch {
			case hidden.MatchString(strings.TrimSpace(m[2])) && (level == 0 || len(m[1]) <= level):
				level = len(m[1])
				continue
			case level > 0 && len(m[1]) <= level:
				level = 0
			}
		}
		if level > 0 {
			under = append(under, line)
		} else {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n"), strings.TrimSpace(strings.Join(append(out, strings.Join(under, "\n")), "\n\n"))
}

// readable puts a link's words in its place, and drops tags and heading marks.
func readable(body string) string {
	body = wikiLink.ReplaceAllStringFunc(body, func(m string) string {
		if strings.HasPrefix(m, "!") {
			return "" // a picture or another page shown here
		}
		parts := wikiLink.FindStringSubmatch(m)
		return cmp.Or(parts[2], path.Base(parts[1]))
	})
	body = heading.ReplaceAllString(body, "\n$2.\n")
	return tag.ReplaceAllString(body, "")
}

// texts are the texts of a value from a page's top, whether one or a list.
func texts(v any) (out []string) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, one := range v {
			out = append(out, texts(one)...)
		}
	case map[string]any:
	default:
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// about are keys that say what a page is, and not what is true of it.
var about = []string{"aliases", "alias", "tags", "tag", "type", "kind", "category", "cssclass", "cssclasses", "publish", "known_by", "visibility", "personality", "title"}

// page adds a page to the world. One about a person that says how that person is
// becomes somebody to talk to.
func (in *importing) page(n *note, byName map[string]*note) {
	kind, sure := kindOf(slices.Concat(texts(n.front["type"]), texts(n.front["kind"]), texts(n.front["category"]), texts(n.front["tags"]), []string{n.folder})...)
	e := memory.Entity{ID: n.id, Kind: kind, Name: n.name, Aliases: n.aliases, Audience: audienceOf(n.front), Attributes: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(n.front)) {
		value := tidy(strings.Join(texts(n.front[key]), ", "))
		if !slices.Contains(about, strings.ToLower(key)) && value != "" && !wikiLink.MatchString(value) && len(e.Attributes) < 20 {
			e.Attributes[first(tidy(key), 40)] = first(value, 200)
		}
	}
	for _, l := range n.links {
		if to := byName[strings.ToLower(l.to)]; to != nil && to != n && len(e.Relations) < maxFacts {
			e.Relations = append(e.Relations, memory.Relation{Kind: first(strings.ReplaceAll(l.role, "_", " "), 60), To: to.id, Audience: e.Audience})
		}
	}
	body := in.allowed(n.name, n.body)
	personality := in.allowed(n.name, tidy(strings.Join(texts(n.front["personality"]), " ")))
	if kind == memory.NPC && sure && personality != "" {
		c := npc.Character{ID: n.id, Name: first(n.name, maxName), Aliases: n.aliases, Personality: personality, Background: body,
			Species: first(e.Attributes["species"], 60), Role: first(e.Attributes["role"], 100), Pronouns: first(e.Attributes["pronouns"], 40),
			Manner: first(e.Attributes["manner"], 200)}
		c.Secrets = pieces(n.secret, maxText)
		c.Secrets = c.Secrets[:min(len(c.Secrets), 20)]
		in.Draft.NPCs = append(in.Draft.NPCs, c)
		body, n.secret = first(body, 300), ""
	}
	in.entity(e, body, n.secret)
}

// audienceOf is who may know a page, as it says itself; a page that does not say
// so is the game master's.
func audienceOf(front map[string]any) memory.Audience {
	for _, v := range append(append(texts(front["known_by"]), texts(front["visibility"])...), texts(front["publish"])...) {
		switch strings.ToLower(v) {
		case "everyone", "all", "public", "players", "player", "true":
			return memory.Audience{memory.Everyone}
		}
	}
	return nil
}
