package discord

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var mentioned = regexp.MustCompile("`/([a-z]+)(?: ([a-z-]+))?([^`]*)`")

// TestDocumentedCommandsAreTheRealOnes finds commands in the documentation that do
// not exist, options that they do not have, and commands that nobody wrote about.
func TestDocumentedCommandsAreTheRealOnes(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	known, options := map[string]bool{}, map[string][]option{}
	for _, c := range commands() {
		if c.group != "" {
			known[c.group] = true
		}
		name := strings.TrimSpace(c.group + " " + c.name)
		known[name], options[name] = true, c.options
	}
	written := map[string]bool{}
	for _, page := range append(pages, "../../README.md") {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		for _, m := range mentioned.FindAllStringSubmatch(text, -1) {
			name, rest := m[1], m[3]
			if m[2] != "" && !strings.HasPrefix(rest, ":") {
				name += " " + m[2]
			} else if m[2] != "" { // an option of a command that stands alone
				rest = " " + m[2] + rest
			}
			if !known[name] {
				t.Errorf("%s: there is no command /%s", filepath.Base(page), name)
				continue
			}
			written[name] = true
			for word := range strings.FieldsSeq(rest) {
				key, _, ok := strings.Cut(word, ":")
				if ok && !has(options[name], key) {
					t.Errorf("%s: /%s has no option %s", filepath.Base(page), name, key)
				}
			}
		}
		for _, c := range commands() {
			if c.kind != 0 && strings.Contains(strings.Join(strings.Fields(text), " "), "*"+c.name+"*") {
				written[c.name] = true
			}
		}
	}
	for _, c := range commands() {
		if name := strings.TrimSpace(c.group + " " + c.name); !written[name] {
			t.Errorf("no page mentions /%s", name)
		}
	}
}

func has(options []option, name string) bool {
	for _, o := range options {
		if o.name == name {
			return true
		}
	}
	return false
}

func TestDocumentedPermissionsAreThoseThatAreChecked(t *testing.T) {
	b, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range needed {
		if !strings.Contains(string(b), p.name) {
			t.Errorf("operations.md does not mention the permission %s", p.name)
		}
	}
}
