package registry

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	_ "modernc.org/sqlite"
)

func open(t *testing.T) *Book {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	b, err := Open(t.Context(), db, false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestServersAreKeptSwitchedAndRemoved(t *testing.T) {
	b := open(t)
	s := Server{
		Name: "dice", Transport: mcp.Stdio, Command: "node", Args: []string{"a b.js", "--x"}, Env: map[string]string{"KEY": "${DICE_KEY}"},
		Category: mcp.Network, Enabled: true, Options: Options{Trusted: true, Read: []string{"/data"}},
	}
	if err := b.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(t.Context(), s); !errors.Is(err, ErrExists) {
		t.Errorf("twice: %v", err)
	}
	list, err := b.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Server{s}, list, cmpopts.IgnoreFields(Server{}, "Added")); d != "" {
		t.Error(d)
	}
	if err := b.Enable(t.Context(), "dice", false); err != nil {
		t.Error(err)
	}
	if list, _ = b.List(t.Context()); list[0].Enabled {
		t.Error("still on")
	}
	if err := b.Enable(t.Context(), "none", true); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
	if err := b.Remove(t.Context(), "dice"); err != nil {
		t.Error(err)
	}
	if err := b.Remove(t.Context(), "dice"); !errors.Is(err, ErrUnknown) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestBadServersAndLiteralSecretsAreRefused(t *testing.T) {
	b := open(t)
	for _, c := range []struct {
		s    Server
		want string
	}{
		{Server{Name: "x", Transport: mcp.Stdio}, "command"},
		{Server{Name: "a__b", Transport: mcp.Stdio, Command: "x"}, "underscore"},
		{Server{Name: "x", Transport: mcp.Stdio, Command: "x", Category: mcp.Core}, "core"},
		{Server{Name: "x", Transport: mcp.StreamableHTTP, URL: "https://h/mcp", Options: Options{Token: "eyJhbGci"}}, "${NAME}"},
	} {
		if err := b.Add(t.Context(), c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.s, err, c.want)
		}
	}
}

func TestConfigurationWinsOverTheRegistry(t *testing.T) {
	reg := []Server{
		{Name: "a", Transport: mcp.Stdio, Command: "registered", Enabled: true},
		{Name: "b", Transport: mcp.StreamableHTTP, URL: "https://h/mcp", Options: Options{Token: "${T}"}},
		{Name: "c", Transport: mcp.StreamableHTTP, URL: "https://h/mcp", Options: Options{Token: "file:/nowhere"}, Enabled: true},
	}
	got, err := Merge([]mcp.ServerConfig{{Name: "a", Transport: mcp.Stdio, Command: []string{"configured"}}}, reg, func(ref string) (string, error) {
		if ref == "${T}" {
			return "opened", nil
		}
		return "", errors.New("no such file")
	})
	if err == nil || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("err %v, want the server whose secret is missing", err)
	}
	if len(got) != 2 || got[0].Command[0] != "configured" || got[1].Token() != "opened" || !got[1].Disabled {
		t.Errorf("got %+v", got)
	}
}
