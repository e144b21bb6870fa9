package stt

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

func scribe(t testing.TB, server *enginetest.Scribe) *Scribe {
	t.Helper()
	server.Key = "hunter2"
	s, err := NewScribe(ScribeOptions{URL: "http://vendor", Key: secret.New("hunter2"), Client: enginetest.Client(server)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScribeHearsTheWholeUtterance(t *testing.T) {
	for _, fault := range []enginetest.Fault{"", enginetest.NoLastWord} {
		synctest.Test(t, func(t *testing.T) {
			var heard pcm.Chunk
			var query url.Values
			server := &enginetest.Scribe{Transcribe: func(q url.Values, c pcm.Chunk) string {
				heard, query = c, q
				return said
			}}
			server.Next(fault)
			sound := humming(1990 * time.Millisecond) // not a whole number of messages
			got, err := hear(t, scribe(t, server), engine.Hearing{Language: "en-GB", Terms: []string{"Bartok", "a name that is far too long"}}, sound)
			if err != nil || got != said {
				t.Errorf("heard %q, %v", got, err)
			}
			synctest.Wait() // for the server, whose words have just been heard
			if !slices.Equal(heard.Samples, sound[:len(sound)/pcm.HearSize*pcm.HearSize]) {
				t.Errorf("the vendor heard %v", heard.Duration())
			}
			if query.Get("language_code") != "en" || !slices.Equal(query["keyterms"], []string{"Bartok"}) {
				t.Errorf("asked %v", query)
			}
		})
	}
}

func TestWhatIsTooShortForScribeIsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &enginetest.Scribe{Transcribe: func(url.Values, pcm.Chunk) string { return "hm" }}
		if got, err := hear(t, scribe(t, server), engine.Hearing{}, humming(200*time.Millisecond)); err != nil || got != "" {
			t.Errorf("heard %q, %v", got, err)
		}
	})
}

func TestScribesFaultsAreErrorsInWords(t *testing.T) {
	for fault, want := range map[enginetest.Fault]string{
		enginetest.BadKey: "check the API key", enginetest.HangUp: "hung up: Internal error", enginetest.ErrorEnd: "all of your credits (quota_exceeded)",
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &enginetest.Scribe{}
			server.Next(fault)
			if _, err := hear(t, scribe(t, server), engine.Hearing{}, humming(2*time.Second)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", fault, err, want)
			}
		})
	}
}
