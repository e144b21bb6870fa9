package improviser

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
)

// report says what the tools returned, in the NPC's manner; or asks for one more
// tool that the first result makes useful.
func (t *turn) report() (string, []engine.Call) {
	u := t.understand()
	var said []string
	for _, r := range t.results[len(t.results)-lastBatch(t.results):] {
		v, failed := decode(r.text)
		name := r.call.Name
		if i := strings.Index(name, "__"); i >= 0 {
			name = name[i+2:]
		}
		if failed {
			said = append(said, t.afterFailure(name, u))
			continue
		}
		switch name {
		case "roll":
			said = append(said, t.rolled(v))
		case "roll_table":
			said = append(said, t.drawn(v))
		case "search_rules", "get_rule":
			text, calls := t.ruling(name, v, u)
			if calls != nil {
				return "", calls
			}
			said = append(said, text)
		case "query_entities":
			said = append(said, t.entities(v, u))
		case "search_sessions", "search_facts", "search_history", "get_summary", "recap":
			said = append(said, t.remembered(v, u))
		default:
			said = append(said, t.done(name, v, r.text))
		}
	}
	said = slices.DeleteFunc(said, func(s string) bool { return s == "" })
	return strings.Join(said, " "), nil
}

// lastBatch is how many results came of the last round: those whose calls were
// made together have ids that end alike.
func lastBatch(results []result) int {
	n := 1
	last := results[len(results)-1].call.ID
	round := last[strings.LastIndexByte(last, '-')+1:]
	for n < len(results) && strings.HasSuffix(results[len(results)-1-n].call.ID, "-"+round) {
		n++
	}
	return n
}

// decode reads a tool's result, which is JSON or plain text. failed is set if it
// says that the tool could not do its work.
func decode(text string) (v any, failed bool) {
	text = strings.TrimSpace(text)
	if rest, marked := strings.CutPrefix(text, "<tool_result from="); marked { // the host's mark of strangers' words
		_, rest, _ = strings.Cut(rest, "\n")
		text = strings.TrimSpace(strings.TrimSuffix(rest, "</tool_result>"))
	}
	if text == "" {
		return nil, true
	}
	if json.Unmarshal([]byte(text), &v) != nil {
		low := strings.ToLower(text)
		return text, strings.HasPrefix(low, "error") || strings.HasPrefix(low, "failed") || strings.HasPrefix(low, "tool ")
	}
	if m, ok := v.(map[string]any); ok && (m["error"] != nil || m["isError"] == true) {
		return v, true
	}
	return v, false
}

// afterFailure answers without the tool if the NPC can, and else owns up.
func (t *turn) afterFailure(tool string, u understanding) string {
	if tool == "query_entities" || strings.HasPrefix(tool, "search_") && u.intent == wantsMemory {
		if told := first(func() string { return t.fromPast(u) }, t.recalling(u, boldly)); told != "" {
			return told
		}
		return t.unknown(u)
	}
	return t.line("failed", nil)
}

// field is the first of the named fields that an object has.
func field(v any, names ...string) any {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for _, n := range names {
		if x, ok := m[n]; ok && x != nil {
			return x
		}
	}
	return nil
}

// text is a field as text: numbers are written out, other things are "".
func text(v any, names ...string) string {
	switch x := field(v, names...).(type) {
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return ""
}

// list is a field as a list, or the value itself if it is one.
func list(v any, names ...string) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	l, _ := field(v, names...).([]any)
	return l
}

func (t *turn) rolled(v any) string {
	if rolls := list(v, "rolls"); len(rolls) > 0 {
		var totals []string
		for _, r := range rolls {
			totals = append(totals, speakable(text(r, "total", "result"), 1))
		}
		return t.line("roll", map[string]string{"total": strings.Join(totals, ", ")})
	}
	total := speakable(text(v, "total", "result", "sum", "value"), 1)
	if total == "" {
		if s, ok := v.(string); ok {
			total = speakable(s, 1)
		} else if n, ok := v.(float64); ok {
			total = strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	if total == "" {
		return t.line("failed", nil)
	}
	if th, ok := t.dicePlease(t.withoutNames(plain(t.heard))); ok && th.expression == "1d2" {
		return t.line("coin", map[string]string{"result": t.tongue.coin[total == "1"]})
	}
	return t.line("roll", map[string]string{"total": total})
}

func (t *turn) drawn(v any) string {
	result := text(v, "result", "text", "outcome", "row")
	if s, ok := v.(string); ok {
		result = s
	}
	if result = speakable(result, 3); result == "" || t.tells(result) {
		return t.line("failed", nil)
	}
	return t.line("table", map[string]string{"result": sentenceCase(result)})
}

// ruling says the rule that was found. A result that only names rules is
// followed up by asking for the first; so is one whose wording was asked for.
func (t *turn) ruling(tool string, v any, u understanding) (string, []engine.Call) {
	found := []any{v}
	if tool == "search_rules" {
		if found = list(v, "results", "rules", "entries", "hits"); len(found) == 0 {
			if s, ok := v.(string); !ok || len(s) < 20 {
				return t.line("rule_unknown", nil), nil
			}
			found = []any{v}
		}
	} else if inner := field(v, "rule", "entry"); inner != nil {
		found = []any{inner}
	}
	top := found[0]
	say := text(top, "say", "summary", "answer")
	full := text(top, "text", "body", "description")
	if s, ok := top.(string); ok {
		full = s
	}
	exactly := has(u.plain, t.tongue.wants["exactly"])
	if id := text(top, "id"); id != "" && tool == "search_rules" && (say == "" && full == "" || exactly) {
		if calls := t.call("get_rule", wishes{"rule": id}); calls != nil {
			return "", calls
		}
	}
	answer := speakable(cmp.Or(say, full), 3)
	if exactly && full != "" {
		answer = speakable(full, 4)
	}
	if answer == "" {
		return t.line("rule_unknown", nil), nil
	}
	if opening := t.line("rule", nil); opening != "" {
		answer = opening + " " + sentenceCase(answer)
	}
	return answer, nil
}

// entities tells about what the world knows, as far as the NPC may know it.
func (t *turn) entities(v any, u understanding) string {
	var known []Known
	for _, e := range list(v, "entities", "results") {
		known = append(known, readEntity(e))
	}
	if one := field(v, "entity"); one != nil {
		known = append(known, readEntity(one))
	}
	if len(known) == 0 {
		return first(t.recalling(u, boldly), func() string { return t.unknown(u) })
	}
	e := known[0]
	for _, k := range known {
		if u.topic.entity != nil && k.ID == u.topic.entity.ID {
			e = k
		}
	}
	u.topic = topic{name: e.Name, words: t.lore.content(e.Name), entity: t.lore.called(e.ID)}
	if u.topic.entity == nil {
		u.topic.entity = &e
	}
	t.topic = u.topic
	if t.isSelf(u.topic) {
		return t.line("self", map[string]string{"self": t.self()})
	}
	if told := t.describe(&e, u); told != "" {
		return told
	}
	if len(u.words) > len(u.topic.words) {
		return t.line("unknown", nil)
	}
	return t.repeated(&e)
}

// repeated says again what is most important about an entity, unless it was
// just said.
func (t *turn) repeated(e *Known) string {
	told := t.inOwnMouth(speakable(e.Text, 2))
	if told == "" || len(t.used) > 0 && t.used[len(t.used)-1] == told || t.justSaid(told) {
		return t.line("again", nil)
	}
	t.use(told)
	return told
}

func readEntity(v any) Known {
	e := Known{
		ID: text(v, "id"), Kind: text(v, "kind", "type"), Name: text(v, "name"),
		Text: text(v, "text", "description", "summary"), Attributes: map[string]string{},
	}
	if attributes, ok := field(v, "attributes").(map[string]any); ok {
		for k := range attributes {
			e.Attributes[k] = text(attributes, k)
		}
	}
	for _, f := range list(field(v, "facts")) {
		if s, ok := f.(string); ok {
			e.Facts = append(e.Facts, s)
		} else if s := text(f, "text", "fact"); s != "" {
			e.Facts = append(e.Facts, s)
		}
	}
	for _, r := range list(field(v, "relations", "relationships")) {
		if s, ok := r.(string); ok {
			e.Facts = append(e.Facts, s)
			continue
		}
		b := Bond{Kind: text(r, "kind", "type"), To: text(r, "to_name", "name", "to", "target"), Text: text(r, "text")}
		if b.Kind != "" && b.To != "" || b.Text != "" {
			e.Bonds = append(e.Bonds, b)
		}
	}
	return e
}

// remembered tells what was found in what was said: of several lines the one
// that fits best, and the newest of those; of a summary the last few.
func (t *turn) remembered(v any, u understanding) string {
	if summary := text(v, "summary", "recap"); summary != "" {
		return strings.TrimSpace(t.line("memory", nil) + " " + speakable(summary, 3))
	}
	if field(v, "entity") != nil {
		return t.entities(v, u)
	}
	lines := list(v, "lines", "results", "hits", "transcript")
	for _, f := range list(v, "found") { // each with the lines before it
		lines = append(lines, field(f, "line"))
	}
	type memory struct {
		speaker, line string
		score         int
	}
	var all []memory
	for _, l := range lines {
		m := memory{speaker: text(l, "speaker", "name", "who"), line: text(l, "text", "line")}
		if s, ok := l.(string); ok {
			m.line = s
		}
		// The question itself was heard and stored as well.
		if m.line == "" || strings.TrimSpace(plain(m.line)) == strings.TrimSpace(plain(t.heard)) {
			continue
		}
		for _, w := range t.lore.content(m.line) {
			if slices.Contains(u.words, w) {
				m.score++
			}
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		for _, f := range list(field(v, "facts")) {
			if s := cmp.Or(text(f, "text", "fact"), asText(f)); s != "" {
				return strings.TrimSpace(t.line("memory", nil) + " " + t.inOwnMouth(speakable(s, 2)))
			}
		}
		return first(func() string { return t.fromPast(u) }, t.recalling(u, boldly), t.saying("memory_unknown", nil))
	}
	if len(t.tongue.bare(u)) == 0 && len(all) > 1 { // what was it all about
		var texts []string
		for _, m := range all {
			texts = append(texts, m.line)
		}
		if told := t.topicsOf(texts); told != "" {
			return told
		}
		last := all[len(all)-2:]
		return t.quote(last[0].speaker, speakable(last[0].line, 1)) + " " + t.afterwards(last[1].speaker, speakable(last[1].line, 1))
	}
	best := slices.MaxFunc(all, func(a, b memory) int { return cmp.Compare(a.score, b.score) })
	return t.quote(best.speaker, best.line)
}

// afterwards is a second quotation.
func (t *turn) afterwards(speaker, line string) string {
	who := t.tongue.somebody
	switch {
	case strings.EqualFold(speaker, t.persona.Name):
		who = t.tongue.i
	case speaker != "" && strings.EqualFold(speaker, t.speaker):
		who = t.tongue.you
	case speaker != "":
		who = speakable(speaker, 1)
	}
	return fmt.Sprintf(t.tongue.then, who, inside(line, t.tongue))
}

func asText(v any) string {
	s, _ := v.(string)
	return s
}

// anything tells the result of a tool that the improviser does not know.
func (t *turn) anything(v any, raw string) string {
	if s, ok := v.(string); ok {
		return first(func() string { return speakable(s, 2) }, t.saying("failed", nil))
	}
	if s := text(v, "say", "text", "result", "summary", "answer", "message", "description"); s != "" {
		return speakable(s, 2)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return first(func() string { return speakable(raw, 1) }, t.saying("failed", nil))
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if s := text(m, k); s != "" && len(s) < 120 && len(parts) < 3 {
			parts = append(parts, strings.ReplaceAll(k, "_", " ")+", "+s)
		}
	}
	if len(parts) == 0 {
		return t.line("failed", nil)
	}
	return sentenceCase(speakable(strings.Join(parts, "; "), 1))
}
