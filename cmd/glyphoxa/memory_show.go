package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// find returns the entity with an id, or that is called by a name.
func (m *memoryDesk) find(ctx context.Context, name string) (memory.Entity, error) {
	e, err := m.store.Entity(ctx, m.viewer(), name)
	if !errors.Is(err, memory.ErrUnknown) {
		return e, err
	}
	found, err := m.store.FindEntities(ctx, m.viewer(), name, "", 1)
	if err != nil {
		return e, err
	}
	if len(found) == 0 {
		return e, fmt.Errorf("%q: %w", name, memory.ErrUnknown)
	}
	return found[0], nil
}

func showEntity(ctx context.Context, m *memoryDesk, args []string) error {
	ended := m.flags.Bool("history", false, "also show what is no longer so")
	words, err := m.parse(args, 1, 1)
	if err != nil {
		return err
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	e, err := m.find(ctx, words[0])
	if err != nil {
		return err
	}
	claims, err := m.store.Claims(ctx, m.viewer(), memory.ClaimQuery{Subject: e.ID, Ended: *ended, Limit: memory.MaxHits})
	if err != nil {
		return err
	}
	if m.json {
		return m.write(map[string]any{"entity": e, "claims": claims})
	}
	out := m.io.out
	fmt.Fprintf(out, "%s (%s, %s)\n", e.Name, e.Kind, e.ID)
	if e.Text != "" {
		fmt.Fprintf(out, "%s\n", e.Text)
	}
	for _, k := range slices.Sorted(maps.Keys(e.Attributes)) {
		fmt.Fprintf(out, "  %s: %s\n", k, e.Attributes[k])
	}
	for _, c := range claims {
		switch c.Form {
		case memory.FactForm:
			fmt.Fprintf(out, "  - %s%s\n", c.Text, marks(c))
		case memory.RelationForm:
			fmt.Fprintf(out, "  - %s %s %s%s%s\n", c.Subject, c.Predicate, c.Object, inBrackets(c.Text), marks(c))
		case memory.AttributeForm:
			if !c.To.IsZero() {
				fmt.Fprintf(out, "  %s: %s%s\n", c.Predicate, c.Text, marks(c))
			}
		}
	}
	return nil
}

// marks says what is special about a claim.
func marks(c memory.Claim) string {
	s := ""
	if c.False {
		s += " [untrue]"
	}
	if c.Told != nil {
		s += " [told by " + c.Told.By + "]"
	}
	if !c.To.IsZero() {
		s += " [until " + c.To.Local().Format(time.DateTime) + "]"
	}
	return s
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func showGraph(ctx context.Context, m *memoryDesk, args []string) error {
	depth := m.flags.Int("depth", 1, "so many `STEPS` away")
	words, err := m.parse(args, 1, 2)
	if err != nil {
		return err
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	from, err := m.find(ctx, words[0])
	if err != nil {
		return err
	}
	var g memory.Graph
	if len(words) == 2 {
		to, err := m.find(ctx, words[1])
		if err != nil {
			return err
		}
		if g.Edges, err = m.store.Path(ctx, m.viewer(), from.ID, to.ID); err != nil {
			return err
		}
	} else if g, err = m.store.Neighbours(ctx, m.viewer(), from.ID, *depth); err != nil {
		return err
	}
	if m.json {
		return m.write(g)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(m.io.out, "%s %s %s%s\n", e.From, e.Kind, e.To, inBrackets(e.Text))
	}
	if g.Cut {
		fmt.Fprintln(m.io.out, "… and more than can be shown")
	}
	return nil
}

func recapMemory(ctx context.Context, m *memoryDesk, args []string) error {
	session := m.flags.String("session", "", "the session's `ID` (default: the last)")
	length := m.flags.String("length", "short", "`short`, medium or long")
	safe := m.flags.Bool("players", false, "only what the whole table heard")
	if _, err := m.parse(args, 0, 0); err != nil {
		return err
	}
	n, err := memory.LengthOf(*length)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	id, err := m.session(ctx, *session)
	if err != nil {
		return err
	}
	recap, err := memory.RecapOf(ctx, m.store, m.viewer(), id, n, *safe)
	if err != nil {
		return err
	}
	for _, s := range recap.Sentences {
		for i, line := range s.Proof {
			s.Proof[i] = strings.TrimPrefix(line, id+idMark)
		}
	}
	if m.json {
		return m.write(recap)
	}
	for _, s := range recap.Sentences {
		fmt.Fprintf(m.io.out, "%s  [%s]\n", s.Text, strings.Join(s.Proof, ", "))
	}
	return nil
}

func memoryStats(ctx context.Context, m *memoryDesk, args []string) error {
	if _, err := m.parse(args, 0, 0); err != nil {
		return err
	}
	all := m.campaign == ""
	if err := m.open(ctx); err != nil {
		return err
	}
	names := []string{m.campaign}
	if all {
		var err error
		if names, err = m.store.Campaigns(ctx); err != nil {
			return err
		}
	}
	for _, name := range names {
		s, err := m.store.Stats(ctx, name)
		if err != nil {
			return err
		}
		if m.json {
			if err := m.write(s); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(m.io.out, "%s: %d lines in %d sessions, %d entities, %d claims (%d wait for the game master); store %.1f MB\n",
			name, s.Lines, s.Sessions, s.Entities, s.Claims, s.Proposed, float64(s.Bytes)/1e6)
	}
	return nil
}
