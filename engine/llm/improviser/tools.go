package improviser

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
)

// choose picks the tool that the line needs, out of those that are offered, or
// none.
func (t *turn) choose(u understanding) []engine.Call {
	if u.intent != wantsSecret && u.intent != wantsSoftware {
		if calls := t.run(u); calls != nil {
			return calls
		}
	}
	switch u.intent {
	case wantsRoll:
		return t.call("roll", wishes{"expression": u.throw.expression, "advantage": u.throw.advantage})
	case wantsTable:
		return t.drawing(u)
	case wantsRule:
		return t.call("search_rules", wishes{"query": t.asked(u)})
	case wantsMemory:
		return t.searching(u)
	case wantsTopic:
		return t.looking(u)
	case wantsMore:
		if last := t.lastTopic(""); len(last.words) > 0 && t.nothingLeft(last) {
			return t.call("query_entities", wishes{"name": last.name})
		}
	case wantsAnswer:
		return t.foreign(u)
	}
	return nil
}

func cmpWords(a, b []string) []string {
	if len(a) > 0 {
		return a
	}
	return b
}

// asked is the player's question as a search understands it.
func (t *turn) asked(u understanding) string {
	const most = 200 // bytes; longer questions find nothing better
	q := strings.TrimSpace(u.plain)
	if len(q) > most {
		q = strings.ToValidUTF8(q[:most], "")
	}
	return q
}

// looking asks the world about a topic that the NPC has no words of its own for.
func (t *turn) looking(u understanding) []engine.Call {
	if t.isSelf(u.topic) {
		return nil
	}
	words, told := cmpWords(u.topic.words, u.words), false
	for _, f := range t.fitting(words, u.topic.entity, boldly, u.where) {
		if !slices.Contains(t.used, f.shelf.lore.Text) {
			return nil
		}
		told = true
	}
	if calls := t.foreign(u); calls != nil {
		return calls
	}
	name := u.topic.name
	if u.topic.entity != nil {
		name = u.topic.entity.Name
	} else if e := t.mentioning(words); e != nil {
		name = e.Name
	} else if told || name == "" || !u.topic.introduced {
		return nil
	}
	return t.call("query_entities", wishes{"name": name})
}

// nothingLeft reports whether all of the NPC's own words on a topic were said.
func (t *turn) nothingLeft(about topic) bool {
	return !slices.ContainsFunc(t.fitting(about.words, about.entity, boldly, false), func(f find) bool {
		return !slices.Contains(t.used, f.shelf.lore.Text)
	})
}

// searching looks in what was said. Asked for a whole session it wants a
// summary, asked for something it wants the lines about it.
func (t *turn) searching(u understanding) []engine.Call {
	session := "current"
	if u.last {
		session = "last"
	}
	query := strings.Join(t.tongue.bare(u), " ")
	if query == "" {
		for _, tool := range []string{"recap", "get_summary"} {
			if calls := t.call(tool, wishes{"session": session}); calls != nil {
				return calls
			}
		}
		query = t.asked(u)
	}
	w := wishes{"query": query}
	if u.last {
		w["session"] = session
	}
	for _, tool := range []string{"search_sessions", "search_facts", "search_history"} {
		if calls := t.call(tool, w); calls != nil {
			return calls
		}
	}
	if e := u.topic.entity; e != nil {
		return t.call("get_summary", wishes{"entity": e.ID})
	}
	return nil
}

// bare is the words of a question about the past that say what it is about.
func (t *tongue) bare(u understanding) []string {
	var out []string
	for w := range strings.FieldsSeq(u.plain) {
		if !t.stop[w] && !t.past[w] && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// drawing rolls on the table that is named in the line, or on the only one.
func (t *turn) drawing(u understanding) []engine.Call {
	i := t.offered("roll_table")
	if i < 0 {
		return nil
	}
	tables := enumOf(t.request.Tools[i].Schema, "table")
	words := t.lore.content(u.plain)
	best, most := "", 0
	for _, name := range tables {
		same := 0
		for _, w := range t.lore.content(strings.NewReplacer("_", " ", "-", " ").Replace(name)) {
			if slices.ContainsFunc(words, func(x string) bool { return alike(x, w) || t.tongue.related(x, w) }) {
				same++
			}
		}
		if same > most {
			best, most = name, same
		}
	}
	switch {
	case best != "":
	case len(tables) == 1:
		best = tables[0]
	case len(tables) == 0:
		best = strings.Join(t.tongue.bare(u), " ")
	default:
		return nil
	}
	return t.call("roll_table", wishes{"table": best})
}

// foreign finds a tool that somebody else's server offers for the question: one
// that changes nothing and whose name the question contains.
func (t *turn) foreign(u understanding) []engine.Call {
	for _, tool := range t.request.Tools {
		if tool.Server == "" || !tool.ReadOnly {
			continue
		}
		_, name, _ := strings.Cut(tool.Name, "__")
		words := t.lore.content(strings.NewReplacer("_", " ", "-", " ").Replace(name))
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(u.words, w) }) {
			return t.call(tool.Name, wishes{"query": t.asked(u)})
		}
	}
	return nil
}

// wishes are arguments by what they mean; the tool's schema says what it calls
// them.
type wishes map[string]string

// called are the names that tools give to what is wished for, the usual first.
var called = map[string][]string{
	"expression": {"expression", "dice", "notation", "formula", "roll"},
	"advantage":  {"advantage", "mode"},
	"query":      {"query", "question", "text", "q", "search", "term"},
	"name":       {"name", "entity", "entity_name", "query"},
	"entity":     {"entity_id", "id", "entity", "name"},
	"rule":       {"id", "rule_id", "name"},
	"table":      {"table_name", "table", "name"},
	"session":    {"session_id", "session"},
	"prompt":     {"prompt", "description", "text", "query"},
	"track":      {"track", "name", "title", "mood", "query"},
	"path":       {"path", "file", "name", "filename"},
	"content":    {"content", "text", "data", "body"},
	"url":        {"url", "uri", "address"},
}

// offered is where the tool of this name is in the request, or -1 if the request
// does not offer it.
func (t *turn) offered(name string) int {
	for i, tool := range t.request.Tools {
		if tool.Name == name {
			return i
		}
	}
	for i, tool := range t.request.Tools { // somebody else's tool of the same name does as well
		if tool.ReadOnly && strings.HasSuffix(tool.Name, "__"+name) {
			return i
		}
	}
	return -1
}

// call asks for a tool with what its schema can take of the wishes. It returns
// nil if the tool is not offered or needs something that nobody wished.
func (t *turn) call(name string, w wishes) []engine.Call {
	i := t.offered(name)
	if i < 0 {
		return nil
	}
	tool := t.request.Tools[i]
	args, ok := fillIn(tool.Schema, w)
	if !ok {
		return nil
	}
	return []engine.Call{{ID: fmt.Sprintf("improviser-%d-%d", t.turns, len(t.results)), Name: tool.Name, Args: args}}
}

// parameters is what matters of a tool's schema.
type parameters struct {
	Properties map[string]struct {
		Type any   `json:"type"`
		Enum []any `json:"enum"`
	} `json:"properties"`
	Required []string `json:"required"`
}

func fillIn(schema json.RawMessage, w wishes) (json.RawMessage, bool) {
	var p parameters
	if len(schema) > 0 && json.Unmarshal(schema, &p) != nil {
		return nil, false
	}
	args := map[string]string{}
	for what, value := range w {
		if value == "" {
			continue
		}
		names := called[what]
		if len(p.Properties) == 0 {
			args[names[0]] = value // a tool without a schema takes the usual
			continue
		}
		for _, n := range names {
			if prop, ok := p.Properties[n]; ok && (len(prop.Enum) == 0 || slices.Contains(prop.Enum, any(value))) {
				args[n] = value
				break
			}
		}
	}
	for _, n := range p.Required {
		if args[n] != "" {
			continue
		}
		// One text that is required can only be the question.
		if q := cmp.Or(w["query"], w["name"]); q != "" && p.Properties[n].Type == "string" && len(p.Properties[n].Enum) == 0 {
			args[n] = q
			continue
		}
		return nil, false
	}
	if len(args) == 0 && len(w) > 0 && len(p.Properties) > 0 && w["query"] == "" {
		return nil, false // nothing of what was wished could be said
	}
	out, err := json.Marshal(args)
	return out, err == nil
}

// enumOf lists the values that a schema allows for what is wished for.
func enumOf(schema json.RawMessage, what string) []string {
	var p parameters
	if json.Unmarshal(schema, &p) != nil {
		return nil
	}
	for _, n := range called[what] {
		var out []string
		for _, v := range p.Properties[n].Enum {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
		if out != nil {
			return out
		}
	}
	return nil
}
