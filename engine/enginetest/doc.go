// Package enginetest has the vendors on loopback: servers that speak the vendors'
// wire formats, refuse what the vendors refuse, and fail in the ways the vendors
// fail, on request. Tests run the real clients against them; the offline table can
// too.
//
// A server is an [http.Handler]. What it answers is decided by functions of its
// user; how it misbehaves by [Faults], each for one request.
package enginetest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// A Fault is one way in which a vendor's answer goes wrong.
type Fault string

// Faults of any vendor, before the answer begins.
const (
	RateLimited Fault = "429 with Retry-After: 0"
	Overloaded  Fault = "503"
	BadKey      Fault = "401"
	Patience    Fault = "429 with Retry-After: 3600"
	Hang        Fault = "no answer at all"
	Drop        Fault = "the connection closes without an answer"
	WebPage     Fault = "200 with an HTML page"
)

// Faults is a queue of things to do wrong: each request takes the first. It is safe
// for concurrent use.
type Faults struct {
	mu    sync.Mutex // guards what follows
	queue []Fault
	seen  int
}

// Next lets the following requests fail, one each, in this order.
func (f *Faults) Next(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, faults...)
}

// Requests is how many requests there were.
func (f *Faults) Requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

func (f *Faults) take() Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen++
	if len(f.queue) == 0 {
		return ""
	}
	first := f.queue[0]
	f.queue = slices.Delete(f.queue, 0, 1)
	return first
}

// refuse does what the faults before an answer ask for, and reports whether one
// did.
func refuse(w http.ResponseWriter, r *http.Request, f Fault) bool {
	switch f {
	case RateLimited, Patience:
		wait := 0
		if f == Patience {
			wait = 3600
		}
		w.Header().Set("Retry-After", strconv.Itoa(wait))
		fail(w, http.StatusTooManyRequests, "rate_limit_exceeded", "Rate limit reached for requests")
	case Overloaded:
		fail(w, http.StatusServiceUnavailable, "server_error", "The engine is currently overloaded, please try again later")
	case BadKey:
		fail(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided")
	case Hang:
		// Only once the body has been read does a server notice that its client goes.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	case Drop:
		panic(http.ErrAbortHandler)
	case WebPage:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if _, err := w.Write([]byte("<!doctype html><title>Sign in to the hotel's Wi-Fi</title>")); err != nil {
			return true
		}
	default:
		return false
	}
	return true
}

// fail answers in the shape of OpenAI's errors.
func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	type inner struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	// The client may have gone; there is nobody to tell then.
	_ = json.NewEncoder(w).Encode(map[string]inner{"error": {Message: message, Type: "invalid_request_error", Code: code}})
}
