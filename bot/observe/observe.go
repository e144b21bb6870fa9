// Package observe tells the outside world how a table is doing: counters and
// timings for Prometheus, and a trace of each turn for OpenTelemetry.
//
// It follows a table's events like any page does, at its own pace. A collector
// that is slow, or gone, costs the table nothing: turns wait for nobody who
// watches, and what an observer misses is lost to it alone. Spans are made when a
// turn has ended, with the times at which its stages happened:
//
//	turn bartok ─┬─ hear        end of speech → recognised
//	             ├─ route       → who is meant, which tier, which tools
//	             ├─ brief       → what the model is told
//	             ├─ think       → the model's first word
//	             ├─ sentence    → its first whole sentence
//	             ├─ synthesise  → the first sound
//	             ├─ speak       → the last sound
//	             └─ tool roll   one for each call, side by side
//
// Nothing that was said is in a metric or a span: names of NPCs, tools and models
// are, and how long and how much.
package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/glyphoxa/glyphoxa/bot"
)

// Options say where to.
type Options struct {
	// Metrics is the address on which Prometheus finds /metrics, such as
	// "127.0.0.1:9464"; "" serves none.
	Metrics string
	// Traces is the base address of an OTLP/HTTP collector, such as
	// "http://localhost:4318"; "" sends none.
	Traces string
	// Warn is told of what could not be sent or served. Nil drops that.
	Warn func(error)
}

// An Observer collects from any number of tables.
type Observer struct {
	meters   *meters
	tracing  *trace.TracerProvider // nil without a collector
	server   *http.Server          // nil without an address
	listener net.Listener
}

// A Table is what is watched; *bot.Table is one.
type Table interface {
	Events(ctx context.Context, after uint64) iter.Seq[bot.Event]
}

// New starts serving metrics and connects to the collector when there is something
// to send. The error says which address is wrong.
func New(ctx context.Context, o Options) (*Observer, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	w := &Observer{meters: newMeters(registry)}
	if o.Traces != "" {
		exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(o.Traces+"/v1/traces"))
		if err != nil {
			return nil, fmt.Errorf("send traces to %s: %w", o.Traces, err)
		}
		w.tracing = trace.NewTracerProvider(
			trace.WithBatcher(quiet{exporter, o.Warn}),
			trace.WithResource(resource.NewSchemaless(attribute.String("service.name", "glyphoxa"))),
		)
	}
	if o.Metrics != "" {
		var err error
		if w.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", o.Metrics); err != nil {
			return nil, fmt.Errorf("serve metrics: %w; change observe.metrics in the configuration", err)
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
		w.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
		go func() {
			if err := w.server.Serve(w.listener); !errors.Is(err, http.ErrServerClosed) && o.Warn != nil {
				o.Warn(fmt.Errorf("serve metrics: %w", err))
			}
		}()
	}
	return w, nil
}

// Addr is where metrics are served, for addresses with port 0; "" if nowhere.
func (w *Observer) Addr() string {
	if w.listener == nil {
		return ""
	}
	return w.listener.Addr().String()
}

// Follow watches a table until ctx or the table ends. name tells tables apart; for
// Discord it is the server's id.
func (w *Observer) Follow(ctx context.Context, t Table, name string) {
	name = cmp.Or(name, "local")
	w.meters.tables.Inc()
	defer w.meters.tables.Dec()
	calls := map[uint64][]bot.Tool{} // of turns that have not ended
	for e := range t.Events(ctx, 0) {
		w.meters.count(name, e)
		switch {
		case e.Tool != nil && e.Tool.Done:
			calls[e.Tool.Turn] = append(calls[e.Tool.Turn], *e.Tool)
		case e.Turn != nil && e.Turn.Done:
			if w.tracing != nil {
				w.trace(ctx, name, e.At, *e.Turn, calls[e.Turn.ID])
			}
			// Turns end in their order: what is older has ended or never will.
			for id := range calls {
				if id <= e.Turn.ID {
					delete(calls, id)
				}
			}
		}
	}
}

// Close sends what is left, for at most five seconds. Nobody watching, a nil
// Observer, has nothing to send.
func (w *Observer) Close(ctx context.Context) error {
	if w == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	var errs []error
	if w.tracing != nil {
		errs = append(errs, w.tracing.Shutdown(ctx))
	}
	if w.server != nil {
		errs = append(errs, w.server.Shutdown(ctx))
	}
	return errors.Join(errs...)
}

// quiet tells of traces that could not be sent once, until they can be again,
// instead of every five seconds.
type quiet struct {
	trace.SpanExporter
	warn func(error)
}

func (q quiet) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, spans)
	if err != nil && q.warn != nil {
		q.warn(fmt.Errorf("send traces: %w", err))
	}
	return nil // what was not sent is dropped; there is nobody else to tell
}
