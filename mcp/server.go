package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/auth"
	"github.com/glyphoxa/glyphoxa/mcp/jail"
	"github.com/glyphoxa/glyphoxa/mcp/link"
)

const (
	// connectTime is how long a server may take to start: package runners download
	// first.
	connectTime = 30 * time.Second
	listTime    = 10 * time.Second
	// calm is how long a server's announcements of changes are gathered after the
	// first, which is acted upon at once.
	calm = 250 * time.Millisecond
	// lookAgain is how often servers over HTTP are asked for their tools unasked:
	// that shows whether they are still there.
	lookAgain = time.Minute
)

// A ServerState is where a server is in its life.
type ServerState string

// The states of a server.
const (
	Connecting  ServerState = "connecting"
	Up          ServerState = "up"
	Down        ServerState = "down"         // will be tried again
	Off         ServerState = "off"          // broke too often; waits for somebody to ask
	OffDisabled ServerState = "switched off" // by the configuration
)

// A ServerStatus describes a server to people.
type ServerStatus struct {
	Name      string
	Transport string
	Category  Category
	State     ServerState
	// Error is why it is not up.
	Error string
	// Since is when it came into this state.
	Since time.Time
	// Version is what the server calls itself; Protocol what is spoken.
	Version, Protocol string
	// Confinement says what holds a child process.
	Confinement string
	// Tools is how many it offers, Blocked how many of them wait for approval or
	// cannot be used.
	Tools, Blocked int
	// Starts counts how often it was connected to.
	Starts  int
	Trusted bool
}

// A server is one configured server and the goroutine that keeps it connected.
type server struct {
	host  *Host
	cfg   ServerConfig
	print [32]byte // the configuration's fingerprint
	log   *slog.Logger

	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup
	tried  chan struct{} // closed after the first attempt
	look   chan struct{} // cap 1: the tools may have changed; more would say the same
	again  chan struct{} // cap 1: somebody asks for another try
	oauth  *auth.Client  // used by keep alone; nil until it is needed

	mu      sync.Mutex // guards the rest; taken after Host.mu, never before
	status  ServerStatus
	link    *link.Link
	entries []*entry
}

func (h *Host) newServer(c ServerConfig) *server {
	s := &server{
		host: h, cfg: c, print: c.fingerprint(), log: h.log.With("server", c.Name), cancel: func(error) {},
		tried: make(chan struct{}), look: make(chan struct{}, 1), again: make(chan struct{}, 1),
		status: ServerStatus{Name: c.Name, Transport: c.Transport, Category: c.category(), State: Connecting, Since: time.Now(), Trusted: c.Trusted},
	}
	if c.Disabled {
		s.status.State = OffDisabled
		close(s.tried)
	}
	return s
}

// stop ends the server and waits until it is gone.
func (s *server) stop() {
	s.cancel(errStopped)
	s.tasks.Wait()
}

var errStopped = errors.New("the server was stopped")

// keep holds the server connected until ctx ends.
func (s *server) keep(ctx context.Context) {
	var r restarts
	first := true
	defer func() {
		if s.oauth != nil {
			s.oauth.Close()
		}
	}()
	for ctx.Err() == nil {
		s.set(Connecting, nil)
		l, err := s.connect(ctx)
		if err == nil {
			s.begin(l)
			if err = s.refresh(ctx, l); err == nil {
				s.set(Up, nil)
			}
		}
		if first {
			close(s.tried)
			first = false
		}
		if err == nil {
			err = s.serve(ctx, l)
		}
		if l != nil {
			s.end()
			l.Close()
		}
		if ctx.Err() != nil {
			return
		}
		wait, giveUp := r.next(time.Now(), rand.Float64())
		giveUp = giveUp && s.cfg.Transport == Stdio
		if giveUp {
			s.set(Off, fmt.Errorf("%w (%d times in %v; `glyphoxa tools test %s` shows more)", err, tooOften, tooOftenFor, s.cfg.Name))
			s.log.Error("tool server is off: it went away too often", "err", err)
			select {
			case <-s.again:
				r = restarts{}
			case <-ctx.Done():
			}
			continue
		}
		s.set(Down, err)
		s.log.Warn("tool server is down", "err", err, "again", wait.Round(time.Millisecond))
		select {
		case <-time.After(wait):
		case <-s.again:
		case <-ctx.Done():
		}
	}
}

// connect makes one attempt.
func (s *server) connect(ctx context.Context) (*link.Link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTime, fmt.Errorf("no answer within %v", connectTime))
	defer cancel()
	o := link.Options{Version: s.host.version, Log: s.log, Era: s.cfg.Era, ToolsChanged: func() {
		select {
		case s.look <- struct{}{}:
		default: // a look is due already
		}
	}}
	var l *link.Link
	var err error
	if s.cfg.Transport == Stdio {
		l, err = s.command(ctx, o)
	} else {
		r := link.Remote{URL: s.cfg.URL, SSE: s.cfg.Transport == SSE, Bearer: s.cfg.Token, Plain: s.cfg.Insecure}
		if s.cfg.OAuth != nil {
			o.Extensions = append(o.Extensions, auth.Extension)
			if s.oauth == nil {
				s.oauth, err = auth.New(*s.cfg.OAuth, s.cfg.URL, s.scopes())
			}
			r.OAuth = s.oauth
		}
		if err == nil {
			l, err = link.HTTP(ctx, r, o)
		}
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return l, err
}

// scopes are those that any of the server's tools needs.
func (s *server) scopes() []string {
	var all []string
	for _, t := range s.cfg.Tools {
		all = append(all, t.RequiredScopes...)
	}
	return all
}

// command starts the child process in a directory of its own.
func (s *server) command(ctx context.Context, o link.Options) (*link.Link, error) {
	dir := filepath.Join(os.TempDir(), "glyphoxa-"+s.cfg.Name)
	if s.host.dir != "" {
		dir = filepath.Join(s.host.dir, "servers", s.cfg.Name)
	} else if d, err := os.MkdirTemp("", "glyphoxa-"+s.cfg.Name+"-"); err == nil {
		dir = d
		context.AfterFunc(s.host.ctx, func() { os.RemoveAll(d) })
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return link.Command(ctx, jail.Spec{
		Argv: s.cfg.Command, Env: s.cfg.env(), Dir: dir, Read: s.cfg.Read, Write: s.cfg.Write,
		Network: s.cfg.Network || s.cfg.category() != System, Open: s.cfg.Open,
		Stderr: logWriter{s.log},
	}, o)
}

// A logWriter puts what a server says on its standard error into the log.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	text, _ := cut(clean(string(p)), 500)
	w.log.Debug("server says", "text", text)
	return len(p), nil
}

// serve watches a connection until it or ctx ends, and says why.
func (s *server) serve(ctx context.Context, l *link.Link) error {
	s.host.calibrate(ctx, s)
	var quiet <-chan time.Time // set while changes are gathered
	due := false
	var regular <-chan time.Time
	if s.cfg.Transport != Stdio {
		t := time.NewTicker(lookAgain)
		defer t.Stop()
		regular = t.C
	}
	for {
		look := false
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.Done():
			return errors.New("the server went away")
		case <-s.look:
			if quiet == nil {
				look, quiet = true, time.After(calm)
			} else {
				due = true
			}
		case <-quiet:
			look, quiet = due, nil
			if due {
				quiet, due = time.After(calm), false
			}
		case <-regular:
			look = true
		case <-s.again: // it is up already
		}
		if look {
			if err := s.refresh(ctx, l); err != nil {
				return err
			}
		}
	}
}

// refresh lists the server's tools and puts them into the catalogue.
func (s *server) refresh(ctx context.Context, l *link.Link) error {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, fmt.Errorf("its tools were not listed within %v", listTime))
	defer cancel()
	tools, more, err := l.Tools(ctx)
	if err != nil {
		return fmt.Errorf("list tools: %w", err)
	}
	if more {
		s.log.Warn("server offers more tools than are taken", "taken", len(tools))
	}
	entries, err := s.adopt(tools, l)
	if err != nil {
		return err
	}
	blocked := 0
	for _, e := range entries {
		if e.block != "" {
			blocked++
		}
	}
	s.mu.Lock()
	s.entries = entries
	s.status.Tools, s.status.Blocked = len(entries), blocked
	s.mu.Unlock()
	s.host.rebuild()
	return nil
}

// begin notes a new connection.
func (s *server) begin(l *link.Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link = l
	s.status.Starts++
	s.status.Version = l.Name + " " + l.Version
	s.status.Protocol, s.status.Confinement = l.Protocol, l.Confinement
}

// end notes that the connection is over. The tools stay known, so that a belt can
// say why they are missing.
func (s *server) end() {
	s.mu.Lock()
	s.link = nil
	s.mu.Unlock()
}

func (s *server) set(state ServerState, err error) {
	s.mu.Lock()
	if s.status.State != state {
		s.status.State, s.status.Since = state, time.Now()
	}
	s.status.Error = ""
	if err != nil {
		s.status.Error, _ = cut(clean(err.Error()), 500)
	}
	s.mu.Unlock()
	s.host.rebuild()
}

// offers returns the server's tools as they stand: all blocked while it is away.
func (s *server) offers() []*entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.State == Up {
		return s.entries
	}
	why := fmt.Sprintf("its server %s is %s", s.cfg.Name, s.status.State)
	if s.status.Error != "" {
		why += ": " + s.status.Error
	}
	away := make([]*entry, 0, len(s.entries))
	for _, e := range s.entries {
		c := *e
		c.block = why
		away = append(away, &c)
	}
	return away
}

func (s *server) info() ServerStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// call runs a tool over the connection there is.
func (s *server) call(ctx context.Context, tool string, args json.RawMessage) (link.Answer, error) {
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l == nil {
		return link.Answer{}, link.ErrGone
	}
	return l.Call(ctx, tool, args)
}
