package campaigns

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/campaigns/strict"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

var (
	idShape       = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	languageShape = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
	toolShape     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// check looks at what the shape of a file cannot say: whether ids are unique,
// whether what they point to exists, whether an NPC can do what it is given.
func (l *loader) check() {
	w := l.index()
	if l.campaign.doc != nil {
		l.head(w)
		l.scenes(w)
		l.tables()
	}
	if len(l.npcs) > maxNPCs {
		l.problem(l.npcs[maxNPCs].at("name"), "more than %d NPCs", maxNPCs)
	}
	if len(l.entities) > maxEntities {
		l.problem(l.entities[maxEntities].at("name"), "more than %d entities", maxEntities)
	}
	for _, n := range l.npcs {
		l.npc(n, w)
	}
	for _, e := range l.entities {
		l.known(e.place, e.is.KnownBy, e.is.Facts, e.is.Relations, w)
		for i, a := range e.is.Aliases {
			l.filled(e.at("aliases", i), a)
		}
	}
}

// head checks the campaign's own keys.
func (l *loader) head(w world) {
	c := l.campaign
	l.id(c.at("id"), c.is.ID)
	l.language(c.at("language"), c.is.Language)
	if err := npc.CheckPhrases(c.is.Phrases); err != nil {
		l.problem(c.at("phrases"), "%v", err)
	}
	if c.is.System == "" || strings.HasPrefix(c.is.System, "dnd5e") {
		if c.is.Edition == 0 {
			l.problem(c.at(), `the key "edition" is missing: write 2014 or 2024, since several common rulings differ`)
		}
	}
	l.audience(c.at("known_by"), c.is.KnownBy, w)
}

// A world is every id of a campaign, and what it stands for.
type world struct {
	kinds map[string]memory.Kind
	npcs  []string // ids of NPCs that are played
	knows []string // ids that may be in an audience
}

// index collects the ids and complains about those used twice.
func (l *loader) index() world {
	w := world{kinds: map[string]memory.Kind{}}
	first := map[string]string{} // id to the position where it was first
	add := func(p place, id string, kind memory.Kind) {
		if id == "" || !l.id(p, id) {
			return
		}
		if where, ok := first[id]; ok {
			l.problem(p, "the id %q is used already, at %s", id, where)
			return
		}
		here := p.doc.Problem("", p.path...)
		first[id] = fmt.Sprintf("%s:%d:%d", here.File, here.Line, here.Column)
		w.kinds[id] = kind
		if kind == memory.NPC || kind == memory.Player || kind == memory.Faction {
			w.knows = append(w.knows, id)
		}
	}
	names := map[string]string{} // lower-case name to the id that has it
	for _, n := range l.npcs {
		add(n.at("id"), n.is.ID, memory.NPC)
		w.npcs = append(w.npcs, n.is.ID)
		own := map[string]bool{}
		for i, name := range append([]string{n.is.Name}, n.is.Aliases...) {
			p := n.at("name")
			if i > 0 {
				p = n.at("aliases", i-1)
			}
			key := strings.ToLower(strings.TrimSpace(name))
			if other, ok := names[key]; ok && key != "" && other != n.is.ID {
				l.problem(p, "%q is also what %s is called: nobody could tell who is meant", name, other)
			} else if own[key] && key != "" {
				l.problem(p, "%q is this NPC's name already", name)
			}
			own[key], names[key] = true, n.is.ID
		}
	}
	for _, e := range l.entities {
		add(e.at("id"), e.is.ID, memory.Kind(e.is.Kind))
	}
	return w
}

// id complains about an id that is not lower case letters, digits and dashes.
func (l *loader) id(p place, id string) bool {
	switch {
	case id == "":
		return false // the missing key is a problem already
	case id == memory.Everyone || id == gameMaster:
		l.problem(p, "the id %q has a meaning of its own: choose another", id)
	case !idShape.MatchString(id) || len(id) > 64:
		l.problem(p, "the id %q must be lower case letters, digits and dashes, at most 64%s", shorten(id), madeID(id))
	default:
		return true
	}
	return false
}

// madeID suggests the nearest text that is an id.
func madeID(s string) string {
	made := strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
	if made == "" || len(made) > 64 {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", made)
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

func (l *loader) language(p place, tag string) {
	if tag != "" && !languageShape.MatchString(tag) {
		l.problem(p, "%q is not a language tag: write it like en, en-GB or de", shorten(tag))
	}
}

func (l *loader) filled(p place, text string) {
	if strings.TrimSpace(text) == "" {
		l.problem(p, "a text is empty here")
	}
}

// npc checks one NPC.
func (l *loader) npc(n source[npcFile], w world) {
	l.known(n.place, n.is.KnownBy, n.is.Facts, n.is.Relations, w)
	l.language(n.at("language"), n.is.Language)
	l.language(n.at("voice", "language"), n.is.Voice.Language)
	for i, k := range n.is.Knowledge {
		l.audience(n.at("knowledge", i, "known_by"), k.KnownBy, w)
		for j, a := range k.About {
			l.filled(n.at("knowledge", i, "about", j), a)
		}
	}
	for key, list := range map[string][]string{
		"aliases": n.is.Aliases, "titles": n.is.Titles, "goals": n.is.Goals, "secrets": n.is.Secrets, "moods": n.is.Moods,
	} {
		for i, text := range list {
			l.filled(n.at(key, i), text)
		}
	}
	l.lines(n)
	l.tools(n)
	if s := n.is.Voice.Engine; s != "" && l.options.Synthesizers != nil && !slices.Contains(l.options.Synthesizers, s) {
		l.problem(n.at("voice", "engine"), "no voice engine is called %q%s", s, strict.DidYouMean(s, l.options.Synthesizers))
	}
	if n.is.Portrait != "" {
		l.portrait(n)
	}
}

// maxLine is what can be said in one breath and a half: longer lines should be
// several.
const maxLine, maxVariants = 400, 50

func (l *loader) lines(n source[npcFile]) {
	for occasion, variants := range n.is.Lines {
		p := n.at("lines", occasion)
		if _, ok := occasions[occasion]; !ok {
			l.problem(p, "nothing is ever said on the occasion %q%s", shorten(occasion),
				strict.DidYouMean(occasion, slices.Sorted(maps.Keys(occasions))))
		}
		if len(variants) > maxVariants {
			l.problem(p, "%d lines for %s: at most %d", len(variants), occasion, maxVariants)
		}
		for i, line := range variants {
			l.filled(p.at(i), line)
			if len([]rune(line)) > maxLine {
				l.problem(p.at(i), "this line has %d characters: at most %d can be said in one go", len([]rune(line)), maxLine)
			}
		}
	}
}

// tools checks that an NPC's tools exist and can be reached.
func (l *loader) tools(n source[npcFile]) {
	ceiling, err := mcp.ParseTier(cmp.Or(n.is.BudgetTier, "fast"))
	if err != nil {
		ceiling = mcp.Deep // a wrong tier is a problem already; whatever was meant allows it
	}
	for i, name := range n.is.Tools {
		p := n.at("tools", i)
		if slices.Index(n.is.Tools, name) < i {
			l.problem(p, "the tool %q is listed already", shorten(name))
			continue
		}
		if !toolShape.MatchString(name) {
			l.problem(p, "%q cannot be a tool's name: letters, digits, _ and -, at most 64%s", shorten(name), l.suggestTool(name))
			continue
		}
		server, _, external := strings.Cut(name, "__")
		lowest, known := l.options.Tools[name]
		switch {
		case l.options.Tools == nil || external && slices.Contains(l.options.Servers, server):
		case external:
			l.problem(p, "no tool server is called %q%s", server, suggestOrList(server, l.options.Servers))
		case !known:
			l.problem(p, "no tool is called %q%s", name, l.suggestTool(name))
		case slices.Contains(l.options.HelperTools, name) && !n.is.Helper:
			l.problem(p, "the tool %q is for helpers only: write helper: true if this NPC answers the players' questions out of the story", name)
		case lowest > ceiling:
			l.problem(p, "the tool %q needs the tier %s, but this NPC's budget_tier is %s: it could never be called", name, lowest, ceiling)
		}
	}
}

// suggestTool names the tool that was probably meant.
func (l *loader) suggestTool(name string) string {
	return suggestOrList(name, slices.Sorted(maps.Keys(l.options.Tools)))
}

// suggestOrList names the word that was probably meant, or else all there are.
func suggestOrList(word string, among []string) string {
	if hint := strict.DidYouMean(word, among); hint != "" || len(among) == 0 || len(among) > 40 {
		return hint
	}
	return "; there are " + strings.Join(among, ", ")
}

// maxPortrait bounds what a page has to load for one NPC.
const maxPortrait = 1 << 20

func (l *loader) portrait(n source[npcFile]) {
	p := n.at("portrait")
	info, err := fs.Stat(l.fsys, n.is.Portrait)
	switch ext := strings.ToLower(path.Ext(n.is.Portrait)); {
	case !fs.ValidPath(n.is.Portrait):
		l.problem(p, "%q is not a path within the campaign folder", n.is.Portrait)
	case errors.Is(err, fs.ErrNotExist):
		l.problem(p, "there is no file %q in the campaign folder", n.is.Portrait)
	case err != nil:
		l.problem(p, "cannot read %q: %s", n.is.Portrait, plain(err))
	case !slices.Contains([]string{".png", ".jpg", ".jpeg", ".webp", ".gif"}, ext):
		l.problem(p, "a portrait must be a .png, .jpg, .webp or .gif, found %q", ext)
	case info.Size() > maxPortrait:
		l.problem(p, "the picture has %d kB: at most %d", info.Size()>>10, maxPortrait>>10)
	}
}

// known checks who knows what about an entity or NPC, and what it is related to.
func (l *loader) known(p place, by audience, facts []factFile, relations []relationFile, w world) {
	l.audience(p.at("known_by"), by, w)
	for i, f := range facts {
		l.audience(p.at("facts", i, "known_by"), f.KnownBy, w)
		if f.ID != "" {
			l.id(p.at("facts", i, "id"), f.ID)
		}
	}
	for i, r := range relations {
		l.audience(p.at("relations", i, "known_by"), r.KnownBy, w)
		if _, ok := w.kinds[r.To]; r.To != "" && !ok {
			l.dangling(p.at("relations", i, "to"), "no entity has the id %q%s", shorten(r.To), w.suggest(r.To))
		}
	}
}

func (l *loader) audience(p place, a audience, w world) {
	for i, id := range a {
		at := p.at(i)
		kind, ok := w.kinds[id]
		switch {
		case id == memory.Everyone || id == gameMaster:
			if len(a) > 1 {
				l.problem(at, "%q stands alone: it already says who knows it", id)
			}
		case !ok:
			l.dangling(at, "known_by: nobody has the id %q%s", shorten(id), strict.DidYouMean(id, append(w.knows, memory.Everyone, gameMaster)))
		case !slices.Contains(w.knows, id):
			l.problem(at, "known_by: %q is of kind %s, which cannot know anything: name NPCs, players or factions", id, kind)
		}
	}
}

func (w world) suggest(id string) string {
	return strict.DidYouMean(id, slices.Sorted(maps.Keys(w.kinds)))
}

func (l *loader) scenes(w world) {
	first := map[string]int{}
	for i, s := range l.campaign.is.Scenes {
		p := l.campaign.at("scenes", i)
		if l.id(p.at("id"), s.ID) {
			if j, ok := first[s.ID]; ok {
				l.problem(p.at("id"), "the id %q is used already, by scene %d", s.ID, j+1)
			}
			first[s.ID] = i
		}
		l.music(p.at("music"), s.Music)
		for j, id := range s.Present {
			switch {
			case slices.Index(s.Present, id) < j:
				l.problem(p.at("present", j), "%q is listed already", id)
			case !slices.Contains(w.npcs, id):
				l.dangling(p.at("present", j), "no NPC has the id %q%s", shorten(id), strict.DidYouMean(id, w.npcs))
			}
		}
		if kind, ok := w.kinds[s.Location]; s.Location != "" && !ok {
			l.dangling(p.at("location"), "no entity has the id %q%s", shorten(s.Location), w.suggest(s.Location))
		} else if ok && kind != memory.Location {
			l.problem(p.at("location"), "%q is of kind %s, not a location", s.Location, kind)
		}
	}
}

func (l *loader) tables() {
	tables := map[string]tableFile{}
	for i, t := range l.campaign.is.Tables {
		p := l.campaign.at("tables", i, "id")
		if !l.id(p, t.ID) {
			continue
		}
		if _, ok := tables[t.ID]; ok {
			l.problem(p, "the id %q is used already by another table", t.ID)
		}
		tables[t.ID] = t
	}
	for i, t := range l.campaign.is.Tables {
		for j, r := range t.Rows {
			p := l.campaign.at("tables", i, "rows", j)
			_, ok := tables[r.Table]
			switch {
			case r.Text == "" && r.Table == "":
				l.problem(p, "this row gives nothing: it needs a text or a table")
			case r.Table != "" && !ok:
				l.dangling(p.at("table"), "no table has the id %q%s", shorten(r.Table), strict.DidYouMean(r.Table, slices.Sorted(maps.Keys(tables))))
			case r.Table != "" && leadsTo(tables, r.Table, t.ID, map[string]bool{}):
				l.problem(p.at("table"), "rolling on %q could lead back to %q for ever", r.Table, t.ID)
			}
		}
	}
}

// leadsTo reports whether a roll on from can lead to a roll on to.
func leadsTo(tables map[string]tableFile, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(tables[from].Rows, func(r rowFile) bool {
		return r.Table != "" && leadsTo(tables, r.Table, to, seen)
	})
}
