package judges

import (
	"context"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	msg "github.com/deepgram/deepgram-go-sdk/v3/pkg/api/listen/v1/websocket/interfaces"
	"github.com/deepgram/deepgram-go-sdk/v3/pkg/client/interfaces"
	listen "github.com/deepgram/deepgram-go-sdk/v3/pkg/client/listen/v1/websocket"

	"github.com/glyphoxa/glyphoxa/engine/enginetest"
)

// told is what Deepgram's own client was told by our server.
type told struct {
	mu       sync.Mutex // guards what follows
	finals   []string
	finished chan struct{} // closed by the answer to Finalize
	odd      []string
}

func (c *told) Open(*msg.OpenResponse) error                   { return nil }
func (c *told) Metadata(*msg.MetadataResponse) error           { return nil }
func (c *told) SpeechStarted(*msg.SpeechStartedResponse) error { return nil }
func (c *told) UtteranceEnd(*msg.UtteranceEndResponse) error   { return nil }
func (c *told) Close(*msg.CloseResponse) error                 { return nil }

func (c *told) Message(m *msg.MessageResponse) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.IsFinal && len(m.Channel.Alternatives) > 0 {
		c.finals = append(c.finals, m.Channel.Alternatives[0].Transcript)
	}
	if m.FromFinalize {
		close(c.finished)
	}
	return nil
}

func (c *told) Error(e *msg.ErrorResponse) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.odd = append(c.odd, e.ErrCode+" "+e.ErrMsg+" "+e.Description)
	return nil
}

func (c *told) UnhandledEvent(b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !strings.Contains(string(b), "Mystery") { // ours, for clients that fall over what they do not know
		c.odd = append(c.odd, string(b))
	}
	return nil
}

// Deepgram's own client recognises with our server, and its Finalize is answered.
func TestDeepgramsClientListensWithOurServer(t *testing.T) {
	fake := &enginetest.Deepgram{Key: "hunter2", Transcribe: func(q url.Values) []string {
		if q.Get("keyterm") != "Greymantle" {
			return nil
		}
		return []string{"Greymantle,", "any", "rooms?"}
	}}
	server := httptest.NewServer(fake)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := &told{finished: make(chan struct{})}
	client, err := listen.NewUsingCallback(ctx, "hunter2", &interfaces.ClientOptions{Host: strings.Replace(server.URL, "http", "ws", 1)},
		&interfaces.LiveTranscriptionOptions{
			Model: "nova-3", Language: "en", Encoding: "linear16", SampleRate: 16000, Punctuate: true,
			InterimResults: true, Endpointing: "false", Keyterm: []string{"Greymantle"},
		}, c)
	if err != nil {
		t.Fatal(err)
	}
	if !client.Connect() {
		t.Fatal("Deepgram's client did not connect")
	}
	defer client.Finish()
	for range 20 {
		if _, err := client.Write(make([]byte, 3200)); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Finalize(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.finished:
	case <-ctx.Done():
		t.Fatal("Finalize was not answered")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if got := strings.Join(c.finals, " "); got != "Greymantle, any rooms?" || len(c.odd) > 0 {
		t.Errorf("heard %q; not understood: %q", got, c.odd)
	}
}
