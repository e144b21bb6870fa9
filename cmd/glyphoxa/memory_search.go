package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// maxQueryLine is the longest line read from standard input: a query with JSON's
// escapes around it.
const maxQueryLine = 16 * memory.MaxQuery

// A memoryAnswer is what one query found, as --json writes it.
type memoryAnswer struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Query   string          `json:"query"`
	Results []memoryResult  `json:"results"`
	Error   string          `json:"error,omitempty"`
}

type memoryResult struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	Speaker string    `json:"speaker"`
	Text    string    `json:"text"`
	Score   float64   `json:"score"`
}

// A memoryAsk is a query as JSON. Several spellings are understood, because
// several programs write them.
type memoryAsk struct {
	ID        json.RawMessage `json:"id"`
	Query     string          `json:"query"`
	Text      string          `json:"text"`
	Question  string          `json:"question"`
	Q         string          `json:"q"`
	Session   string          `json:"session"`
	SessionID string          `json:"session_id"`
	Scene     string          `json:"scene"`
	Speaker   string          `json:"speaker"`
	NPC       string          `json:"npc"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	As        string          `json:"as"`
	Campaign  string          `json:"campaign"`
	Limit     int             `json:"limit"`
	TopK      int             `json:"top_k"`
}

func searchMemory(ctx context.Context, m *memoryDesk, args []string) error {
	var ask memoryAsk
	var stdin bool
	m.flags.BoolVar(&stdin, "stdin", false, "read one query a line, as plain text or a JSON object")
	m.flags.StringVar(&ask.Session, "session", "", "only in the session with this `ID`")
	m.flags.StringVar(&ask.Scene, "scene", "", "only in this `SCENE`")
	m.flags.StringVar(&ask.Speaker, "speaker", "", "only what the person with this `ID` said")
	m.flags.StringVar(&ask.NPC, "npc", "", "only what the NPC with this `ID` said or was told")
	m.flags.StringVar(&ask.From, "from", "", "only what was said at this `TIME` or later, such as 2026-05-08 or 2026-05-08T20:15")
	m.flags.StringVar(&ask.To, "to", "", "only what was said before this `TIME`")
	m.flags.IntVar(&ask.Limit, "limit", 10, "at most so `MANY` lines")
	words, err := m.parse(args, 0, 1000)
	if err != nil {
		return err
	}
	if stdin == (len(words) > 0) {
		return fmt.Errorf("%w: give either words to search for or --stdin", errUsage)
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	ask.As, ask.Campaign = m.as, m.campaign
	if !stdin {
		ask.Query = strings.Join(words, " ")
		return m.answer(ctx, ask)
	}
	lines := bufio.NewScanner(m.io.in)
	lines.Buffer(make([]byte, 4096), maxQueryLine)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		one := ask
		if err := one.read(text); err != nil {
			if err := m.write(memoryAnswer{Query: text, Results: []memoryResult{}, Error: err.Error()}); err != nil {
				return err
			}
			continue
		}
		err := m.answer(ctx, one)
		if errors.Is(err, errUsage) { // the other queries are none the worse
			err = m.write(memoryAnswer{ID: one.ID, Query: one.Query, Results: []memoryResult{}, Error: err.Error()})
		}
		if err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a query is longer than %d bytes", maxQueryLine)
	}
	return lines.Err()
}

// read takes a line of standard input: a JSON object, or the query itself.
func (a *memoryAsk) read(line string) error {
	if !strings.HasPrefix(line, "{") {
		a.Query = line
		return nil
	}
	if err := json.Unmarshal([]byte(line), a); err != nil {
		return fmt.Errorf("not a JSON object with a query: %w", err)
	}
	for _, s := range []string{a.Question, a.Text, a.Q} {
		if a.Query == "" {
			a.Query = s
		}
	}
	if a.Session == "" {
		a.Session = a.SessionID
	}
	if a.TopK > 0 {
		a.Limit = a.TopK
	}
	if a.Query == "" {
		return errors.New(`no query in the JSON object: it is called "query"`)
	}
	return nil
}

func (m *memoryDesk) answer(ctx context.Context, a memoryAsk) error {
	q := memory.Query{Text: a.Query, Session: a.Session, Scene: a.Scene, Speaker: a.Speaker, NPC: a.NPC, Limit: a.Limit}
	for _, t := range []struct {
		given string
		to    *time.Time
	}{{a.From, &q.From}, {a.To, &q.To}} {
		if t.given == "" {
			continue
		}
		at, ok := readTime(t.given)
		if !ok {
			return fmt.Errorf("%w: %q is no time; write it like 2026-05-08 or 2026-05-08T20:15", errUsage, t.given)
		}
		*t.to = at
	}
	hits, err := m.store.Search(ctx, memory.Viewer{Campaign: a.Campaign, Entity: a.As}, q)
	if err != nil {
		return err
	}
	if m.json {
		out := memoryAnswer{ID: a.ID, Query: a.Query, Results: []memoryResult{}}
		for _, h := range hits {
			out.Results = append(out.Results, memoryResult{ownID(h.Line), h.Session, h.At, h.Speaker.Name, h.Text, h.Score})
		}
		return m.write(out)
	}
	if len(hits) == 0 {
		fmt.Fprintln(m.io.out, "nothing found")
	}
	for _, h := range hits {
		fmt.Fprintf(m.io.out, "%s  %s: %s\n", h.At.Local().Format("2006-01-02 15:04"), h.Speaker.Name, h.Text)
	}
	return nil
}
