package llm

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
)

// The ways in which vendors' answers go wrong, by their numbers, and what a turn has
// of them: all of the answer, or an error without a word said twice.
func TestFaultsOfChat(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    enginetest.Fault
		want     string // of the error; "" for the whole answer
		requests int
	}{
		{"F1 unknown fields and events", enginetest.Unknown, "", 1},
		{"F2 one line of 8 MB", enginetest.HugeLine, "a line of over", 1},
		{"F4 no bytes though the connection stands", enginetest.StallStream, "fell silent", 1},
		{"F5 closed in the middle", enginetest.CutStream, "unexpected EOF", 1},
		{"F15 429 with Retry-After", enginetest.RateLimited, "", 2},
		{"F15 503", enginetest.Overloaded, "", 2},
		{"F15 401", enginetest.BadKey, "check the API key", 1},
		{"F16 no line end after the last word", enginetest.NoLastNewline, "", 1},
		{"F16 no [DONE]", enginetest.NoDone, "", 1},
		{"F16 400 comments first", enginetest.KeepAlives, "", 1},
		{"F16 an error in the stream", enginetest.ErrorInStream, "ran out of memory", 1},
		{"F16 byte order mark and CRLF", enginetest.BOMAndCRLF, "", 1},
		{"F17 arguments of 2 MB", enginetest.HugeArguments, "a line of over", 1},
		{"F20 no usage", enginetest.NoUsage, "", 1},
		{"F20 usage twice", enginetest.TwiceUsage, "", 1},
		{"R20 429 with a Retry-After of an hour", enginetest.Patience, "HTTP 429", 1},
		{"R21 not JSON", enginetest.BrokenChunk, "unexpected end of JSON", 1},
		{"R21 a page instead of a stream", enginetest.WebPage, "text/html", 2},
		{"R21 an answer without end", enginetest.Endless, "an answer of over 16 KB", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &enginetest.OpenAI{Chat: func(enginetest.ChatRequest) enginetest.Answer { return two() }}
				if server.Next(c.fault); c.want != "" {
					server.Next(c.fault)
				}
				got, err := collect(t.Context(), model(t, server, OpenAIOptions{}), asked())
				switch {
				case c.want == "" && (err != nil || got.Text != two().Text || len(got.Calls) != 2):
					t.Errorf("got %+v, %v", got, err)
				case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
					t.Errorf("got %v, want %q", err, c.want)
				}
				if n := server.Requests(); n != c.requests && c.fault != enginetest.HugeLine && c.fault != enginetest.HugeArguments {
					t.Errorf("%d requests, want %d", n, c.requests)
				}
			})
		})
	}
}

// slowLoris sends a byte a second.
type slowLoris struct{}

func (slowLoris) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for range 600 {
		if _, err := w.Write([]byte(":")); err != nil {
			return
		}
		select {
		case <-time.After(time.Second):
		case <-r.Context().Done():
			return
		}
	}
}

func TestR23AServerThatDripsIsLeftForTheNextModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := NewOpenAI(OpenAIOptions{URL: "http://vendor/v1", Model: "fake", Client: enginetest.Client(slowLoris{})})
		if err != nil {
			t.Fatal(err)
		}
		spare := model(t, &enginetest.OpenAI{Chat: func(enginetest.ChatRequest) enginetest.Answer { return enginetest.Answer{Text: "I am here."} }}, OpenAIOptions{})
		var fell error
		start := time.Now()
		got, err := collect(t.Context(), engine.NewLadder(3*time.Second, func(_ engine.Model, err error) { fell = err }, m, spare), asked())
		if err != nil || got.Text != "I am here." || time.Since(start) > 3500*time.Millisecond || fell == nil {
			t.Errorf("%q after %v (%v), told %v", got.Text, time.Since(start), err, fell)
		}
	})
}

func TestR20NoRequestIsMadeBeforeTheVendorAllowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[string]time.Duration{"1": time.Second, "": 50 * time.Millisecond} {
			n, began, second := 0, time.Now(), time.Time{}
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if n++; n == 2 {
					second = time.Now()
				}
				if after != "" {
					w.Header().Set("Retry-After", after)
				}
				w.WriteHeader(http.StatusTooManyRequests)
			})
			m, err := NewOpenAI(OpenAIOptions{URL: "http://vendor/v1", Model: "fake", Client: enginetest.Client(h)})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err = collect(ctx, m, asked())
			cancel()
			refused, ok := errors.AsType[*engine.HTTPError](err)
			if n != 2 || !ok || refused.Status != http.StatusTooManyRequests || second.Sub(began) < want {
				t.Errorf("Retry-After %q: %d requests, the second after %v, %v", after, n, second.Sub(began), err)
			}
		}
	})
}
