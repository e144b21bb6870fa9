// Package score turns measurements of tools into what people compare: badges,
// ranks within a category, and a leaderboard over many installations.
//
// What leaves an installation is an [Export]: what a server calls itself, its
// tools' names, and how many calls took how long. It holds no names of machines,
// people or servers as they are called here, no arguments, results or times of day.
package score

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/gauge"
)

// A Row is one tool in a table.
type Row struct {
	Tool     string       `json:"tool"`
	Server   string       `json:"server,omitempty"`
	Version  string       `json:"version,omitempty"`
	Category mcp.Category `json:"category"`
	gauge.Summary
	// Tier is the fastest tier the tool fits in, "" while too little is known.
	Tier string `json:"tier,omitempty"`
	// Badge is its speed in a word; Tag the tiers it can be used in.
	Badge string `json:"badge,omitempty"`
	Tag   string `json:"tag,omitempty"`
	// Rank is its place by median within its category, from 1; 0 is unranked.
	Rank int `json:"rank,omitempty"`
	// Installations is how many measured it, in a leaderboard.
	Installations int `json:"installations,omitempty"`
}

// Rows describes tools measured here, by category and rank.
func Rows(tools []mcp.Measured, now time.Time) []Row {
	var rows []Row
	for _, t := range tools {
		g := gauge.New(mcp.Fast.Budget(), mcp.Standard.Budget())
		g.Restore(now, t.Samples)
		r := Row{Tool: t.Tool, Server: t.Server, Version: t.Version, Category: t.Category, Summary: g.Summary(now)}
		if level, known := g.Level(); known {
			r.classify(mcp.Tier(level))
		}
		rows = append(rows, r)
	}
	return ranked(rows)
}

// classify fills in what follows from a tool's tier.
func (r *Row) classify(t mcp.Tier) {
	r.Tier, r.Badge = t.String(), gauge.Badge(r.P50)
	r.Tag = [...]string{"FAST compatible", "STANDARD compatible", "DEEP only"}[t]
}

// ranked sorts rows by category and median and numbers those that are known.
func ranked(rows []Row) []Row {
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(a.Category, b.Category),
			cmp.Compare(boolInt(a.Tier == ""), boolInt(b.Tier == "")),
			cmp.Compare(a.P50, b.P50),
			cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool),
		)
	})
	rank := 0
	for i := range rows {
		if i == 0 || rows[i].Category != rows[i-1].Category {
			rank = 0
		}
		if rows[i].Tier != "" {
			rank++
			rows[i].Rank = rank
		}
	}
	return rows
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Schema names the form of an [Export].
const Schema = "glyphoxa-tool-scores/1"

// An Export is what one installation contributes to a leaderboard.
type Export struct {
	Schema string     `json:"schema"`
	Tools  []Exported `json:"tools"`
}

// An Exported is one tool in an [Export].
type Exported struct {
	// Server is what the server calls itself, "" for tools of this program.
	Server   string       `json:"server"`
	Tool     string       `json:"tool"`
	Category mcp.Category `json:"category"`
	Failed   int          `json:"failed"` // or came too late
	Refused  int          `json:"refused"`
	// Times counts successful calls by how long they took: bucket i holds those of
	// at most 2^(i/4) tenths of a millisecond.
	Times []int `json:"times"`
}

const (
	buckets = 80 // up to some 100 s
	// Bounds on what is merged: strangers write exports.
	maxExport = 4 << 20
	maxTools  = 4096
	maxCount  = 1_000_000
)

func bucket(d time.Duration) int {
	if d <= 100*time.Microsecond {
		return 0
	}
	return min(int(math.Ceil(4*math.Log2(float64(d)/1e5))), buckets-1)
}

// upTo is the longest time in a bucket.
func upTo(i int) time.Duration { return time.Duration(1e5 * math.Exp2(float64(i)/4)) }

// Anonymous is what may be shown to others of what was measured here.
func Anonymous(tools []mcp.Measured) Export {
	x := Export{Schema: Schema}
	for _, t := range tools {
		e := Exported{Server: t.Version, Tool: t.Tool, Category: t.Category, Times: make([]int, buckets)}
		if t.Server == "" {
			e.Server = ""
		}
		for _, s := range t.Samples {
			switch s.Outcome {
			case gauge.OK:
				e.Times[bucket(s.Took)]++
			case gauge.Refused:
				e.Refused++
			default:
				e.Failed++
			}
		}
		x.Tools = append(x.Tools, e)
	}
	return x
}

// ReadExport reads one installation's export.
func ReadExport(r io.Reader) (Export, error) {
	var x Export
	d := json.NewDecoder(io.LimitReader(r, maxExport))
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		return x, err
	}
	if x.Schema != Schema {
		return x, fmt.Errorf("schema %q, want %q", x.Schema, Schema)
	}
	if len(x.Tools) > maxTools {
		return x, fmt.Errorf("%d tools, at most %d", len(x.Tools), maxTools)
	}
	for _, t := range x.Tools {
		bad := len(t.Times) != buckets || t.Failed < 0 || t.Refused < 0 || t.Failed > maxCount || t.Refused > maxCount || len(t.Tool) > 256 || len(t.Server) > 256
		for _, n := range t.Times {
			bad = bad || n < 0 || n > maxCount
		}
		if bad {
			return x, errors.New("counts or names that cannot be")
		}
	}
	return x, nil
}

// Leaderboard merges exports. Each installation counts once for a tool, however
// many calls it made: none can outvote the others.
func Leaderboard(exports []Export) []Row {
	type id struct {
		server, tool string
		category     mcp.Category
	}
	type sum struct {
		shares          []float64
		failed, refused int
		ok, from        int
	}
	sums := map[id]*sum{}
	for _, x := range exports {
		for _, t := range x.Tools {
			calls := 0
			for _, n := range t.Times {
				calls += n
			}
			k := id{t.Server, t.Tool, t.Category}
			s := sums[k]
			if s == nil {
				s = &sum{shares: make([]float64, buckets)}
				sums[k] = s
			}
			s.failed += t.Failed
			s.refused += t.Refused
			s.ok += calls
			if calls < gauge.Enough {
				continue
			}
			s.from++
			for i, n := range t.Times {
				s.shares[i] += float64(n) / float64(calls)
			}
		}
	}
	var rows []Row
	for k, s := range sums {
		calls := s.ok + s.failed + s.refused
		r := Row{Tool: k.tool, Server: k.server, Category: k.category, Installations: s.from, Summary: gauge.Summary{
			Calls: calls, OK: s.ok, Failed: s.failed, Refused: s.refused, Errors: float64(s.failed) / float64(max(1, calls)),
			P50: quantile(s.shares, 0.5), P95: quantile(s.shares, 0.95), P99: quantile(s.shares, 0.99),
		}}
		if s.from > 0 {
			tier := mcp.Deep
			for _, t := range []mcp.Tier{mcp.Standard, mcp.Fast} {
				if r.P95 <= t.Budget() {
					tier = t
				}
			}
			r.classify(tier)
		}
		rows = append(rows, r)
	}
	return ranked(rows)
}

// quantile is the upper end of the bucket in which the p-quantile lies.
func quantile(shares []float64, p float64) time.Duration {
	total := 0.0
	for _, s := range shares {
		total += s
	}
	if total == 0 {
		return 0
	}
	seen := 0.0
	for i, s := range shares {
		if seen += s; seen >= p*total-1e-9 {
			return upTo(i)
		}
	}
	return upTo(buckets - 1)
}
