package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/mcp/trust"
)

func (d *toolsDesk) toolsDir() string { return filepath.Join(d.dir, toolsDir) }

// approveTools shows definitions that are not what was agreed to, and agrees to
// those that are named. A running table notices within seconds.
func approveTools(_ context.Context, d *toolsDesk, args []string) error {
	show := d.flags.Bool("show", false, "only show what waits, in full")
	words, err := d.parse(args, 0, 2)
	if err != nil {
		return err
	}
	pins, err := d.pins()
	if err != nil {
		return err
	}
	all, err := pins.Waiting()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(w trust.Waiting) bool {
		return len(words) > 0 && w.Server != words[0] || len(words) > 1 && w.Tool != words[1]
	})
	switch {
	case len(all) == 0 && len(words) == 0:
		fmt.Fprintln(d.io.out, "nothing waits for approval")
		return nil
	case len(all) == 0:
		return fmt.Errorf("%s: %w", strings.Join(words, " "), trust.ErrNothingWaits)
	case d.json:
		if err := writeJSON(d.io.out, all); err != nil {
			return err
		}
	default:
		for _, w := range all {
			fmt.Fprintf(d.io.out, "%s %s is %s:\n%s", w.Server, w.Tool, w.Verdict, changes(w.Was, w.Now))
		}
	}
	if *show || len(words) == 0 {
		return nil
	}
	var errs []error
	for _, w := range all {
		if _, err := pins.Approve(w.Server, w.Tool, w.Hash); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", w.Server, w.Tool, err))
			continue
		}
		fmt.Fprintf(d.io.err, "approved %s %s\n", w.Server, w.Tool)
	}
	return errors.Join(errs...)
}

// changes shows the lines that differ between two texts, in the new one's order.
func changes(was, now string) string {
	a, b := strings.Split(was, "\n"), strings.Split(now, "\n")
	if was == "" {
		a = nil
	}
	// The longest common subsequence, by the book, of the first thousand lines:
	// honest definitions have some hundred.
	const most = 1000
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	n, m := len(a), len(b)
	long := make([][]int, n+1)
	for i := range long {
		long[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if a[i] == b[j] {
				long[i][j] = long[i+1][j+1] + 1
			} else {
				long[i][j] = max(long[i+1][j], long[i][j+1])
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < n || j < m; {
		switch {
		case i < n && j < m && a[i] == b[j]:
			i, j = i+1, j+1
		case j == m || i < n && long[i+1][j] >= long[i][j+1]:
			fmt.Fprintf(&out, "  - %s\n", a[i])
			i++
		default:
			fmt.Fprintf(&out, "  + %s\n", b[j])
			j++
		}
	}
	return out.String()
}
