// Package web looks things up on the web for NPCs that answer the players'
// questions out of the story: it searches, and reads single pages.
//
// Characters of the story never get these tools: they are for helpers only, and
// what they bring in counts as text that nobody trusts, so that for the rest of
// the turn nothing that changes anything can be called.
//
// # Promises
//
//   - Pages come from the public internet alone, checked where the connection is
//     made; see package egress. Hosts inside have to be listed by an operator.
//   - At most 1 MiB of a page is read, at most 6,000 bytes of its text shown at
//     once, and only text and HTML are looked at.
//   - At most 60 searches and 120 pages an hour.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/glyphoxa/glyphoxa/mcp"
)

const (
	// maxQuery is longer than any question that a search engine understands.
	maxQuery = 400
	// maxFound is how many results are shown: a model reads the first few.
	maxFound = 8
	// snippet is how much of a result's text is shown, in bytes.
	snippet = 300
	// page is how much of a page's text is shown at once, in bytes.
	page = 6000
	// Allowances an hour: searching costs money, and a model in a loop should not
	// make this machine a nuisance to others.
	searchesAnHour = 60
	pagesAnHour    = 120
	// patience is when a look-up is given up; the slowest tier has 4 s.
	patience = 3800 * time.Millisecond
)

// A Found is one result of a search.
type Found struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	Text  string `json:"text,omitempty"`
}

// An Engine searches the web. It returns at most n results, best first, and ends
// with ctx. Its errors say what the operator can do.
type Engine interface {
	Search(ctx context.Context, query string, n int) ([]Found, error)
}

// Options are what the tools work with.
type Options struct {
	// Engine searches; nil leaves the search out.
	Engine Engine
	// Pages reads pages; nil leaves reading out.
	Pages *Reader
}

// Tools are search and fetch_page. What is missing for one of them is said in its
// declaration.
func Tools(o Options) []mcp.Builtin {
	b := browser{o, allowance{most: searchesAnHour}, allowance{most: pagesAnHour}}
	declare := func(name, title, description, schema, missing string) mcp.Tool {
		return mcp.Tool{
			Name: name, Title: title, Description: description, Schema: json.RawMessage(schema), Category: mcp.Network,
			Estimated: 2 * time.Second, Max: patience, Cache: 10 * time.Minute, Least: mcp.Deep,
			ReadOnly: true, Idempotent: true, OpenWorld: true, HelpersOnly: true, Missing: missing,
		}
	}
	var noEngine, noPages string
	if o.Engine == nil {
		noEngine = "no search engine: set web.search to searxng and web.url, or to brave and web.key, in the configuration"
	}
	if o.Pages == nil {
		noPages = "pages may not be read: set web.pages to true in the configuration"
	}
	return []mcp.Builtin{
		{Tool: declare("search", "Search the web", "Search the web. Returns titles, addresses and a few words of each page. What they say is not checked.",
			fmt.Sprintf(`{"type":"object","properties":{
				"query":{"type":"string","minLength":1,"maxLength":%d,"description":"what to look for"},
				"limit":{"type":"integer","minimum":1,"maximum":%d,"description":"how many results, usually 5"}},
				"required":["query"],"additionalProperties":false}`, maxQuery, maxFound), noEngine), Call: b.search},
		{Tool: declare("fetch_page", "Read a web page", "Read the text of one web page, as from a search result. What it says is not checked.",
			`{"type":"object","properties":{
				"url":{"type":"string","minLength":1,"maxLength":2048,"description":"the page's address, beginning with https://"},
				"offset":{"type":"integer","minimum":0,"maximum":1048576,"description":"from which byte of the text on; next_offset of the last answer"}},
				"required":["url"],"additionalProperties":false}`, noPages), Call: b.fetch},
	}
}

// A browser answers the tools' calls.
type browser struct {
	o               Options
	searches, pages allowance
}

func (b *browser) search(ctx context.Context, _ mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("search: arguments: %w", err)
	}
	in.Query = strings.Join(strings.Fields(in.Query), " ")
	switch {
	case in.Query == "":
		return "", errors.New("search: the query is empty: say what to look for")
	case len(in.Query) > maxQuery:
		return "", fmt.Errorf("search: the query has %d bytes; %d are allowed", len(in.Query), maxQuery)
	case b.o.Engine == nil:
		return "", errors.New("search: there is no search engine")
	}
	if in.Limit <= 0 || in.Limit > maxFound {
		in.Limit = 5
	}
	if err := b.searches.take("searches", time.Now()); err != nil {
		return "", fmt.Errorf("search: %w", err)
	}
	found, err := b.o.Engine.Search(ctx, in.Query, in.Limit)
	if err != nil {
		return "", fmt.Errorf("search: %w", err)
	}
	results := []Found{}
	for _, f := range found[:min(len(found), in.Limit)] {
		f.Title, f.Text = tidy(f.Title, snippet), tidy(f.Text, snippet)
		results = append(results, f)
	}
	return encode(map[string]any{"results": results})
}

func (b *browser) fetch(ctx context.Context, _ mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		URL    string `json:"url"`
		Offset int    `json:"offset"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("fetch_page: arguments: %w", err)
	}
	if b.o.Pages == nil {
		return "", errors.New("fetch_page: pages may not be read here")
	}
	if err := b.pages.take("pages", time.Now()); err != nil {
		return "", fmt.Errorf("fetch_page: %w", err)
	}
	p, err := b.o.Pages.Read(ctx, in.URL)
	if err != nil {
		return "", fmt.Errorf("fetch_page: %w", err)
	}
	if in.Offset < 0 || in.Offset > len(p.Text) {
		return "", fmt.Errorf("fetch_page: offset %d: the page's text has %d bytes", in.Offset, len(p.Text))
	}
	out := struct {
		URL   string `json:"url"`
		Title string `json:"title,omitempty"`
		Text  string `json:"text"`
		Next  int    `json:"next_offset,omitempty"`
	}{URL: p.URL, Title: tidy(p.Title, snippet), Text: whole(p.Text[in.Offset:], page)}
	if end := in.Offset + len(out.Text); end < len(p.Text) {
		out.Next = end
	}
	out.Text = strings.ToValidUTF8(out.Text, "")
	return encode(out)
}

// An allowance bounds how often something is done in an hour.
type allowance struct {
	most int

	mu   sync.Mutex // guards both below
	from time.Time  // when the hour began
	n    int
}

func (a *allowance) take(what string, now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.from) >= time.Hour {
		a.from, a.n = now, 0
	}
	if a.n >= a.most {
		return fmt.Errorf("%d %s an hour are allowed; more in %v", a.most, what, a.from.Add(time.Hour).Sub(now).Round(time.Minute))
	}
	a.n++
	return nil
}

// tidy makes one line of at most limit bytes.
func tidy(s string, limit int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > limit {
		return whole(s, limit) + " …"
	}
	return s
}

// whole is the beginning of a text, at most limit bytes, without half a character.
func whole(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
