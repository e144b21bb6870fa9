package image

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/glyphoxa/glyphoxa/mcp"
)

func smallPNG(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// painter is a server of pictures that answers with answer.
func painter(t testing.TB, answer func(w http.ResponseWriter, ask map[string]any)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask map[string]any
		if r.Method != http.MethodPost || r.URL.Path != "/v1/images/generations" || json.NewDecoder(r.Body).Decode(&ask) != nil {
			http.NotFound(w, r)
			return
		}
		answer(w, ask)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

func give(w http.ResponseWriter, data []byte) {
	fmt.Fprintf(w, `{"created":1,"data":[{"b64_json":%q}]}`, base64.StdEncoding.EncodeToString(data))
}

// result is what a studio told when a picture was done.
type result struct {
	Picture
	err error
}

// studio is one whose pictures come over a channel.
func studio(t testing.TB, o Options) (*Studio, <-chan result) {
	t.Helper()
	done := make(chan result, 100)
	o.Done = func(p Picture, err error) { done <- result{p, err} }
	s := New(o)
	t.Cleanup(s.Close)
	return s, done
}

func ask(t testing.TB, s *Studio, session, args string) (string, error) {
	t.Helper()
	return s.Tools()[0].Call(t.Context(), mcp.Caller{Session: session, NPC: "painter"}, json.RawMessage(args))
}

func TestToolAnswersAtOnceAndThePictureComesLater(t *testing.T) {
	hold, want := make(chan struct{}), smallPNG(t)
	var got map[string]any
	url := painter(t, func(w http.ResponseWriter, ask map[string]any) {
		<-hold
		got = ask
		give(w, want)
	})
	s, done := studio(t, Options{Endpoint: &Endpoint{URL: url, Model: "sd-xl"}, Rules: "Nothing cruel."})
	out, err := ask(t, s, "one", `{"prompt":" A mill\n by a stream ","style":"woodcut"}`)
	if err != nil || !strings.Contains(out, "begun") {
		t.Fatalf("got %s, %v", out, err)
	}
	select {
	case <-done:
		t.Error("a picture was there before it was made")
	default:
	}
	close(hold)
	r := <-done
	if r.err != nil || !bytes.Equal(r.Data, want) || r.Type != "image/png" || r.Prompt != "A mill by a stream" || r.Caller.NPC != "painter" {
		t.Errorf("got %v bytes of %s for %q by %+v, %v", len(r.Data), r.Type, r.Prompt, r.Caller, r.err)
	}
	if p := got["prompt"]; p != "A mill by a stream\nStyle: woodcut\nNothing cruel." || got["model"] != "sd-xl" || got["n"] != 1.0 || got["response_format"] != "b64_json" {
		t.Errorf("the server was asked for %v", got)
	}
}

func TestServersOfEveryGenerationAreUnderstood(t *testing.T) {
	want := smallPNG(t)
	var at string
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the key was sent to where the picture lies")
		}
		_, _ = w.Write(want)
	}))
	defer files.Close()
	at = files.URL + "/picture.png"
	for name, c := range map[string]struct {
		model  string
		answer func(w http.ResponseWriter, ask map[string]any)
	}{
		"one that refuses response_format": {"new", func(w http.ResponseWriter, ask map[string]any) {
			if _, there := ask["response_format"]; there {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"error":{"message":"Unknown parameter: 'response_format'."}}`)
				return
			}
			give(w, want)
		}},
		"gpt-image": {"gpt-image-1", func(w http.ResponseWriter, ask map[string]any) {
			if _, there := ask["response_format"]; there {
				t.Error("gpt-image was asked for a response_format")
			}
			give(w, want)
		}},
		"one that gives an address of its own": {"old", func(w http.ResponseWriter, _ map[string]any) {
			fmt.Fprintf(w, `{"data":[{"url":%q,"revised_prompt":"x"}]}`, at)
		}},
	} {
		s, done := studio(t, Options{Endpoint: &Endpoint{URL: painter(t, c.answer), Model: c.model, Key: "the-key"}})
		if _, err := ask(t, s, "one", `{"prompt":"a mill"}`); err != nil {
			t.Fatal(err)
		}
		if r := <-done; r.err != nil || !bytes.Equal(r.Data, want) {
			t.Errorf("%s: got %d bytes, %v", name, len(r.Data), r.err)
		}
	}
}

func TestSessionCostsNoMoreThanAllowed(t *testing.T) {
	var asked atomic.Int64
	refuse := atomic.Bool{}
	url := painter(t, func(w http.ResponseWriter, _ map[string]any) {
		asked.Add(1)
		if refuse.Load() {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":"Your request was rejected by the safety system."}}`)
			return
		}
		give(w, smallPNG(t))
	})
	s, done := studio(t, Options{Endpoint: &Endpoint{URL: url}, Price: 0.04, Cap: 0.12})
	paint := func(session string) error {
		t.Helper()
		_, err := ask(t, s, session, `{"prompt":"a mill"}`)
		if err == nil {
			if r := <-done; r.err != nil && !refuse.Load() {
				t.Fatal(r.err)
			}
		}
		return err
	}
	refuse.Store(true)
	for range 5 { // what was refused costs nothing
		if err := paint("one"); err != nil {
			t.Fatal(err)
		}
	}
	refuse.Store(false)
	for range 3 {
		if err := paint("one"); err != nil {
			t.Fatal(err)
		}
	}
	if err := paint("one"); !errors.Is(err, ErrSpent) || !strings.Contains(err.Error(), "0.12") {
		t.Errorf("a fourth for 0.04 of 0.12: got %v, want ErrSpent", err)
	}
	if n := asked.Load(); n != 8 {
		t.Errorf("the server was asked %d times, want 8", n)
	}
	if err := paint("two"); err != nil {
		t.Errorf("the next session: %v", err)
	}
	for o, want := range map[*Options]string{{}: "image.url", {Endpoint: &Endpoint{}, Price: 0.04}: "image.cap", {Endpoint: &Endpoint{}}: "", {Endpoint: &Endpoint{}, Price: 1, Cap: 1}: ""} {
		if got := New(*o).Tools()[0].Missing; (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%+v misses %q, want %q", o, got, want)
		}
	}
}

func TestOnlyTwoPicturesAreMadeAtATimeAndClosingGivesThemUp(t *testing.T) {
	begun := make(chan struct{}, 9)
	hold := make(chan struct{})
	url := painter(t, func(http.ResponseWriter, map[string]any) { begun <- struct{}{}; <-hold })
	s, done := studio(t, Options{Endpoint: &Endpoint{URL: url}})
	for range atOnce {
		if _, err := ask(t, s, "one", `{"prompt":"a mill"}`); err != nil {
			t.Fatal(err)
		}
		<-begun
	}
	if _, err := ask(t, s, "one", `{"prompt":"a mill"}`); !errors.Is(err, ErrBusy) {
		t.Errorf("a third: got %v, want ErrBusy", err)
	}
	s.Close()
	close(hold)
	if len(done) != 0 {
		t.Errorf("a closed studio told of %d pictures", len(done))
	}
}

func TestWhatTheTableAgreedNeverToSeeIsNotAskedFor(t *testing.T) {
	url := painter(t, func(http.ResponseWriter, map[string]any) { t.Error("the server was asked") })
	s, _ := studio(t, Options{Endpoint: &Endpoint{URL: url}, Refuse: func(text string) string {
		if strings.Contains(text, "spider") {
			return "spiders"
		}
		return ""
	}})
	for _, args := range []string{`{"prompt":"a giant spider"}`, `{"prompt":"a cave","style":"full of spiders"}`} {
		if _, err := ask(t, s, "one", args); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "spiders") {
			t.Errorf("%s: got %v, want ErrRefused", args, err)
		}
	}
	for args, want := range map[string]string{
		`{"prompt":"  "}`: "empty", `{"prompt":1}`: "arguments", `{"prompt":"` + strings.Repeat("x", maxPrompt+1) + `"}`: "allowed",
		`{"prompt":"x","style":"` + strings.Repeat("x", maxStyle+1) + `"}`: "allowed",
	} {
		if _, err := ask(t, s, "one", args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v, want an error with %q", args, err, want)
		}
	}
}

// claiming is a PNG that says it has so many pixels.
func claiming(t testing.TB, w, h uint32) []byte {
	t.Helper()
	b := smallPNG(t)
	binary.BigEndian.PutUint32(b[16:], w)
	binary.BigEndian.PutUint32(b[20:], h)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

func TestWhatIsNoPictureIsRefusedWithAReason(t *testing.T) {
	webp := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), 0xff, 0xff, 0xff, 0x07, 0, 0)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a page":          {[]byte("<html><script>alert(1)</script>"), "no PNG"},
		"an svg":          {[]byte("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"), "no PNG"},
		"half a head":     {smallPNG(t)[:20], "no PNG"},
		"a bomb":          {claiming(t, 60000, 60000), "60000"},
		"a long bomb":     {claiming(t, 1, 1<<30), "pixels"},
		"a webp bomb":     {webp, "pixels"},
		"a webp of noise": {[]byte("RIFF....WEBPVP8 xxxxxxxxxxxxxxxxxxxx"), "no PNG"},
		"too many bytes":  {append(smallPNG(t), make([]byte, MaxPicture)...), "bytes"},
	} {
		if _, err := look(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	if media, err := look(b.Bytes()); err != nil || media != "image/jpeg" {
		t.Errorf("a JPEG: got %s, %v", media, err)
	}
}

func TestServerThatMisbehavesIsAnErrorThatSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, ask map[string]any)
		want   string
	}{
		"wrong key": {func(w http.ResponseWriter, _ map[string]any) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"message":"Incorrect API key: the-key"}}`)
		}, "image.key"},
		"no credit": {func(w http.ResponseWriter, _ map[string]any) { w.WriteHeader(http.StatusTooManyRequests) }, "credit"},
		"broken":    {func(w http.ResponseWriter, _ map[string]any) { w.WriteHeader(http.StatusBadGateway) }, "502"},
		"a page":    {func(w http.ResponseWriter, _ map[string]any) { fmt.Fprint(w, "<html>") }, "/v1"},
		"nothing":   {func(w http.ResponseWriter, _ map[string]any) { fmt.Fprint(w, `{"data":[{}]}`) }, "without a picture"},
		"no base64": {func(w http.ResponseWriter, _ map[string]any) { fmt.Fprint(w, `{"data":[{"b64_json":"%%%"}]}`) }, "base64"},
		"a script":  {func(w http.ResponseWriter, _ map[string]any) { give(w, []byte("<svg onload=x>")) }, "no PNG"},
		"from inside": {func(w http.ResponseWriter, _ map[string]any) {
			fmt.Fprint(w, `{"data":[{"url":"http://169.254.169.254/x"}]}`)
		}, "https"},
		"elsewhere": {func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Location", "https://example.com")
			w.WriteHeader(http.StatusFound)
		}, "302"},
		"endless": {func(w http.ResponseWriter, _ map[string]any) {
			part := bytes.Repeat([]byte("A"), 1<<20)
			for _, err := w.Write(part); err == nil; _, err = w.Write(part) {
			}
		}, "more than"},
	} {
		s, done := studio(t, Options{Endpoint: &Endpoint{URL: painter(t, c.answer), Key: "the-key"}})
		if _, err := ask(t, s, "one", `{"prompt":"a mill"}`); err != nil {
			t.Fatal(err)
		}
		if r := <-done; r.err == nil || !strings.Contains(r.err.Error(), c.want) || strings.Contains(r.err.Error(), "the-key") {
			t.Errorf("%s: got %v, want an error with %q and without the key", name, r.err, c.want)
		}
	}
	s, done := studio(t, Options{Endpoint: &Endpoint{URL: "http://127.0.0.1:1"}})
	if _, err := ask(t, s, "one", `{"prompt":"a mill"}`); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.err == nil || !strings.Contains(r.err.Error(), "cannot be reached") {
		t.Errorf("no server: got %v", r.err)
	}
}

func FuzzLook(f *testing.F) {
	f.Add(smallPNG(f))
	f.Add(claiming(f, 1<<31, 7))
	f.Add([]byte("RIFF....WEBPVP8L....\x2f............"))
	f.Add([]byte("\xff\xd8\xff\xe0\x00\x10JFIF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		media, err := look(data)
		if err == nil && media != "image/png" && media != "image/jpeg" && media != "image/webp" {
			t.Errorf("a picture of type %q", media)
		}
	})
}
