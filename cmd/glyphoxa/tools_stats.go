package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/audit"
	"github.com/glyphoxa/glyphoxa/mcp/score"
)

func toolStats(_ context.Context, d *toolsDesk, args []string) error {
	export := d.flags.String("export", "", "write an anonymous summary to `FILE`, or - for standard output, to share")
	merge := d.flags.Bool("merge", false, "make a leaderboard of exported summaries: the files after it")
	words, err := d.words(args, 0, 10_000)
	if err != nil {
		return err
	}
	if *merge {
		return d.leaderboard(words)
	}
	if _, err := d.parse(args, 0, 0); err != nil {
		return err
	}
	measured, err := mcp.ReadMeasured(d.toolsDir())
	if err != nil {
		return err
	}
	if *export != "" {
		return d.export(*export, score.Anonymous(measured))
	}
	return d.rows(score.Rows(measured, time.Now()), "nothing has been measured on this machine yet: play, or 'glyphoxa tools call'")
}

func (d *toolsDesk) export(path string, x score.Export) error {
	if path == "-" {
		return writeJSON(d.io.out, x)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(writeJSON(f, x), f.Close())
}

func (d *toolsDesk) leaderboard(files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("%w: which files?", errUsage)
	}
	var all []score.Export
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		x, err := score.ReadExport(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, x)
	}
	return d.rows(score.Leaderboard(all), "the files hold no tools")
}

func (d *toolsDesk) rows(rows []score.Row, none string) error {
	if d.json {
		if rows == nil {
			rows = []score.Row{}
		}
		return writeJSON(d.io.out, rows)
	}
	if len(rows) == 0 {
		fmt.Fprintln(d.io.out, none)
		return nil
	}
	var lines []string
	for _, r := range rows {
		server, rank, tag, badge := r.Server, "-", r.Tag, r.Badge
		if server == "" {
			server = "core"
		}
		if r.Rank > 0 {
			rank = fmt.Sprint(r.Rank)
		}
		if tag == "" {
			tag, badge = "too few calls", "-"
		}
		lines = append(lines, strings.Join([]string{
			string(r.Category), rank, server, r.Tool, fmt.Sprint(r.Calls), short(r.P50), short(r.P95), short(r.P99),
			fmt.Sprintf("%.0f%%", 100*r.Errors), orDash(r.Health), badge, tag,
		}, "\t"))
	}
	return d.table("CATEGORY\tRANK\tSERVER\tTOOL\tCALLS\tP50\tP95\tP99\tERRORS\tHEALTH\tBADGE\tTIERS", lines)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// short is a duration with three digits.
func short(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(10 * time.Millisecond).String()
	}
}

func auditCalls(_ context.Context, d *toolsDesk, args []string) error {
	var q audit.Query
	d.flags.StringVar(&q.Tool, "tool", "", "only calls of this `TOOL`")
	d.flags.StringVar(&q.Server, "server", "", "only tools of this `SERVER`")
	d.flags.StringVar(&q.NPC, "npc", "", "only calls by the NPC with this `ID`")
	d.flags.StringVar(&q.Speaker, "speaker", "", "only calls caused by the player with this `ID`")
	outcome := d.flags.String("outcome", "", "only calls that ended so: `ok`, refused, late, failed, \"not granted\", ...")
	since := d.flags.Duration("since", 0, "only calls of the last `DURATION`, such as 24h")
	limit := d.flags.Int("limit", 100, "at most this many, the `NEWEST`")
	if _, err := d.parse(args, 0, 0); err != nil {
		return err
	}
	q.Outcome = mcp.Outcome(*outcome)
	if *since > 0 {
		q.Since = time.Now().Add(-*since)
	}
	var calls []mcp.CallRecord
	for r, err := range audit.Read(filepath.Join(d.dir, auditFile), q) {
		if err != nil {
			return err
		}
		if calls = append(calls, r); len(calls) > 2*max(1, *limit) {
			calls = append(calls[:0], calls[len(calls)-*limit:]...)
		}
	}
	calls = calls[max(0, len(calls)-max(0, *limit)):]
	if d.json {
		for _, r := range calls {
			if err := writeJSON(d.io.out, r); err != nil {
				return err
			}
		}
		return nil
	}
	var rows []string
	for _, r := range calls {
		rows = append(rows, strings.Join([]string{
			r.At.Local().Format("2006-01-02 15:04:05"), orDash(r.Caller.NPC), orDash(r.Caller.Speaker), r.Tool, r.Tier.String(),
			string(r.Outcome), short(r.Took), string(r.Args), orDash(r.By), r.Error,
		}, "\t"))
	}
	return d.table("TIME\tNPC\tFOR\tTOOL\tTIER\tOUTCOME\tTOOK\tARGUMENTS\tBY\tERROR", rows)
}
