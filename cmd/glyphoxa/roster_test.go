package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/mcptest"
)

// told waits for an alert that holds want, after the event seen before; it returns
// the event to go on from.
func told(t *testing.T, s *seat, after uint64, want string) uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for e := range s.table.Events(ctx, after) {
		after = e.ID
		if e.Alert != nil && strings.Contains(e.Alert.Text, want) {
			return after
		}
	}
	t.Fatalf("the table was not told %q", want)
	return 0
}

// beltOf is the names of what an NPC that may use everything of two servers has.
func beltOf(t *testing.T, s *seat) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.host.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range s.host.Belt(mcp.Grant{Allow: []string{"demo__echo", "filed__echo"}, Tier: mcp.Deep}).Tools() {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

func TestServersComeAndGoWhileTheTableIsSet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "glyphoxa.yaml")
	write := func(text string) {
		t.Helper()
		// As an editor does it: whole, or not at all.
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	head := fmt.Sprintf("data: %q\n", dir)
	write(head)
	cfg, err := loadConfig(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := set(t.Context(), setting{cfg: cfg, path: file, log: slog.New(slog.DiscardHandler), offline: true, silent: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	var at uint64
	step := func(wantTold, wantBelt string) {
		t.Helper()
		at = told(t, s, at, wantTold)
		if got := beltOf(t, s); got != wantBelt {
			t.Errorf("after %q the belt has %q, want %q", wantTold, got, wantBelt)
		}
	}

	addTest(t, dir, mcptest.Script{})
	step("now: demo.", "demo__echo")
	var env strings.Builder
	for k, v := range (mcptest.Script{}).Env() {
		fmt.Fprintf(&env, "%s: %q", k, v)
	}
	server := head + fmt.Sprintf("mcp: {servers: [{name: filed, transport: stdio, command: [%q], env: {%s}}]}\n", mcptest.Command()[0], env.String())
	write(server)
	step("now: demo, filed.", "demo__echo filed__echo")
	write(server + "nonsense: 1\n")
	step("nonsense", "demo__echo filed__echo")
	if _, errs, code := tools(t, dir, "", "disable", "demo"); code != 0 {
		t.Fatal(errs)
	}
	step("now: filed.", "filed__echo")
	write(head)
	step("now: none.", "")
}

func TestTablesOfAllGuildsFollowTheOneRegistry(t *testing.T) {
	shared := t.TempDir()
	addTest(t, shared, mcptest.Script{})
	cfg := defaults()
	cfg.Data = filepath.Join(shared, "servers", "1234")
	s, err := set(t.Context(), setting{cfg: cfg, shared: shared, path: filepath.Join(shared, "none.yaml"), log: slog.New(slog.DiscardHandler), offline: true, silent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	if got := beltOf(t, s); got != "demo__echo" {
		t.Errorf("the guild's table has %q, want demo__echo", got)
	}
	if _, err := os.Stat(mcp.PinsFile(filepath.Join(shared, toolsDir))); err != nil {
		t.Errorf("what was agreed to is not where 'tools approve' looks: %v", err)
	}
}
