package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
)

const (
	// maxHits is how many places of the history are shown, each with the lines
	// that went before.
	maxHits = 6
	// before is how many lines those are: enough to see what was answered.
	before = 2
)

// Tools are search_history and recap, reading store. The third tool about
// sessions, get_summary, is package recall's, because it answers for people and
// places as well; what it says of a session comes from [Summarize].
func Tools(store memory.Store) []mcp.Builtin {
	b := book{store}
	declare := func(name, title, description, schema string) mcp.Tool {
		return mcp.Tool{
			Name: name, Title: title, Description: description, Schema: json.RawMessage(schema), Category: mcp.Core,
			Estimated: 100 * time.Millisecond, Max: 800 * time.Millisecond, ReadOnly: true, Idempotent: true,
		}
	}
	return []mcp.Builtin{
		{Tool: declare("search_history", "Search the history",
			"Search the whole campaign's history for when something was said, with the lines just before it. Dates and a speaker narrow it.",
			`{"type":"object","properties":{
				"query":{"type":"string","minLength":1,"maxLength":1000,"description":"what to look for; \"quotes\" find an exact phrase"},
				"from":{"type":"string","format":"date","maxLength":10,"description":"not before this day, such as 2026-03-01"},
				"to":{"type":"string","format":"date","maxLength":10,"description":"not after this day"},
				"speaker":{"type":"string","maxLength":100,"description":"only what somebody of this name said"}},
				"required":["query"],"additionalProperties":false}`), Call: b.search},
		{Tool: declare("recap", "Recap of a session",
			"Retell what happened in a session, as far as you heard it, in the order it happened. Use it for: what happened last time?",
			`{"type":"object","properties":{
				"session_id":{"type":"string","maxLength":256,"description":"'last' (usual), 'current', a day such as 2026-03-01, or an id"},
				"length":{"type":"string","enum":["short","long"],"description":"usually short"}},
				"additionalProperties":false}`), Call: b.recap},
	}
}

// A book answers the tools' calls.
type book struct{ store memory.Store }

func (b book) recap(ctx context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		Session string `json:"session_id"`
		Length  string `json:"length"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("recap: arguments: %w", err)
	}
	length := memory.Short
	if in.Length == "long" {
		length = memory.Medium // more than that no model is shown
	}
	name := in.Session
	if name == "" {
		name = "last"
	}
	s, lines, err := heard(ctx, b.store, who, name)
	if in.Session == "" && errors.Is(err, ErrNoEarlier) { // the first evening: what happened so far
		if s, lines, err = heard(ctx, b.store, who, "current"); errors.Is(err, errNoneRuns) {
			err = errors.New("nothing has been played yet")
		}
	}
	if err != nil {
		return "", fmt.Errorf("recap: %w", err)
	}
	return encode(struct {
		Session string `json:"session"`
		Date    string `json:"date"`
		Running bool   `json:"running,omitempty"`
		Lines   []said `json:"lines"`
	}{s.ID, dayOf(s.Started), s.ID == who.Session, tell(memory.Retell(lines, length))})
}

// found is one place in the history.
type found struct {
	Session string `json:"session"`
	Date    string `json:"date"`
	Before  []said `json:"before,omitempty"`
	Line    said   `json:"line"`
}

func (b book) search(ctx context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		Query   string `json:"query"`
		From    string `json:"from"`
		To      string `json:"to"`
		Speaker string `json:"speaker"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("search_history: arguments: %w", err)
	}
	if strings.TrimSpace(in.Query) == "" {
		return "", errors.New("search_history: query is empty: say what to look for")
	}
	q := memory.Query{Text: in.Query, Limit: maxHits}
	var err error
	if q.From, err = day(in.From); err != nil {
		return "", err
	}
	if q.To, err = day(in.To); err != nil {
		return "", err
	}
	if !q.To.IsZero() {
		q.To = q.To.AddDate(0, 0, 1) // the whole of that day
		if !q.From.Before(q.To) {
			return "", fmt.Errorf("search_history: from %s is after to %s", in.From, in.To)
		}
	}
	if in.Speaker != "" {
		q.Limit = memory.MaxHits // names are compared here: a memory knows speakers by id
	}
	hits, err := b.store.Search(ctx, viewer(who), q)
	if err != nil {
		return "", unreachable(err)
	}
	if in.Speaker != "" {
		hits = slices.DeleteFunc(hits, func(h memory.Hit) bool { return !named(h.Speaker.Name, in.Speaker) })
	}
	out := []found{}
	for _, h := range hits[:min(len(hits), maxHits)] {
		f := found{Session: h.Session, Date: dayOf(h.At), Line: one(h.Line)}
		if h.Told != nil { // it was not there, so it heard nothing before it either
			if f.Line.Told = h.Told.By; f.Line.Told == "" {
				f.Line.Told = "the game master"
			}
		} else {
			lines, err := b.store.Recent(ctx, viewer(who), memory.Window{Session: h.Session, Before: h.ID, Limit: before})
			if err != nil {
				return "", unreachable(err)
			}
			f.Before = tell(lines)
		}
		out = append(out, f)
	}
	return encode(map[string]any{"found": out})
}

// named reports whether a speaker goes by a name: the whole or one word of it.
func named(speaker, name string) bool {
	return strings.EqualFold(speaker, name) || slices.ContainsFunc(strings.Fields(speaker), func(w string) bool { return strings.EqualFold(w, name) })
}

// day reads a date as [dayOf] writes it.
func day(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, s, time.Local)
	if err != nil {
		return t, fmt.Errorf("search_history: %q is no date; write it as 2026-03-01", s)
	}
	return t, nil
}
