package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

func reviewMemory(ctx context.Context, m *memoryDesk, args []string) error {
	words, err := m.parse(args, 0, 2)
	if err != nil {
		return err
	}
	if len(words) == 1 {
		return fmt.Errorf("%w: review alone lists, review accept ID and review reject ID decide", errUsage)
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	if len(words) == 2 {
		status, ok := map[string]memory.Status{"accept": memory.Accepted, "reject": memory.Rejected}[words[0]]
		if !ok {
			return fmt.Errorf("%w: %q; there are accept and reject", errUsage, words[0])
		}
		return m.store.Judge(ctx, m.campaign, words[1], status)
	}
	waiting, err := m.store.Claims(ctx, m.viewer(), memory.ClaimQuery{Status: memory.Proposed, Limit: memory.MaxHits})
	if err != nil {
		return err
	}
	if m.json {
		return m.write(map[string]any{"claims": waiting})
	}
	if len(waiting) == 0 {
		fmt.Fprintln(m.io.out, "nothing waits for you")
	}
	for _, c := range waiting {
		what := c.Text
		if c.Form == memory.RelationForm {
			what = fmt.Sprintf("%s %s %s%s", c.Subject, c.Predicate, c.Object, inBrackets(c.Text))
		}
		fmt.Fprintf(m.io.out, "%s\n  %s: %s  [line %s, %.0f %% sure]\n", c.ID, c.Subject, what, c.Source, 100*c.Confidence)
	}
	return nil
}

func consolidateMemory(ctx context.Context, m *memoryDesk, args []string) error {
	session := m.flags.String("session", "", "the session's `ID` (default: the last)")
	rules := m.flags.Bool("rules", false, "by rules alone, even if there is a language model")
	if _, err := m.parse(args, 0, 0); err != nil {
		return err
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	id, err := m.session(ctx, *session)
	if err != nil {
		return err
	}
	a, err := tableAuthor(ctx, *rules)
	if err != nil {
		return err
	}
	n, err := memory.Consolidate(ctx, m.store, a, m.campaign, id)
	if err != nil {
		return err
	}
	if m.json {
		return m.write(map[string]any{"session": id, "proposed": n})
	}
	fmt.Fprintf(m.io.out, "%d claims proposed; 'glyphoxa memory review' shows them\n", n)
	return nil
}

// session is the given session, or the last one.
func (m *memoryDesk) session(ctx context.Context, id string) (string, error) {
	if id != "" {
		return id, nil
	}
	last, err := m.store.Sessions(ctx, m.campaign, 1)
	if err != nil {
		return "", err
	}
	if len(last) == 0 {
		return "", fmt.Errorf("campaign %s has no session yet", m.campaign)
	}
	return last[0].ID, nil
}

func tellMemory(ctx context.Context, m *memoryDesk, args []string) error {
	words, err := m.parse(args, 2, 2)
	if err != nil {
		return err
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	t := memory.Telling{Campaign: m.campaign, From: m.as, To: []string{words[0]}, Line: words[1], At: time.Now()}
	err = m.store.Tell(ctx, t)
	if errors.Is(err, memory.ErrUnknown) {
		t.Line, t.Claim = "", words[1]
		err = m.store.Tell(ctx, t)
	}
	return err
}

func optOutPlayer(ctx context.Context, m *memoryDesk, args []string) error {
	back := m.flags.Bool("undo", false, "remember the player again")
	words, err := m.parse(args, 1, 1)
	if err != nil {
		return err
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	return m.store.OptOut(ctx, m.campaign, words[0], !*back)
}

func retainMemory(ctx context.Context, m *memoryDesk, args []string) error {
	lines := m.flags.Int("lines", 0, "erase lines older than so many `DAYS`; 0 keeps them")
	claims := m.flags.Int("claims", 0, "erase claims that ended so many `DAYS` ago; 0 keeps them")
	if _, err := m.parse(args, 0, 0); err != nil {
		return err
	}
	if *lines < 0 || *claims < 0 || *lines+*claims == 0 || max(*lines, *claims) > 36500 {
		return fmt.Errorf("%w: say how many days lines or claims are kept", errUsage)
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	gone, err := m.store.Retain(ctx, m.campaign, memory.Retention{Lines: time.Duration(*lines) * day, Claims: time.Duration(*claims) * day}, time.Now())
	if err != nil {
		return err
	}
	if m.json {
		return m.write(gone)
	}
	fmt.Fprintf(m.io.out, "%d lines and %d claims erased\n", gone.Lines, gone.Claims)
	return nil
}

// embedMemory embeds what no model has read yet, until it is done or interrupted.
func embedMemory(ctx context.Context, m *memoryDesk, args []string) error {
	if _, err := m.parse(args, 0, 0); err != nil {
		return err
	}
	cfg, err := loadConfig("")
	if err != nil {
		return err
	}
	e, ok := embedder(cfg.Memory)
	if !ok {
		return fmt.Errorf("memory.embeddings.url in %s does not name a server", configFile)
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	n, err := memory.EmbedPending(ctx, m.store, e, math.MaxInt)
	fmt.Fprintf(m.io.out, "%d passages embedded by %s\n", n, e.Name)
	return err
}

// correctNames reads lines from standard input and writes them with the names of
// a campaign, or those given, put right.
func correctNames(ctx context.Context, m *memoryDesk, args []string) error {
	given := m.flags.String("names", "", "the `NAMES`, separated by commas (default: those of the campaign's entities)")
	if _, err := m.parse(args, 0, 0); err != nil {
		return err
	}
	names := strings.Split(*given, ",")
	if *given == "" {
		if err := m.open(ctx); err != nil {
			return err
		}
		known, err := m.store.FindEntities(ctx, m.viewer(), "", "", memory.MaxHits)
		if err != nil {
			return err
		}
		names = nil
		for _, e := range known {
			names = append(append(names, e.Name), e.Aliases...)
		}
	}
	glossary := memory.NewGlossary(names)
	lines := bufio.NewScanner(m.io.in)
	lines.Buffer(make([]byte, 4096), memory.MaxText)
	for lines.Scan() {
		text, changes := glossary.Correct(lines.Text())
		if !m.json {
			fmt.Fprintln(m.io.out, text)
			continue
		}
		if err := m.write(map[string]any{"heard": lines.Text(), "text": text, "changes": changes}); err != nil {
			return err
		}
	}
	return lines.Err()
}
