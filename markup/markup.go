// Package markup turns what virtual tabletops keep, pages of HTML, into text that
// can be searched, told and read aloud, and keeps the game master's secrets apart.
package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// HTML turns a page into text: headings as in Markdown, a line for each paragraph,
// cell or list item. What stands in blocks of the class "secret", as Foundry marks
// what only the game master sees, is returned by itself. It walks tokens and
// keeps no tree, so depth costs nothing, and it takes any text: what is not HTML
// comes back as it is, with its white space tidied.
func HTML(source string) (open, secret string) {
	var out, hidden strings.Builder
	to := &out
	inSecret := 0 // sections open inside the secret one, itself included
	skip := ""    // the element whose content is no text
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return out.String(), hidden.String()
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
