package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImportedRulesAnswerWithTheirLicence(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	dir := filepath.Join(t.TempDir(), "House Rules!")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "luck.md"), []byte("# Zephyr tokens\nSpend a token to reroll. Never two.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := glyphoxaRun(t, "", "rules", "import", dir, "--format", "markdown", "--license", "CC0-1.0", "--source", "our table")
	if code != 0 || !strings.Contains(out, "1 rules kept") || !strings.Contains(out, "our table, licence CC0-1.0") {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	code, out, errs = glyphoxaRun(t, "", "rules", "zephyr tokens")
	if code != 0 || !strings.Contains(out, "Spend a token") || !strings.Contains(out, "[our table, CC0-1.0]") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	for _, args := range [][]string{
		{"import"}, {"import", dir}, {"import", "--format", "pdf", dir}, {"import", "--format", "markdown", dir + "/missing"},
		{"import", "--format", "open5e", dir},
	} {
		if code, _, errs := glyphoxaRun(t, "", append([]string{"rules"}, args...)...); code == 0 || errs == "" {
			t.Errorf("%v: exit %d, %q", args, code, errs)
		}
	}
}
