//go:build interop

// Package interop is a call between our bot and players on discord.js's own
// voice package with its own encryption library. It needs Node and `npm ci` in
// this folder; run it with `go test -tags interop`.
package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// A node is a process in which people and bots run on discord.js.
type node struct {
	t  *testing.T
	in *json.Encoder

	eventsMu sync.Mutex // guards events
	events   []event
}

type request struct {
	Op       string   `json:"op"`
	User     string   `json:"user"`
	From     string   `json:"from,omitempty"`
	Guild    string   `json:"guild,omitempty"`
	Channel  string   `json:"channel,omitempty"`
	Session  string   `json:"session,omitempty"`
	Token    string   `json:"token,omitempty"`
	Endpoint string   `json:"endpoint,omitempty"`
	API      string   `json:"api,omitempty"`
	Packets  []string `json:"packets,omitempty"`
}

type event struct {
	Event, User, From, Text string
	Packets                 []string
}

// startNode starts one that trusts a voice server's certificate.
func startNode(t *testing.T, certificate []byte) *node {
	t.Helper()
	pem := filepath.Join(t.TempDir(), "voicetest.pem")
	if err := os.WriteFile(pem, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "player.mjs")
	cmd.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+pem)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, in: json.NewEncoder(in)}
	var reader sync.WaitGroup
	reader.Go(func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<22)
		for lines.Scan() {
			var e event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Errorf("%v: %s", err, lines.Bytes())
				return
			}
			n.eventsMu.Lock()
			n.events = append(n.events, e)
			n.eventsMu.Unlock()
		}
	})
	t.Cleanup(func() {
		in.Close()
		reader.Wait()
		_ = cmd.Wait() // killed if it does not end by itself
	})
	return n
}

func (n *node) ask(q request) {
	n.t.Helper()
	if err := n.in.Encode(q); err != nil {
		n.t.Fatal(err)
	}
}

// wait waits until something holds.
func (n *node) wait(what string, holds func() bool) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			n.t.Fatalf("never came: %s", what)
		}
	}
}

// event waits for an event of a user's program and takes it.
func (n *node) event(name string, user uint64) (found event) {
	n.t.Helper()
	n.wait(fmt.Sprintf("%s of %d", name, user), func() bool {
		n.eventsMu.Lock()
		defer n.eventsMu.Unlock()
		for i, e := range n.events {
			if e.Event == "error" {
				n.t.Fatalf("player %s: %s", e.User, e.Text)
			}
			if e.Event == name && e.User == id(user) {
				found = e
				n.events = append(n.events[:i], n.events[i+1:]...)
				return true
			}
		}
		return false
	})
	return found
}
