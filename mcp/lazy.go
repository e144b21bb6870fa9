package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/mcp/find"
	"github.com/glyphoxa/glyphoxa/mcp/toon"
)

// FindTools is the tool by which a model asks for others, on belts with so many
// that describing them all would cost more than it brings.
const FindTools = "find_tools"

const (
	// foundAtOnce is how many tools one search brings.
	foundAtOnce = 5
	// bytesPerToken is what a declaration's bytes come to: over the 145 tools of eight
	// published servers the sum is within 0.1 % of what o200k counts, each server
	// within 8 % and each tool within 20 %. A test holds that.
	bytesPerToken = 4.4
	// shortDescription is how much of a description a list shows.
	shortDescription = 120
)

var findToolsArgs = func() *argCheck {
	c, err := compileArgs(findToolsSchema)
	if err != nil {
		panic(err) // our own constant
	}
	return c
}()

var findToolsSchema = json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"what the tool should do, in a few words","minLength":1,"maxLength":200}},"required":["query"],"additionalProperties":false}`)

// Tokens is about how many tokens a tool's declaration costs a model.
func (t Tool) Tokens() int {
	return int(float64(len(t.Name)+len(t.Description)+len(t.Schema)+30) / bytesPerToken)
}

// lazily splits a set into what is shown from the start and what has to be asked
// for: tools of our own are always shown. It changes nothing while all of it costs
// no more than the limit. The set is not shared yet.
func (s *beltSet) lazily(limit int) {
	total := 0
	for _, t := range s.tools {
		total += t.Tokens()
	}
	if limit <= 0 || total <= limit {
		return
	}
	var shown []Tool
	var docs []find.Doc
	counts := map[string]int{}
	for _, e := range s.entries {
		if e.Server == "" {
			shown = append(shown, e.Tool)
			continue
		}
		s.deferred = append(s.deferred, e)
		counts[fmt.Sprintf("%s (%s)", e.Server, e.Category)]++
		docs = append(docs, find.Doc{Name: e.remote, Server: e.Server, Description: e.Description, Params: params(e.Schema)})
	}
	if len(s.deferred) == 0 {
		return
	}
	s.index = find.New(docs)
	var groups []string
	for _, g := range slices.Sorted(maps.Keys(counts)) {
		groups = append(groups, fmt.Sprintf("%s: %d", g, counts[g]))
	}
	s.tools = append(shown, Tool{
		Name: FindTools, Title: "Find tools", Category: Core, Schema: findToolsSchema, ReadOnly: true, Idempotent: true,
		Description: "Finds further tools by what they do; what it finds can be called next. There are " + strings.Join(groups, ", ") + ".",
	})
}

// params are the names of a schema's properties.
func params(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// A row is a tool as a list shows it.
type row struct {
	Name   string `json:"name"`
	Does   string `json:"does"`
	Params string `json:"params"`
}

func rowOf(t Tool) row {
	does := strings.ToValidUTF8(t.Description[:min(len(t.Description), shortDescription)], "")
	return row{t.Name, strings.ReplaceAll(does, "\n", " "), strings.Join(params(t.Schema), " ")}
}

// search answers find_tools: the tools found are on the belt from now on.
func (b *Belt) search(args json.RawMessage) Result {
	args, err := findToolsArgs.check(args)
	if err != nil {
		return failure(err)
	}
	var q struct{ Query string }
	if err := json.Unmarshal(args, &q); err != nil {
		return failure(fmt.Errorf("%w: %w", ErrArguments, err))
	}
	var rows []row
	b.foundMu.Lock()
	for _, i := range b.set.index.Search(q.Query, foundAtOnce) {
		e := b.set.deferred[i]
		if b.tainted.Load() != nil && !e.ReadOnly {
			continue
		}
		if !slices.ContainsFunc(b.found, func(t Tool) bool { return t.Name == e.Name }) {
			b.found = append(b.found, e.Tool)
		}
		rows = append(rows, rowOf(e.Tool))
	}
	b.foundMu.Unlock()
	if len(rows) == 0 {
		return Result{Text: "Nothing found. Try other words, or do without.", Raw: "Nothing found."}
	}
	j, err := json.Marshal(rows)
	if err != nil {
		return failure(err)
	}
	text := toon.Shorter(j)
	// Descriptions are servers' words, and not to be obeyed.
	return Result{Text: quote(FindTools, text), Raw: text}
}
