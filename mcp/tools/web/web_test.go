package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/egress"
)

// call runs a tool as the host does.
func call(t testing.TB, o Options, tool, args string) (string, error) {
	t.Helper()
	for _, b := range Tools(o) {
		if b.Name == tool {
			return b.Call(t.Context(), mcp.Caller{}, json.RawMessage(args))
		}
	}
	t.Fatalf("no tool %s", tool)
	return "", nil
}

// serve answers every request with h and says where.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// inside is a reader that may read from this machine, as an operator may allow.
func inside() *Reader { return NewReader([]string{"127.0.0.1"}) }

func TestBothEnginesGiveTheSameKindOfResult(t *testing.T) {
	want := []Found{
		{"Owlbear – a wiki", "https://owlbear.example/wiki", "An owlbear is part owl & part bear."},
		{"Second", "http://second.example/", "More."},
	}
	searx := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/search" || r.URL.Query().Get("q") != "what is an owlbear?" || r.URL.Query().Get("format") != "json" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"query":"what is an owlbear?","number_of_results":3,"results":[
			{"url":"https://owlbear.example/wiki","title":"Owlbear – a wiki","content":"An owlbear is part owl & part bear.","engine":"x","score":4.0},
			{"url":"javascript:alert(1)","title":"Bad","content":"x"},
			{"url":"http://second.example/","title":"Second","content":"More."},
			{"url":"https://third.example/","title":"Third","content":"Even more."}],"answers":[],"suggestions":[]}`)
	})
	brave := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Subscription-Token") != "the-key" {
			http.Error(w, `{"error":{}}`, http.StatusUnprocessableEntity)
			return
		}
		if r.URL.Path != "/res/v1/web/search" || r.URL.Query().Get("q") != "what is an owlbear?" || r.URL.Query().Get("count") != "2" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"type":"search","web":{"type":"search","results":[
			{"title":"Owlbear – a wiki","url":"https://owlbear.example/wiki","description":"An owlbear is part owl &amp; part bear."},
			{"title":"Second","url":"http://second.example/","description":"More."}]}}`)
	})
	for name, e := range map[string]Engine{"SearXNG": SearXNG{searx + "/"}, "Brave": Brave{"the-key", brave}} {
		out, err := call(t, Options{Engine: e}, "search", `{"query":" what is  an owlbear? ","limit":2}`)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got struct{ Results []Found }
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Results); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := call(t, Options{Engine: Brave{"wrong", brave}}, "search", `{"query":"x"}`); err == nil || !strings.Contains(err.Error(), "web.key") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong key: got %v, want it to name web.key and not the key", err)
	}
}

func TestEngineThatMisbehavesIsAnErrorThatSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"no json": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "settings.yml"},
		"a page":  {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello") }, "not the JSON"},
		"too often": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}, "wait 7 s"},
		"broken": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "502"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://example.com/", http.StatusFound)
		}, "redirects"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"results":[{"title":"`)
			for _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err == nil; _, err = io.WriteString(w, strings.Repeat("x", 64<<10)) {
			}
		}, "more than"},
	} {
		_, err := SearXNG{serve(t, c.answer)}.Search(t.Context(), "secret plans", 3)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error repeats the question: %v", name, err)
		}
	}
}

// story is a page as they are: the article among menus and scripts.
const story = `<!doctype html><html><head><title>The Owlbear</title><script>var spy = "script text";</script><style>p{color:red}</style></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop dice</a></li></ul></nav>
<article><h1>The Owlbear</h1><p>%s</p><p>It was made, some say, by a wizard who could not decide, and it has been angry about that ever since; hunters leave the woods when they hear it.</p>
<p>Its feathers are worth little, its eggs a great deal, and its temper is known in every village along the northern road.</p></article>
<aside class="advertisement">Buy now! Cheap swords!</aside><footer>Cookie notice and imprint</footer></body></html>`

func TestPageIsReadWithoutWhatIsAroundIt(t *testing.T) {
	const first = "An owlbear is a monster with the head of an owl and the body of a bear, and it hunts by night in old forests."
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/utf8":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, story, first+" Ärger!")
		case "/latin1":
			w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
			fmt.Fprintf(w, story, first+" \xc4rger!")
		case "/plain":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, first+" Ärger!")
		case "/moved":
			http.Redirect(w, r, "/utf8", http.StatusMovedPermanently)
		}
	})
	for _, path := range []string{"/utf8", "/latin1", "/plain", "/moved"} {
		p, err := inside().Read(t.Context(), at+path+"#part")
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if !strings.Contains(p.Text, first+" Ärger!") {
			t.Errorf("%s: the text is %q", path, p.Text)
		}
		for _, no := range []string{"Shop dice", "script text", "color", "Cheap swords", "Cookie", "<p>"} {
			if strings.Contains(p.Text, no) {
				t.Errorf("%s: the text holds %q: %q", path, no, p.Text)
			}
		}
		if want := at + "/utf8"; path == "/moved" && p.URL != want {
			t.Errorf("the page was at %s, want %s", p.URL, want)
		}
	}
}

func TestLongPageIsReadInPieces(t *testing.T) {
	long := strings.Repeat("Füchse jagen Mäuse. ", 1000)
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, long)
	})
	var got strings.Builder
	for offset := 0; ; {
		out, err := call(t, Options{Pages: inside()}, "fetch_page", fmt.Sprintf(`{"url":%q,"offset":%d}`, at, offset))
		if err != nil {
			t.Fatal(err)
		}
		var p struct {
			Text string
			Next int `json:"next_offset"`
		}
		if err := json.Unmarshal([]byte(out), &p); err != nil {
			t.Fatal(err)
		}
		got.WriteString(p.Text)
		if p.Next == 0 {
			break
		}
		offset = p.Next
	}
	if got.String() != long {
		t.Errorf("the pieces have %d bytes together, want %d", got.Len(), len(long))
	}
}

func TestHostilePagesAreRefusedOrCut(t *testing.T) {
	bomb := new(bytes.Buffer)
	z := gzip.NewWriter(bomb)
	zeros := []byte("<html><body>" + strings.Repeat("a ", 1<<19))
	for range 20 { // 20 MB
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		html := func(s string) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, s)
		}
		switch r.URL.Path {
		case "/pdf":
			w.Header().Set("Content-Type", "application/pdf")
			fmt.Fprint(w, "%PDF-1.7")
		case "/untyped":
			w.Header()["Content-Type"] = []string{""}
			fmt.Fprint(w, "hello")
		case "/empty":
			html("<html><body><script>render()</script></body></html>")
		case "/gone":
			http.NotFound(w, r)
		case "/deep":
			html(strings.Repeat("<div>", 5000) + "x")
		case "/formats":
			html(strings.Repeat("<b><p>", 20_000) + "x")
		case "/many":
			html(strings.Repeat("<p>x</p>", 100_000))
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/bomb":
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		case "/inward":
			http.Redirect(w, r, "https://169.254.169.254/latest/meta-data/", http.StatusFound)
		case "/head":
			w.Header().Set("X-Long", strings.Repeat("x", 128<<10))
		}
	})
	for path, want := range map[string]string{
		"/pdf": "no text", "/untyped": "what it is", "/empty": "no text on the page", "/gone": "404", "/many": "elements", "/deep": "elements", "/formats": "elements",
		"/loop": "redirects", "/inward": "public address", "/head": "",
	} {
		if p, err := inside().Read(t.Context(), at+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %d bytes and %v, want an error with %q", path, len(p.Text), err, want)
		}
	}
	if p, err := inside().Read(t.Context(), at+"/bomb"); err != nil || len(p.Text) > maxPage {
		t.Errorf("a compressed 20 MB: got %d bytes and %v, want at most %d", len(p.Text), err, maxPage)
	}
	if _, err := NewReader(nil).Read(t.Context(), at+"/utf8"); !errors.Is(err, egress.ErrRefused) {
		t.Errorf("a page inside that is not listed: got %v, want ErrRefused", err)
	}
}

func TestPageThatNeverEndsIsGivenUpWithTheTurn(t *testing.T) {
	gone := make(chan struct{})
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "wait for it")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if p, err := inside().Read(ctx, at); err == nil {
		t.Errorf("got %q", p.Text)
	}
	<-gone
}

func TestBadInputIsRefused(t *testing.T) {
	o := Options{Engine: SearXNG{"http://127.0.0.1:1"}, Pages: inside()}
	for _, c := range []struct{ tool, args, want string }{
		{"search", `{"query":"   "}`, "empty"},
		{"search", `{"query":"` + strings.Repeat("long ", 100) + `"}`, "allowed"},
		{"search", `{"query":1}`, "arguments"},
		{"fetch_page", `{"url":""}`, "no host"},
		{"fetch_page", `{"url":"not a page"}`, "no host"},
		{"fetch_page", `{"url":"file:///etc/passwd"}`, "no host"},
		{"fetch_page", `{"url":"http://example.com/"}`, "https"},
		{"fetch_page", `{"url":"https://a:b@example.com/"}`, "user name"},
		{"fetch_page", `{"url":"https://[::1"}`, "no address"},
		{"fetch_page", `{"url":"https://169.254.169.254/"}`, "public address"},
		{"fetch_page", `{"url":7}`, "arguments"},
	} {
		if _, err := call(t, o, c.tool, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s(%.60s): got %v, want an error with %q", c.tool, c.args, err, c.want)
		}
	}
}

func TestAnHourHasOnlySoManySearches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := allowance{most: 3}
		for i := range 5 {
			if err := a.take("searches", time.Now()); (err == nil) != (i < 3) {
				t.Errorf("search %d: %v", i+1, err)
			}
			time.Sleep(time.Minute)
		}
		time.Sleep(55 * time.Minute)
		if err := a.take("searches", time.Now()); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	})
}

func TestWithoutConfigurationTheToolsAreKnownAndOff(t *testing.T) {
	for _, b := range Tools(Options{}) {
		if b.Missing == "" || !b.HelpersOnly || !b.OpenWorld || !b.ReadOnly || b.Least != mcp.Deep {
			t.Errorf("%s: %+v", b.Name, b.Tool)
		}
	}
	for _, b := range Tools(Options{Engine: SearXNG{}, Pages: inside()}) {
		if b.Missing != "" {
			t.Errorf("%s misses %q", b.Name, b.Missing)
		}
	}
}

func FuzzArticle(f *testing.F) {
	f.Add(fmt.Appendf(nil, story, "hello"), "text/html; charset=utf-8")
	f.Add([]byte("<table><svg><b><template>x</b></table>"), "text/html")
	f.Add([]byte("\xff\xfeh\x00i\x00"), "text/html; charset=utf-16")
	at := &url.URL{Scheme: "https", Host: "example.com", Path: "/"}
	f.Fuzz(func(t *testing.T, body []byte, kind string) {
		if len(body) > 16<<10 {
			return
		}
		_, text, err := article(body, kind, at)
		if err == nil && len(text) > 64<<10 {
			t.Errorf("%d bytes of page made %d of text", len(body), len(text))
		}
	})
}
