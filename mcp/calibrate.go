package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/gauge"
)

// calibrate measures a server's tools about whose speed too little is known, if
// the configuration asks for it. It calls nothing but tools that are known to be
// harmless, with arguments that the operator gave or, where a tool needs none,
// with none: anything else could buy a picture or start the music. What a tool
// refuses says nothing about its speed and ends its measurement.
func (h *Host) calibrate(ctx context.Context, s *server) {
	if !s.cfg.Calibrate {
		return
	}
	s.mu.Lock()
	entries := s.entries
	s.mu.Unlock()
	s.tasks.Go(func() {
		for _, e := range entries {
			args, ok := e.harmlessCall()
			if !ok {
				continue
			}
			fresh := *e
			fresh.Cache = 0 // an answer from the cache measures the cache
			for range gauge.Enough {
				if _, known := e.level(); known || ctx.Err() != nil {
					break
				}
				if r := h.run(ctx, &fresh, Caller{}, Deep, args, time.Now()); r.Err != nil {
					break
				}
			}
		}
	})
}

// harmlessCall returns arguments to measure the tool with, if that is allowed.
func (e *entry) harmlessCall() (json.RawMessage, bool) {
	if e.block != "" || !e.ReadOnly && !e.Idempotent {
		return nil, false
	}
	args := e.probe
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	checked, err := e.args.check(args)
	return checked, err == nil
}

func (e *entry) level() (int, bool) {
	e.meter.mu.Lock()
	defer e.meter.mu.Unlock()
	return e.meter.gauge.Level()
}
