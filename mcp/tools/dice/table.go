package dice

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The limits of tables. They are a campaign author's, so they are generous,
// and a stranger's file can still not keep a session busy.
const (
	maxTables     = 200
	maxRows       = 1000
	maxRowText    = 600       // characters; a row is read aloud
	maxWeight     = 1_000_000 // of all rows together, the largest die
	maxTableDepth = 8         // tables within tables
	maxTableRolls = 64        // rows drawn for one result
	maxTableBytes = 1 << 20
)

// A Table is a list of outcomes of which one is drawn by weight.
type Table struct {
	// Name is what the table is asked for by: lower case, underscores.
	Name string `yaml:"name"`
	// About says in one line what the table decides.
	About string `yaml:"about,omitempty"`
	Rows  []Row  `yaml:"rows"`
}

// A Row is one outcome. In its text, [[2d6]] is rolled, [[@gems]] is drawn from
// the table gems, and [[1d4 @gems]] is drawn that often.
type Row struct {
	// Weight is how many of the table's numbers lead here. Zero means one.
	Weight int    `yaml:"weight,omitempty"`
	Text   string `yaml:"text"`
}

func (r Row) weight() int { return max(r.Weight, 1) }

// weight is how many numbers the table has: the faces of its die.
func (t Table) weight() int {
	sum := 0
	for _, r := range t.Rows {
		sum += r.weight()
	}
	return sum
}

// A TableResult is one drawn outcome.
type TableResult struct {
	Table string `json:"table"`
	// Roll is the number that was rolled, of 1 to Of.
	Roll int `json:"roll"`
	Of   int `json:"of"`
	// Result is the row with everything in it rolled and drawn.
	Result string `json:"result"`
}

//go:embed tables.yaml
var shippedTables []byte

// Tables are the random tables of one campaign, by name.
type Tables struct{ byName map[string]Table }

// NewTables joins the shipped tables (wild_magic, treasure_hoard,
// random_encounter and the ones they draw from) with a campaign's own, which
// replace shipped ones of the same name. The error names every mistake.
func NewTables(campaign []Table) (*Tables, error) {
	shipped, err := ReadTables(bytes.NewReader(shippedTables))
	if err != nil {
		return nil, fmt.Errorf("shipped tables: %w", err)
	}
	ts := &Tables{byName: make(map[string]Table)}
	for _, t := range append(shipped, campaign...) {
		ts.byName[t.Name] = t
	}
	if len(ts.byName) > maxTables {
		return nil, fmt.Errorf("%d tables: a campaign has at most %d", len(ts.byName), maxTables)
	}
	var wrong []error
	for _, name := range ts.Names() {
		wrong = append(wrong, ts.check(ts.byName[name]))
	}
	return ts, errors.Join(wrong...)
}

// ReadTables reads a YAML list of tables, at most one mebibyte.
func ReadTables(from io.Reader) ([]Table, error) {
	b, err := io.ReadAll(io.LimitReader(from, maxTableBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxTableBytes {
		return nil, fmt.Errorf("tables are larger than %d bytes", maxTableBytes)
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	var tables []Table
	if err := dec.Decode(&tables); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return tables, nil
}

// Names lists the tables in alphabetical order.
func (ts *Tables) Names() []string { return slices.Sorted(maps.Keys(ts.byName)) }

// check finds what is wrong with a table before anybody draws from it.
func (ts *Tables) check(t Table) error {
	switch {
	case t.Name == "" || strings.ContainsFunc(t.Name, func(r rune) bool {
		return r != '_' && r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}):
		return fmt.Errorf("table %q: a name has lower-case letters, digits and underscores", t.Name)
	case len(t.Rows) == 0:
		return fmt.Errorf("table %s: has no rows", t.Name)
	case len(t.Rows) > maxRows:
		return fmt.Errorf("table %s: %d rows, at most %d", t.Name, len(t.Rows), maxRows)
	}
	total := 0
	for i, row := range t.Rows {
		if row.Weight < 0 || row.Weight > maxWeight {
			return fmt.Errorf("table %s, row %d: weight %d is not between 1 and %d", t.Name, i+1, row.Weight, maxWeight)
		}
		if utf8.RuneCountInString(row.Text) > maxRowText {
			return fmt.Errorf("table %s, row %d: longer than %d characters", t.Name, i+1, maxRowText)
		}
		total += row.weight()
		for _, part := range slots(row.Text) {
			if part.table != "" {
				if _, ok := ts.byName[part.table]; !ok {
					return fmt.Errorf("table %s, row %d: no table %q", t.Name, i+1, part.table)
				}
			}
			if part.expr != "" {
				if _, err := Parse(part.expr); err != nil {
					return fmt.Errorf("table %s, row %d: %s: %w", t.Name, i+1, part.expr, err)
				}
			}
		}
	}
	if total > maxWeight {
		return fmt.Errorf("table %s: weights add up to %d, at most %d", t.Name, total, maxWeight)
	}
	return nil
}

// A slot is text, or what stands in double brackets.
type slot struct{ text, expr, table string }

// slots splits a row's text. An unclosed bracket is text.
func slots(text string) []slot {
	var parts []slot
	for {
		before, rest, ok := strings.Cut(text, "[[")
		inner, after, closed := strings.Cut(rest, "]]")
		if !ok || !closed {
			return append(parts, slot{text: text})
		}
		expr, table, _ := strings.Cut(inner, "@")
		parts = append(parts, slot{text: before}, slot{expr: strings.TrimSpace(expr), table: strings.TrimSpace(table)})
		text = after
	}
}

// Draw rolls once on the named table.
func (ts *Tables) Draw(r *Roller, name string) (TableResult, error) {
	d := drawing{tables: ts, roller: r}
	key := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_")
	if _, ok := ts.byName[key]; !ok {
		return TableResult{}, &Error{
			Class: Value, Column: 1, Message: "there is no table " + quote(name),
			Hint: "the tables are " + strings.Join(ts.Names(), ", "),
		}
	}
	return d.from(key, 0)
}

// A drawing counts what one request has drawn.
type drawing struct {
	tables *Tables
	roller *Roller
	drawn  int
}

func (d *drawing) from(name string, depth int) (TableResult, error) {
	if d.drawn++; d.drawn > maxTableRolls || depth > maxTableDepth {
		return TableResult{}, &Error{
			Class: Limit, Column: 1, Message: "the table " + quote(name) + " keeps drawing from tables",
			Hint: fmt.Sprintf("at most %d rows and %d tables deep are drawn", maxTableRolls, maxTableDepth),
		}
	}
	t := d.tables.byName[name]
	res := TableResult{Table: name, Of: t.weight()}
	res.Roll = d.roller.number(res.Of)
	at := res.Roll
	row := t.Rows[slices.IndexFunc(t.Rows, func(r Row) bool {
		at -= r.weight()
		return at <= 0
	})]
	var b strings.Builder
	for _, part := range slots(row.Text) {
		b.WriteString(part.text)
		times := int64(1)
		if part.expr != "" {
			rolled, err := d.roller.Roll(part.expr, Straight)
			if err != nil {
				return res, err
			}
			if times = rolled.Total; part.table == "" {
				fmt.Fprint(&b, rolled.Total)
			}
		}
		if part.table == "" {
			continue
		}
		for i := range times {
			if i > 0 {
				b.WriteString("; ")
			}
			inner, err := d.from(part.table, depth+1)
			if err != nil {
				return res, err
			}
			b.WriteString(inner.Result)
		}
	}
	res.Result = b.String()
	return res, nil
}

// number rolls one die of n faces.
func (r *Roller) number(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.faces.IntN(n) + 1
}
