package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/trust"
)

// ErrClosed means that the host has been closed.
var ErrClosed = errors.New("the tool host is closed")

// saveEvery is how often measurements are written while the program runs.
const saveEvery = 5 * time.Minute

// Connect makes the given servers the ones that are connected: it starts those
// that are new or configured differently, ends those that are not listed, and
// leaves the others alone. It returns at once; servers connect on their own, so
// that a dead or silent one delays nobody. They are kept connected until ctx or
// the host ends. The error lists everything wrong with the configuration, and
// then nothing is changed.
func (h *Host) Connect(ctx context.Context, servers []ServerConfig) error {
	var errs []error
	listed := map[string]bool{}
	if len(servers) > maxServers {
		errs = append(errs, fmt.Errorf("%d servers, at most %d", len(servers), maxServers))
	}
	for _, c := range servers {
		errs = append(errs, c.Check())
		if listed[c.Name] {
			errs = append(errs, fmt.Errorf("server %q is there twice", c.Name))
		}
		listed[c.Name] = true
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	for name, s := range h.servers {
		if !listed[name] {
			h.dropLocked(s)
		}
	}
	for _, c := range servers {
		old := h.servers[c.Name]
		if old != nil && old.print == c.fingerprint() {
			continue
		}
		var gone <-chan struct{}
		if old != nil {
			gone = h.dropLocked(old)
		}
		h.startLocked(ctx, c, gone)
	}
	h.rebuildLocked()
	return nil
}

// startLocked starts a server once its predecessor, if there is one, has gone. The
// caller holds mu.
func (h *Host) startLocked(ctx context.Context, c ServerConfig, gone <-chan struct{}) {
	s := h.newServer(c)
	h.servers[c.Name] = s
	h.tidy.Do(func() { h.tasks.Go(h.tidyUp) })
	if c.Disabled {
		return
	}
	// Of the two contexts the earlier end counts.
	run, cancel := context.WithCancelCause(h.ctx)
	s.cancel = cancel
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	s.tasks.Go(func() {
		defer stop()
		if gone != nil {
			select {
			case <-gone:
			case <-run.Done():
			}
		}
		s.keep(run)
	})
}

// dropLocked ends a server and forgets it; gone is closed when it has ended. The
// caller holds mu.
func (h *Host) dropLocked(s *server) (gone <-chan struct{}) {
	delete(h.servers, s.cfg.Name)
	c := make(chan struct{})
	h.tasks.Go(func() {
		s.stop()
		close(c)
	})
	return c
}

// Ready waits until every server has been tried once, or ctx ends.
func (h *Host) Ready(ctx context.Context) error {
	for _, s := range h.list() {
		select {
		case <-s.tried:
		case <-ctx.Done():
			return fmt.Errorf("server %s: %w", s.cfg.Name, context.Cause(ctx))
		}
	}
	return nil
}

// list returns the servers by name.
func (h *Host) list() []*server {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []*server
	for _, s := range h.servers {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *server) int { return cmp.Compare(a.cfg.Name, b.cfg.Name) })
	return list
}

// Servers describes the servers, by name.
func (h *Host) Servers() []ServerStatus {
	var list []ServerStatus
	for _, s := range h.list() {
		list = append(list, s.info())
	}
	return list
}

// Restart asks for another try of a server that is down or off.
func (h *Host) Restart(name string) error {
	h.mu.Lock()
	s := h.servers[name]
	h.mu.Unlock()
	if s == nil {
		return fmt.Errorf("no server %q", name)
	}
	select {
	case s.again <- struct{}{}:
	default: // asked already
	}
	return nil
}

// Waiting lists the definitions that wait for an operator.
func (h *Host) Waiting() ([]trust.Waiting, error) { return h.pins.Waiting() }

// Trust agrees to what a server says about its tools now: one of them, or all that
// wait if tool is "". hash, if not "", must be that of what the operator was
// shown. by names the operator for the audit log.
func (h *Host) Trust(server, tool, hash, by string) error {
	done, err := h.pins.Approve(server, tool, hash)
	if err != nil {
		return err
	}
	for _, t := range done {
		h.record(CallRecord{Tool: publicName(server, t), Server: server, Outcome: Approved, By: by})
	}
	h.lookAgain(server)
	return nil
}

// lookAgain makes a server list its tools, or all servers if name is "".
func (h *Host) lookAgain(name string) {
	for _, s := range h.list() {
		if name != "" && s.cfg.Name != name {
			continue
		}
		select {
		case s.look <- struct{}{}:
		default: // it is about to
		}
	}
}

// tidyUp saves measurements now and then, and notices approvals given by another
// program, such as the command line, while this one runs.
func (h *Host) tidyUp() {
	watch := time.NewTicker(2 * time.Second)
	defer watch.Stop()
	save := time.NewTicker(saveEvery)
	defer save.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-watch.C:
			if h.pins.Changed() {
				h.lookAgain("")
			}
		case <-save.C:
			h.save()
		}
	}
}

func (h *Host) save() {
	if h.dir == "" {
		return
	}
	if err := h.saveMeters(); err != nil {
		h.log.Warn("measurements of tools were not saved", "err", err)
	}
}

// Close ends all connections and child processes and returns when they are gone,
// within 7 seconds. Calls that run end with an error.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	for _, s := range h.servers {
		h.dropLocked(s)
	}
	h.rebuildLocked()
	h.mu.Unlock()
	h.cancel(ErrClosed)
	h.tasks.Wait()
	h.save()
	return nil
}
