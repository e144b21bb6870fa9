package rules

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFrontMatter keeps a file from feeding megabytes to the YAML parser.
const maxFrontMatter = 16 << 10

// markdown reads one file: each heading is a rule. Front matter may say title,
// license, source, system and dm.
func (in *importing) markdown(name string, b []byte) error {
	if !utf8.Valid(b) {
		return fmt.Errorf("not UTF-8 text")
	}
	text := strings.TrimPrefix(string(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))), "\ufeff")
	var front struct {
		Title, License, Source, System string
		DM                             bool
	}
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		head, body, closed := strings.Cut(rest, "\n---\n")
		if closed && len(head) <= maxFrontMatter {
			if err := yaml.Unmarshal([]byte(head), &front); err != nil {
				return fmt.Errorf("front matter: %w", err)
			}
			text = body
		}
	}
	if front.System != "" && !systemID.MatchString(front.System) {
		return fmt.Errorf("front matter: system %q: want an id such as pf2e or homebrew:mine", front.System)
	}
	title := front.Title
	if title == "" {
		title = strings.TrimSuffix(path.Base(name), path.Ext(name))
	}
	like := Entry{Kind: "rule", DM: front.DM, System: front.System, Source: front.Source, License: front.License}
	return in.sections(title, text, like)
}
