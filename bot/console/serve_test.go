package console_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/bot/console"
)

// patience is how long a test waits for what must happen; passing tests never do.
const patience = 10 * time.Second

// A visitor is a browser without a screen: it keeps cookies and knows the token
// of the page it has loaded.
type visitor struct {
	t      testing.TB
	base   string
	client *http.Client
	token  string
}

// house serves a tavern.
type house struct {
	t       testing.TB
	tavern  *tavern
	console *console.Console
	base    string
}

func open(t testing.TB, table console.Table, o console.Options) *house {
	t.Helper()
	c := console.New(table, o)
	srv := httptest.NewServer(c)
	t.Cleanup(func() { c.Close(); srv.Close() })
	h := &house{t: t, console: c, base: srv.URL}
	h.tavern, _ = table.(*tavern)
	return h
}

// visitor comes with the cookies of nobody.
func (h *house) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return &visitor{t: h.t, base: h.base, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

var metaToken = regexp.MustCompile(`X-Table-Token&#34;:&#34;([A-Z2-7]+)&#34;`)

// guest comes in by a link of that role and loads the page.
func (h *house) guest(role console.Role, name string) *visitor {
	h.t.Helper()
	v := h.visitor()
	status, body := v.get(strings.TrimPrefix(h.console.Link(h.base, role, name), h.base))
	if status != http.StatusOK {
		h.t.Fatalf("login answered %d: %s", status, body)
	}
	v.load()
	return v
}

func (v *visitor) load() string {
	v.t.Helper()
	status, body := v.get("/")
	if status != http.StatusOK {
		v.t.Fatalf("the table answered %d: %s", status, body)
	}
	m := metaToken.FindStringSubmatch(body)
	if m == nil {
		v.t.Fatalf("the page has no token: %.400s", body)
	}
	v.token = m[1]
	return body
}

func (v *visitor) get(path string) (int, string) {
	v.t.Helper()
	return v.send(http.MethodGet, path, nil, nil)
}

// do presses a button.
func (v *visitor) do(action string, fields ...string) (int, string) {
	v.t.Helper()
	f := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		f.Set(fields[i], fields[i+1])
	}
	return v.send(http.MethodPost, "/do/"+action, strings.NewReader(f.Encode()), http.Header{"X-Table-Token": {v.token}})
}

func (v *visitor) send(method, path string, body io.Reader, h http.Header) (int, string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for k, values := range h {
		if k == "Host" {
			r.Host = values[0]
			continue
		}
		r.Header[k] = values
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// A news is one event as a browser's EventSource understands it.
type news struct{ id, name, data string }

// A feed is one open event stream.
type feed struct {
	t    testing.TB
	stop context.CancelFunc
	news chan news // closed when the stream ends
	last string    // id of the last event, as a browser remembers it
}

// follow opens the stream; lastID is what a browser that comes back sends.
func (v *visitor) follow(after uint64, lastID string) *feed {
	v.t.Helper()
	ctx, cancel := context.WithCancel(v.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/events?after=%d", v.base, after), nil)
	if err != nil {
		v.t.Fatal(err)
	}
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		v.t.Fatalf("the stream answered %d", res.StatusCode)
	}
	f := &feed{t: v.t, stop: cancel, news: make(chan news)}
	done := make(chan struct{})
	v.t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		defer close(f.news)
		parse(ctx, res.Body, f.news)
	}()
	return f
}

// parse reads a stream by the rules of the HTML standard, section 9.2.6.
func parse(ctx context.Context, r io.Reader, out chan<- news) {
	var n news
	var data []string
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		field, value, _ := strings.Cut(s.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			n.id = value
		case "event":
			n.name = value
		case "data":
			data = append(data, value)
		case "":
			if data != nil {
				n.data = strings.Join(data, "\n")
				select {
				case out <- n:
				case <-ctx.Done():
					return
				}
			}
			n, data = news{}, nil
		}
	}
}

// next is the next event of one of those names.
func (f *feed) next(names ...string) news {
	f.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case n, ok := <-f.news:
			if !ok {
				f.t.Fatalf("the stream ended before %v", names)
			}
			if n.id != "" {
				f.last = n.id
			}
			if slices.Contains(names, n.name) {
				return n
			}
		case <-limit:
			f.t.Fatalf("no %v within %v", names, patience)
		}
	}
}

// until waits for what must become true.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.After(patience); !ok(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}
