package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/mcp/jail"
	"github.com/glyphoxa/glyphoxa/mcp/mcptest"
)

// TestMain lets the test binary become a tool server, and its keeper.
func TestMain(m *testing.M) {
	jail.Main()
	mcptest.Main()
	os.Exit(m.Run())
}

// tools runs glyphoxa tools with a data folder and returns what it said.
func tools(t *testing.T, dir, in string, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	all := append([]string{"tools", args[0], "--data", dir}, args[1:]...)
	code = run(t.Context(), all, stdio{strings.NewReader(in), &o, &e})
	return o.String(), e.String(), code
}

// addTest registers the test server.
func addTest(t *testing.T, dir string, s mcptest.Script, more ...string) {
	t.Helper()
	args := []string{"add", "demo", "--trusted"}
	for k, v := range s.Env() {
		args = append(args, "--env", k+"="+v)
	}
	args = append(append(args, more...), "--")
	if out, errs, code := tools(t, dir, "", append(args, mcptest.Command()...)...); code != 0 {
		t.Fatalf("add: %s%s", out, errs)
	}
}

func TestRegisteredServerIsListedTestedCalledAndRemoved(t *testing.T) {
	dir := t.TempDir()
	addTest(t, dir, mcptest.Script{})
	step := func(want string, wantCode int, args ...string) string {
		t.Helper()
		out, errs, code := tools(t, dir, "", args...)
		if code != wantCode || !strings.Contains(out+errs, want) {
			t.Errorf("%v: code %d, want %d, and %q in\n%s%s", args, code, wantCode, want, out, errs)
		}
		return out
	}
	step("demo", 0, "list")
	step("demo__echo", 0, "list", "--connect")
	step("demo is up", 0, "test", "demo")
	step("hello", 0, "call", "demo__echo", `{"text":"hello"}`)
	step("Nothing was done", 1, "call", "demo__write", `{"text":"x"}`)
	step("written", 0, "call", "demo__write", `{"text":"written"}`, "--write")
	step("wrong arguments", 1, "call", "demo__echo", `{}`)
	step("nothing waits", 0, "approve")
	step("echo", 0, "stats")
	step("demo__write", 0, "audit", "--server", "demo", "--outcome", "dry run")
	step("demo is off", 0, "disable", "demo")
	step("is switched off", 1, "call", "demo__echo", `{"text":"x"}`)
	step("demo is up", 0, "test", "demo") // also what is switched off
	step("always there", 1, "disable", "core")
	step("no such server", 1, "enable", "nobody")
	step("removed demo", 0, "remove", "demo")
	step("no server", 1, "test", "demo")
	step("no command", 2, "frobnicate")
}

func TestServerThatDoesNotStartSaysWhy(t *testing.T) {
	dir := t.TempDir()
	addTest(t, dir, mcptest.Script{Start: "exit"})
	out, errs, code := tools(t, dir, "", "test", "demo")
	if code != 1 || !strings.Contains(errs, "no licence found") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}

func TestChangedToolIsShownAndApproved(t *testing.T) {
	dir := t.TempDir()
	addTest(t, dir, mcptest.Script{})
	if _, errs, code := tools(t, dir, "", "test", "demo"); code != 0 {
		t.Fatal(errs)
	}
	changed := mcptest.Tools()
	changed[0].Description = "says it back, and to others"
	if _, _, code := tools(t, dir, "", "remove", "demo"); code != 0 {
		t.Fatal("remove")
	}
	// Removing a server forgets what was agreed to; this one comes back changed
	// without having been removed from the book.
	pins := filepath.Join(dir, toolsDir, "pins.json")
	addTest(t, dir, mcptest.Script{})
	if _, errs, code := tools(t, dir, "", "test", "demo"); code != 0 {
		t.Fatal(errs)
	}
	book, err := os.ReadFile(pins)
	if err != nil {
		t.Fatal(err)
	}
	tools(t, dir, "", "remove", "demo")
	if err := os.WriteFile(pins, book, 0o600); err != nil {
		t.Fatal(err)
	}
	addTest(t, dir, mcptest.Script{Tools: changed})
	out, _, _ := tools(t, dir, "", "test", "demo")
	if !strings.Contains(out, "waits for approval") {
		t.Errorf("test: %s", out)
	}
	out, _, code := tools(t, dir, "", "approve")
	if code != 0 || !strings.Contains(out, `+   "Description": "says it back, and to others"`) || !strings.Contains(out, `-   "Description": "says it back"`) {
		t.Errorf("what waits: %s", out)
	}
	if out, _, _ := tools(t, dir, "", "call", "demo__echo", `{"text":"x"}`); out != "" {
		t.Errorf("called before it was approved: %s", out)
	}
	if _, errs, code := tools(t, dir, "", "approve", "demo", "echo"); code != 0 || !strings.Contains(errs, "approved demo echo") {
		t.Errorf("approve: %d %s", code, errs)
	}
	if out, errs, _ := tools(t, dir, "", "call", "demo__echo", `{"text":"x"}`); out != "x\n" {
		t.Errorf("after approval: %q %s", out, errs)
	}
}

func TestToolSessionDeclaresAndCallsFunctions(t *testing.T) {
	out, errs, code := tools(t, t.TempDir(), `{"name":"roll","arguments":{"expression":"1d1+1"}}
{"tier":"fast"}
{"name":"nothing"}
`, "session")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 4 {
		t.Fatalf("code %d\n%s%s", code, out, errs)
	}
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("%s is no JSON", l)
		}
	}
	if !strings.Contains(lines[0], `"name":"roll"`) || !strings.Contains(lines[1], `= 2`) || !strings.Contains(lines[3], "There is no tool") {
		t.Error(out)
	}
}

func TestTOONGoesBothWays(t *testing.T) {
	const in = `{"items":[{"id":1,"name":"Ada"},{"id":2,"name":"Bob"}]}`
	doc, _, code := tools(t, t.TempDir(), in, "toon", "encode")
	if code != 0 || doc != "items[2]{id,name}:\n  1,Ada\n  2,Bob\n" {
		t.Errorf("encode: %d %q", code, doc)
	}
	back, _, code := tools(t, t.TempDir(), doc, "toon", "decode")
	if code != 0 || back != in+"\n" {
		t.Errorf("decode: %d %q", code, back)
	}
	_, errs, code := tools(t, t.TempDir(), "a[3]: 1", "toon", "decode")
	if code != 1 || !strings.Contains(errs, "line 1") {
		t.Errorf("a wrong count: %d %q", code, errs)
	}
}

func TestScoresAreExportedAndMerged(t *testing.T) {
	dir := t.TempDir()
	for range 9 {
		if _, errs, code := tools(t, dir, "", "call", "roll", `{"expression":"1d6"}`); code != 0 {
			t.Fatal(errs)
		}
	}
	file := filepath.Join(dir, "export.json")
	if _, errs, code := tools(t, dir, "", "stats", "--export", file); code != 0 {
		t.Fatal(errs)
	}
	out, errs, code := tools(t, dir, "", "stats", "--merge", file, file)
	if code != 0 || !strings.Contains(out, "FAST compatible") || !strings.Contains(out, "Lightning") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if out, _, _ := tools(t, dir, "", "stats"); !strings.Contains(out, "Lightning") {
		t.Errorf("stats: %s", out)
	}
}
