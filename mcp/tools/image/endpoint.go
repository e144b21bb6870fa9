package image

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/egress"
)

const (
	// MaxPicture is the largest file that is taken: what Discord takes from a bot,
	// with room to spare.
	MaxPicture = 8 << 20
	// maxAnswer holds one in base64, with what stands around it.
	maxAnswer = MaxPicture/3*4 + 64<<10
)

// An Endpoint is a server with OpenAI's images API.
type Endpoint struct {
	// URL is its base, such as https://api.openai.com/v1 or http://localhost:7860/v1.
	URL string
	// Key is sent as a bearer token; "" sends none.
	Key string
	// Model is the server's name of the model; "" leaves it to the server.
	Model string
	// Size is such as 1024x1024, which "" means.
	Size string
}

// A refusal is an error of a server that has made no picture.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "the server of pictures refused the key: is image.key right? It said: " + r.text
	case http.StatusTooManyRequests:
		return "the server of pictures is asked too often, or its credit is used up: " + r.text
	case 0:
		return "the server of pictures cannot be reached: " + r.text
	}
	return fmt.Sprintf("the server of pictures answered %d: %s", r.status, r.text)
}

// paint asks for one picture and returns its file.
func (e *Endpoint) paint(ctx context.Context, prompt string) ([]byte, error) {
	ask := map[string]any{"prompt": prompt, "n": 1, "size": cmp.Or(e.Size, "1024x1024")}
	if e.Model != "" {
		ask["model"] = e.Model
	}
	// Older models give addresses unless asked not to; newer ones refuse to be asked.
	if !strings.HasPrefix(e.Model, "gpt-image") {
		ask["response_format"] = "b64_json"
	}
	out, err := e.post(ctx, ask)
	if r, ok := errors.AsType[*refusal](err); ok && r.status == http.StatusBadRequest && strings.Contains(r.text, "response_format") {
		delete(ask, "response_format")
		out, err = e.post(ctx, ask)
	}
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data []struct {
			B64 string `json:"b64_json"`
			URL string `json:"url"`
		} `json:"data"`
	}
	if err := json.Unmarshal(out, &answer); err != nil || len(answer.Data) == 0 {
		return nil, errors.New("the server of pictures gave an answer without a picture: does image.url end in /v1?")
	}
	switch d := answer.Data[0]; {
	case d.B64 != "":
		data, err := base64.StdEncoding.DecodeString(d.B64)
		if err != nil {
			return nil, fmt.Errorf("the picture is not base64: %w", err)
		}
		return data, nil
	case d.URL != "":
		return e.fetch(ctx, d.URL)
	}
	return nil, errors.New("the server of pictures gave an answer without a picture")
}

// client is for the endpoint, which an operator configured. The key is not sent on
// to where it redirects.
var client = &http.Client{
	Transport:     &http.Transport{TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: 30 * time.Second, MaxIdleConns: 4},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (e *Endpoint) post(ctx context.Context, ask map[string]any) ([]byte, error) {
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(e.URL, "/")+"/images/generations", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if e.Key != "" {
		r.Header.Set("Authorization", "Bearer "+e.Key)
	}
	resp, err := client.Do(r)
	if err != nil {
		if ctx.Err() == nil && strings.Contains(err.Error(), "dial") { // nothing was asked for yet
			return nil, &refusal{0, err.Error()}
		}
		return nil, fmt.Errorf("ask for a picture: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		if err != nil {
			return nil, fmt.Errorf("ask for a picture: %w", err)
		}
		if resp.StatusCode >= 500 { // it may have been made all the same
			return nil, fmt.Errorf("the server of pictures answered %d: %s", resp.StatusCode, e.reason(b))
		}
		return nil, &refusal{resp.StatusCode, e.reason(b)}
	}
	return limited(resp.Body, maxAnswer)
}

// reason is what a server says went wrong, without the key that it may repeat.
func (e *Endpoint) reason(b []byte) string {
	var known struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	text := string(b)
	if json.Unmarshal(b, &known) == nil && known.Error.Message != "" {
		text = known.Error.Message
	}
	if e.Key != "" {
		text = strings.ReplaceAll(text, e.Key, "[secret]")
	}
	text = oneLine(text)
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + " …"
	}
	return text
}

// fetch gets a picture from where the server says it lies: somewhere public, or on
// the server itself. No key is sent there.
func (e *Endpoint) fetch(ctx context.Context, at string) ([]byte, error) {
	var own []string
	if u, err := url.Parse(e.URL); err == nil {
		own = append(own, u.Hostname())
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, errors.New("the address of the picture is none")
	}
	resp, err := egress.Client(egress.Options{Hosts: own}).Do(r)
	if err != nil {
		return nil, fmt.Errorf("get the picture: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get the picture: answered %d", resp.StatusCode)
	}
	return limited(resp.Body, MaxPicture)
}

func limited(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the picture broke off: %w", err)
	case int64(len(b)) > most:
		return nil, fmt.Errorf("the answer has more than %d bytes", most)
	}
	return b, nil
}
