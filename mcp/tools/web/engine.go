package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds a search engine's answer; twenty results have 50 KiB.
const maxAnswer = 1 << 20

// SearXNG is a metasearch engine that one runs oneself. Its settings.yml must list
// json under search: formats.
type SearXNG struct {
	// Base is its address, such as http://localhost:8888.
	Base string
}

// Search implements [Engine].
func (s SearXNG) Search(ctx context.Context, query string, n int) ([]Found, error) {
	var out struct {
		Results []struct{ Title, URL, Content string }
	}
	at := strings.TrimSuffix(s.Base, "/") + "/search?" + url.Values{"q": {query}, "format": {"json"}}.Encode()
	err := ask(ctx, at, nil, &out)
	if se, ok := errors.AsType[*statusError](err); ok && se.code == http.StatusForbidden {
		err = fmt.Errorf("%w: does its settings.yml list json under search: formats?", err)
	}
	if err != nil {
		return nil, fmt.Errorf("SearXNG: %w", err)
	}
	var found []Found
	for _, r := range out.Results {
		if len(found) < n && readable(r.URL) {
			found = append(found, Found{r.Title, r.URL, r.Content})
		}
	}
	return found, nil
}

// Brave is Brave Search's web API.
type Brave struct {
	// Key is the subscription token.
	Key string
	// Base is another address than Brave's; "" is Brave's.
	Base string
}

// Search implements [Engine].
func (b Brave) Search(ctx context.Context, query string, n int) ([]Found, error) {
	var out struct {
		Web struct {
			Results []struct{ Title, URL, Description string }
		}
	}
	at := strings.TrimSuffix(cmp.Or(b.Base, "https://api.search.brave.com"), "/") + "/res/v1/web/search?" +
		url.Values{"q": {query}, "count": {strconv.Itoa(n)}, "text_decorations": {"false"}}.Encode()
	err := ask(ctx, at, http.Header{"X-Subscription-Token": {b.Key}}, &out)
	if se, ok := errors.AsType[*statusError](err); ok && (se.code == http.StatusUnauthorized || se.code == http.StatusUnprocessableEntity) {
		err = fmt.Errorf("%w: is web.key right?", err)
	}
	if err != nil {
		return nil, fmt.Errorf("the Brave search: %w", err)
	}
	var found []Found
	for _, r := range out.Web.Results {
		if len(found) < n && readable(r.URL) {
			found = append(found, Found{html.UnescapeString(r.Title), r.URL, html.UnescapeString(r.Description)})
		}
	}
	return found, nil
}

// readable keeps what a page could be read from.
func readable(at string) bool {
	u, err := url.Parse(at)
	return err == nil && len(at) <= 2048 && u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http")
}

// engines is the client for search engines: an operator chose their address, so
// they may be inside. Keys are not sent on.
var engines = &http.Client{
	Timeout:   10 * time.Second,
	Transport: &http.Transport{TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: 30 * time.Second, MaxIdleConns: 4},
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("it redirects: set its address to where it redirects to")
	},
}

// A statusError is an answer that is no result.
type statusError struct {
	code  int
	retry string
}

func (e *statusError) Error() string {
	switch {
	case e.code == http.StatusTooManyRequests && e.retry != "":
		return "too many searches; it asks to wait " + e.retry + " s"
	case e.code == http.StatusTooManyRequests:
		return "too many searches: wait a moment"
	}
	return fmt.Sprintf("answered %d %s", e.code, http.StatusText(e.code))
}

func ask(ctx context.Context, at string, head http.Header, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	maps.Copy(r.Header, head)
	r.Header.Set("Accept", "application/json")
	resp, err := engines.Do(r)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err // the address holds the question, which the caller knows
		}
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		wait := resp.Header.Get("Retry-After")
		if _, err := strconv.Atoi(wait); err != nil {
			wait = ""
		}
		return &statusError{resp.StatusCode, wait}
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("read its answer: %w", err)
	case len(b) > maxAnswer:
		return fmt.Errorf("its answer has more than %d bytes", maxAnswer)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("its answer is not the JSON of a search: %w", err)
	}
	return nil
}
