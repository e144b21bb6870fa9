package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/secret"
)

var sameSecret = cmp.Comparer(func(a, b secret.Text) bool { return a.Reveal() == b.Reveal() })

func TestExampleConfigurationEqualsTheDefaults(t *testing.T) {
	got, err := loadConfig("../../glyphoxa.yaml.example")
	if err != nil {
		t.Fatal(err)
	}
	got.MCP.Servers, got.Discord.DMRoles, got.Discord.DMUsers, got.Web.Hosts = nil, nil, nil, nil // an empty list is no list
	if diff := cmp.Diff(defaults(), got, sameSecret); diff != "" {
		t.Errorf("glyphoxa.yaml.example differs from the defaults (-default +example):\n%s", diff)
	}
}

func TestNoFileMeansTheDefaultsAndANamedOneMustExist(t *testing.T) {
	t.Chdir(t.TempDir())
	got, err := loadConfig("")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(defaults(), got, sameSecret); diff != "" {
		t.Errorf("without a file (-default +got):\n%s", diff)
	}
	if _, err := loadConfig("nowhere.yaml"); err == nil {
		t.Error("a configuration that is not there was loaded")
	}
}

func TestEveryMistakeIsToldWithItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "glyphoxa.yaml")
	text := "campain: x\nlisten: 127.0.0.1:1\nlisten: 127.0.0.1:2\nllm:\n  provider: auto\n  key: sk-secret\nmcp:\n  servers:\n    - name: a\n      transport: carrier-pigeon\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := loadConfig(path)
	if err == nil {
		t.Fatal("the file was accepted")
	}
	for _, want := range []string{":1:1: ", "campaign", ":3:1: ", ":6:8: ", "${NAME}", ":10:18: ", "streamable-http"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not mention %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("the error repeats a secret:\n%v", err)
	}
}

func TestCommandLinesAreSplitLikeAShellWouldWithoutOne(t *testing.T) {
	for in, want := range map[string][]string{
		`npx -y server --dir "/a b"`:  {"npx", "-y", "server", "--dir", "/a b"},
		`'one word' two\ words $HOME`: {"one word", "two words", "$HOME"},
		`a "" b`:                      {"a", "", "b"},
	} {
		var w words
		if err := w.UnmarshalText([]byte(in)); err != nil || !slices.Equal(w, want) {
			t.Errorf("%q: got %q, %v, want %q", in, w, err, want)
		}
	}
	var w words
	for _, bad := range []string{`a "b`, ``} {
		if err := w.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
