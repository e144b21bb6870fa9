package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/glyphoxa/glyphoxa/mcp/egress"
)

const (
	// maxPage bounds what is read of a page, unpacked: long articles have 300 KiB.
	maxPage = 1 << 20
	// maxElements and maxDepth bound what is made of it: what looks for the
	// article walks the page many times, and calls itself for every level.
	maxElements = 30_000
	maxDepth    = 250
)

// A Reader reads pages from the public internet.
type Reader struct {
	client *http.Client
}

// NewReader returns a reader of pages. hosts may be read from wherever they are,
// also by plain http.
func NewReader(hosts []string) *Reader {
	return &Reader{egress.Client(egress.Options{Hosts: hosts})}
}

// A Page is what can be read on it.
type Page struct {
	// URL is where it was in the end; Title may be empty.
	URL, Title string
	Text       string
}

// Read fetches a page and returns its text without menus and advertisements.
func (r *Reader) Read(ctx context.Context, at string) (Page, error) {
	u, err := url.Parse(strings.TrimSpace(at))
	if err != nil {
		return Page{}, fmt.Errorf("%q is no address of a page", at)
	}
	u.Fragment = ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, fmt.Errorf("%q is no address of a page", at)
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; Glyphoxa)")
	req.Header.Set("Accept", "text/html, text/plain;q=0.8, text/markdown;q=0.8")
	resp, err := r.client.Do(req)
	if err != nil {
		return Page{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Page{}, fmt.Errorf("the page answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	kind := resp.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return Page{}, errors.New("the page does not say what it is")
	}
	// One byte more than allowed shows that there is more: too long a page is cut
	// there, and its text is still of use.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	if err != nil {
		return Page{}, fmt.Errorf("the page broke off: %w", err)
	}
	p := Page{URL: resp.Request.URL.String()}
	switch media {
	case "text/html", "application/xhtml+xml":
		p.Title, p.Text, err = article(body, kind, resp.Request.URL)
	case "text/plain", "text/markdown":
		p.Text, err = decode(body, kind)
	default:
		return Page{}, fmt.Errorf("%q is no text that could be read", media)
	}
	if err == nil && strings.TrimSpace(p.Text) == "" {
		err = errors.New("there is no text on the page; it may need a browser")
	}
	return p, err
}

// decode turns a page's bytes into UTF-8, from what it says they are.
func decode(body []byte, kind string) (string, error) {
	e, name, _ := charset.DetermineEncoding(body[:min(len(body), 1024)], kind)
	if name == "utf-8" || utf8.Valid(body) {
		return strings.ToValidUTF8(string(body), ""), nil
	}
	b, err := e.NewDecoder().Bytes(body)
	if err != nil {
		return "", fmt.Errorf("the page is not %s as it says: %w", name, err)
	}
	if len(b) > 3*maxPage { // no encoding grows more
		b = b[:3*maxPage]
	}
	return strings.ToValidUTF8(string(b), ""), nil
}

// article finds the readable part of a page. The page is a stranger's, and what
// looks for it was not made for hostile ones: it is bounded before, and what
// breaks there is only an error.
func article(body []byte, kind string, at *url.URL) (title, text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			title, text, err = "", "", fmt.Errorf("the page could not be understood: %v", p)
		}
	}()
	s, err := decode(body, kind)
	if err != nil {
		return "", "", err
	}
	if n := strings.Count(s, "<"); n > 2*maxElements {
		return "", "", fmt.Errorf("the page has more than %d elements", maxElements)
	}
	doc, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return "", "", fmt.Errorf("the page is no HTML: %w", err)
	}
	if err := bounded(doc); err != nil {
		return "", "", err
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse = maxElements
	found, err := parser.ParseAndMutate(doc, at)
	if err != nil {
		return "", "", fmt.Errorf("the page could not be understood: %w", err)
	}
	if found.Node == nil {
		return found.Title(), "", nil
	}
	var b strings.Builder
	if err := found.RenderText(&b); err != nil {
		return "", "", fmt.Errorf("the page could not be understood: %w", err)
	}
	return found.Title(), strings.TrimSpace(b.String()), nil
}

// bounded refuses documents with too many elements, or too many inside each other.
// It does not call itself.
func bounded(doc *html.Node) error {
	n, depth := 0, 0
	for node := doc; node != nil; {
		if n++; n > 4*maxElements { // text counts, too
			return fmt.Errorf("the page has more than %d elements", maxElements)
		}
		if depth > maxDepth {
			return fmt.Errorf("the page has more than %d elements inside each other", maxDepth)
		}
		if node.FirstChild != nil {
			node = node.FirstChild
			depth++
			continue
		}
		for node != nil && node.NextSibling == nil {
			node = node.Parent
			depth--
		}
		if node != nil {
			node = node.NextSibling
		}
	}
	return nil
}
