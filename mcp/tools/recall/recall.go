// Package recall lets an NPC look into its memory: what was said before, who and
// what it knows. Every tool reads through the eyes of its caller, so that no
// argument can make it tell what the NPC does not know. Answers are JSON, bounded
// to what a model reads in one turn.
package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/tools/session"
	"github.com/glyphoxa/glyphoxa/memory"
)

// Bounds on one answer. A model that needs more asks more precisely.
const (
	maxLines    = 20
	maxEntities = 8
	maxText     = 500 // bytes of one line or text
)

// Tools are the tools that read store: search_sessions, search_facts,
// query_entities and get_summary, which tells of sessions what package session does.
func Tools(store memory.Store) []mcp.Builtin {
	r := reader{store}
	return []mcp.Builtin{
		{Tool: describe("search_sessions", "Search past sessions", 100, 500,
			"Search everything you have heard, in this session and earlier ones. Ask in plain words; \"quotes\" find an exact phrase.",
			`{"type":"object","properties":{
				"query":{"type":"string","minLength":1,"maxLength":1000,"description":"what to look for"},
				"session_id":{"type":"string","maxLength":256,"description":"only this session: an id, 'current', 'last' or a day such as 2026-03-01"},
				"limit":{"type":"integer","minimum":1,"maximum":20,"description":"how many lines, usually 8"}},
				"required":["query"],"additionalProperties":false}`), Call: r.searchSessions},
		{Tool: describe("search_facts", "Search facts", 200, 800,
			"Search what you know to be so: facts, relations and attributes first, then lines that were said about it.",
			`{"type":"object","properties":{
				"query":{"type":"string","minLength":1,"maxLength":1000,"description":"what to look for"},
				"top_k":{"type":"integer","minimum":1,"maximum":20,"default":10,"description":"how many facts"}},
				"required":["query"],"additionalProperties":false}`), Call: r.searchFacts},
		{Tool: describe("query_entities", "Find people, places and things", 50, 200,
			"Find people, places, items and factions you know, by name or a word of it (misspelt is fine), by kind, or both.",
			`{"type":"object","properties":{
				"name":{"type":"string","maxLength":200,"description":"a name or part of it"},
				"type":{"type":"string","enum":["","npc","player","location","item","faction","event","quest","concept"],"description":"only this kind"}},
				"additionalProperties":false}`), Call: r.queryEntities},
		{Tool: describe("get_summary", "Summary of somebody or of a session", 80, 300,
			"All you know of one person, place or thing and how it is connected; or what happened in one session.",
			`{"type":"object","properties":{
				"entity_id":{"type":"string","maxLength":256,"description":"an id or name from query_entities"},
				"session_id":{"type":"string","maxLength":256,"description":"a session's id; 'current', 'last' and days such as 2026-03-01 are understood"}},
				"additionalProperties":false}`), Call: r.getSummary},
	}
}

// describe makes the declaration of a tool that only reads. Times are in
// milliseconds and say how long its author expects it to take.
func describe(name, title string, estimated, most int, text, schema string) mcp.Tool {
	return mcp.Tool{
		Name: name, Title: title, Description: text, Schema: json.RawMessage(schema), Category: mcp.Core,
		Estimated: time.Duration(estimated) * time.Millisecond, Max: time.Duration(most) * time.Millisecond,
		ReadOnly: true, Idempotent: true,
	}
}

// A reader answers the tools' calls.
type reader struct{ store memory.Store }

// viewer is whose memory a caller may read.
func viewer(who mcp.Caller) memory.Viewer {
	return memory.Viewer{Campaign: who.Campaign, Entity: who.NPC}
}

type spoken struct {
	ID      string    `json:"id"`
	Speaker string    `json:"speaker"`
	Text    string    `json:"text"`
	At      time.Time `json:"at"`
	Session string    `json:"session"`
	// Told names who passed it on when the NPC was not there.
	Told string `json:"told_by,omitempty"`
}

func (r reader) searchSessions(ctx context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		Query   string `json:"query"`
		Session string `json:"session_id"`
		Limit   int    `json:"limit"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	if strings.TrimSpace(in.Query) == "" {
		return "", errors.New("query is empty: say what to look for")
	}
	if in.Limit <= 0 {
		in.Limit = 8
	}
	id, err := r.session(ctx, who, in.Session)
	if err != nil {
		return "", err
	}
	lines, err := r.lines(ctx, who, memory.Query{Text: in.Query, Session: id, Limit: min(in.Limit, maxLines)})
	if err != nil {
		return "", err
	}
	return encode(map[string]any{"lines": lines})
}

// session resolves what models call a session; "" is any.
func (r reader) session(ctx context.Context, who mcp.Caller, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	s, err := session.Find(ctx, r.store, who, name)
	return s.ID, err
}

func (r reader) lines(ctx context.Context, who mcp.Caller, q memory.Query) ([]spoken, error) {
	hits, err := r.store.Search(ctx, viewer(who), q)
	if err != nil {
		return nil, plain(err)
	}
	out := []spoken{}
	for _, h := range hits {
		s := spoken{ID: h.ID, Speaker: h.Speaker.Name, Text: shorten(h.Text), At: h.At, Session: h.Session}
		if h.Told != nil {
			s.Told = teller(h.Told)
		}
		out = append(out, s)
	}
	return out, nil
}

func teller(h *memory.Hearsay) string {
	if h.By == "" {
		return "the game master"
	}
	return h.By
}

type stated struct {
	Entity  string `json:"entity"`
	Kind    string `json:"kind"`
	Name    string `json:"name,omitempty"`
	To      string `json:"to,omitempty"`
	Text    string `json:"text,omitempty"`
	Hearsay string `json:"told_by,omitempty"`
}

func (r reader) searchFacts(ctx context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		Query string `json:"query"`
		TopK  int    `json:"top_k"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	if strings.TrimSpace(in.Query) == "" {
		return "", errors.New("query is empty: say what to look for")
	}
	if in.TopK <= 0 {
		in.TopK = 10
	}
	limit := min(in.TopK, maxLines)
	claims, err := r.store.Claims(ctx, viewer(who), memory.ClaimQuery{Text: in.Query, Limit: limit})
	if err != nil {
		return "", plain(err)
	}
	facts := []stated{}
	for _, c := range claims {
		f := stated{Entity: c.Subject, Kind: string(c.Form), Name: c.Predicate, To: c.Object, Text: shorten(c.Text)}
		if c.Told != nil {
			f.Hearsay = teller(c.Told)
		}
		facts = append(facts, f)
	}
	lines, err := r.lines(ctx, who, memory.Query{Text: in.Query, Limit: limit})
	if err != nil {
		return "", err
	}
	return encode(map[string]any{"facts": facts, "lines": lines})
}

type entity struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Kind       string            `json:"kind"`
	Text       string            `json:"text"`
	Attributes map[string]string `json:"attributes,omitempty"`
	Facts      []string          `json:"facts"`
	Relations  []relation        `json:"relations"`
}

type relation struct {
	Kind string `json:"kind"`
	To   string `json:"to"`
	Text string `json:"text,omitempty"`
}

func (r reader) queryEntities(ctx context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	if in.Name == "" && in.Type == "" {
		return "", errors.New("give a name, a type or both")
	}
	found, err := r.store.FindEntities(ctx, viewer(who), in.Name, memory.Kind(in.Type), maxEntities)
	if err != nil {
		return "", plain(err)
	}
	out := []entity{}
	for _, e := range found {
		out = append(out, describeEntity(e))
	}
	return encode(map[string]any{"entities": out})
}

// maxDetails bounds the facts and relations shown of one entity.
const maxDetails = 12

func describeEntity(e memory.Entity) entity {
	out := entity{ID: e.ID, Name: e.Name, Kind: string(e.Kind), Text: shorten(e.Text), Attributes: e.Attributes,
		Facts: []string{}, Relations: []relation{}}
	for _, f := range e.Facts[:min(len(e.Facts), maxDetails)] {
		out.Facts = append(out.Facts, shorten(f.Text))
	}
	for _, rel := range e.Relations[:min(len(e.Relations), maxDetails)] {
		out.Relations = append(out.Relations, relation{rel.Kind, rel.To, shorten(rel.Text)})
	}
	return out
}

func (r reader) getSummary(ctx context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		Entity  string `json:"entity_id"`
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	switch {
	case in.Entity != "" && in.Session != "", in.Entity == "" && in.Session == "":
		return "", errors.New("give either entity_id or session_id")
	case in.Session != "":
		return session.Summarize(ctx, r.store, who, in.Session)
	}
	v := viewer(who)
	e, err := r.store.Entity(ctx, v, in.Entity)
	if errors.Is(err, memory.ErrUnknown) { // a name where an id belongs
		found, ferr := r.store.FindEntities(ctx, v, in.Entity, "", 1)
		if ferr == nil && len(found) == 1 {
			e, err = found[0], nil
		}
	}
	if err != nil {
		return "", plain(err)
	}
	around, err := r.store.Neighbours(ctx, v, e.ID, 1)
	if err != nil {
		return "", plain(err)
	}
	connected := []map[string]string{}
	for _, n := range around.Entities {
		if n.ID != e.ID && len(connected) < maxDetails {
			connected = append(connected, map[string]string{"id": n.ID, "name": n.Name, "kind": string(n.Kind), "text": shorten(n.Text)})
		}
	}
	return encode(map[string]any{"entity": describeEntity(e), "connected": connected})
}

func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// plain says what went wrong without the store's inner life: the text goes to a
// model. Unknown things are named; whether they exist is not.
func plain(err error) error {
	switch {
	case errors.Is(err, memory.ErrUnknown):
		return errors.New("you know of no such thing; query_entities lists what you know")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("memory did not answer in time: %w", err)
	}
	return fmt.Errorf("memory is out of reach at the moment: %w", err)
}

// shorten cuts a text to what is shown of it.
func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	s = s[:maxText]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + " …"
}
