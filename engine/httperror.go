package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// An HTTPError is a vendor's refusal.
type HTTPError struct {
	Status int
	// Message is the vendor's own words, cut to 300 bytes.
	Message string
	// RetryAfter is how long the vendor asks us to wait; 0 if it does not say.
	RetryAfter time.Duration
}

func (e *HTTPError) Error() string {
	hint := ""
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = " (check the API key)"
	case http.StatusNotFound:
		hint = " (check the URL and the model's name)"
	}
	return fmt.Sprintf("HTTP %d: %s%s", e.Status, e.Message, hint)
}

// Temporary reports whether the same request may succeed later.
func (e *HTTPError) Temporary() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return e.Status >= 500
}

// ReadHTTPError reads the error from an answer with another status than 200, in
// any of the vendors' shapes, at most 8 KiB of it. It leaves closing to the caller.
func ReadHTTPError(resp *http.Response) *HTTPError {
	const most = 8 << 10
	e := &HTTPError{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"))}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, most)) // what arrived is enough
	e.Message = VendorMessage(body)
	if e.Message == "" {
		e.Message = http.StatusText(resp.StatusCode)
	}
	return e
}

// VendorMessage finds the sentence in an error's JSON:
// {"error":{"message":…}} of OpenAI, Anthropic and Google, {"error":…} of Ollama,
// {"detail":…} of FastAPI and ElevenLabs, {"err_msg":…} of Deepgram.
func VendorMessage(body []byte) string {
	const most = 300
	text := strings.TrimSpace(string(body))
	var known struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message string          `json:"message"`
		ErrMsg  string          `json:"err_msg"`
	}
	if json.Unmarshal(body, &known) == nil {
		for _, raw := range []json.RawMessage{known.Error, known.Detail} {
			var inner struct {
				Message string `json:"message"`
			}
			var plain string
			if json.Unmarshal(raw, &inner) == nil && inner.Message != "" {
				text = inner.Message
			} else if json.Unmarshal(raw, &plain) == nil && plain != "" {
				text = plain
			}
		}
		if known.Message != "" {
			text = known.Message
		}
		if known.ErrMsg != "" {
			text = known.ErrMsg
		}
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// retryAfter reads the header: seconds, or a date.
func retryAfter(h string) time.Duration {
	const most = time.Hour
	if s, err := strconv.ParseFloat(h, 64); err == nil && s >= 0 {
		return time.Duration(min(s, most.Seconds()) * float64(time.Second))
	}
	if t, err := http.ParseTime(h); err == nil {
		return max(0, min(most, time.Until(t)))
	}
	return 0
}
