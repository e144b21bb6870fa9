package rules

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// A journal is an exported JournalEntry. Its ownership says who may read it:
// 0 nobody but the game master, 1 its name only, 2 and 3 everybody.
type journal struct {
	Name      string
	Ownership map[string]int
	Flags     struct {
		License string
	}
	Pages []struct {
		Name, Type string
		Ownership  map[string]int
		Text       struct {
			Content, Markdown string
		}
	}
}

// observer is the least ownership at which a page can be read.
const observer = 2

// foundry reads one exported journal, or an array of them. Pages that players
// cannot see, and secret blocks, become the game master's entries.
func (in *importing) foundry(_ string, b []byte) error {
	var journals []journal
	if trimmed := bytes.TrimSpace(b); len(trimmed) > 0 && trimmed[0] == '[' {
		if err := json.Unmarshal(b, &journals); err != nil {
			return fmt.Errorf("not a Foundry journal: %w", err)
		}
	} else {
		var one journal
		if err := json.Unmarshal(b, &one); err != nil {
			return fmt.Errorf("not a Foundry journal: %w", err)
		}
		journals = []journal{one}
	}
	if len(journals) == 0 || journals[0].Pages == nil {
		return errors.New("not a Foundry journal: it has no pages")
	}
	for _, j := range journals {
		for _, p := range j.Pages {
			if p.Type != "" && p.Type != "text" {
				continue
			}
			// A page without ownership of its own, or with -1, inherits.
			level, own := p.Ownership["default"]
			if !own || level < 0 {
				level = j.Ownership["default"]
			}
			like := Entry{Kind: "rule", DM: level < observer, Source: j.Name, License: j.Flags.License}
			open, secret := p.Text.Markdown, ""
			if open == "" {
				var err error
				if open, secret, err = readable(p.Text.Content); err != nil {
					return fmt.Errorf("page %q: %w", p.Name, err)
				}
			}
			name := cmp.Or(p.Name, j.Name)
			if err := in.sections(name, open, like); err != nil {
				return err
			}
			like.DM = true
			if err := in.sections(name+" (secret)", secret, like); err != nil {
				return err
			}
		}
	}
	return nil
}

// readable turns a page's HTML into text with Markdown headings, the secret
// blocks apart. It walks tokens and keeps no tree, so depth costs nothing.
func readable(source string) (open, secret string, err error) {
	var out, hidden strings.Builder
	to := &out
	inSecret := 0 // sections open inside the secret one, itself included
	skip := ""    // the element whose content is no text
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return out.String(), hidden.String(), nil
		case html.TextToken:
			if skip == "" {
				to.WriteString(strings.Join(strings.Fields(" "+string(z.Text())+" "), " "))
				to.WriteByte(' ')
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, attrs := z.TagName()
			tag, end := string(name), kind == html.EndTagToken
			switch tag {
			case "script", "style":
				if skip = tag; end {
					skip = ""
				}
			case "section":
				switch {
				case end && inSecret > 0:
					if inSecret--; inSecret == 0 {
						to = &out
					}
				case !end && (inSecret > 0 || attrs && isSecret(z)):
					inSecret++
					to = &hidden
				}
				to.WriteByte('\n')
			case "h1", "h2", "h3", "h4", "h5", "h6":
				to.WriteByte('\n')
				if !end {
					to.WriteString(strings.Repeat("#", int(tag[1]-'0')) + " ")
				}
			case "p", "div", "br", "li", "tr", "table", "ul", "ol", "blockquote":
				to.WriteByte('\n')
				if tag == "li" && !end {
					to.WriteString("- ")
				}
			}
		}
	}
}

// isSecret reads the attributes of the tag just seen.
func isSecret(z *html.Tokenizer) bool {
	for {
		key, value, more := z.TagAttr()
		if string(key) == "class" && strings.Contains(" "+string(value)+" ", " secret ") {
			return true
		}
		if !more {
			return false
		}
	}
}
