package observe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/glyphoxa/glyphoxa/bot"
)

// A stage is a part of a turn, from the end of the one before.
type stage struct {
	name string
	end  time.Duration // since the player had finished; 0 if it did not happen
}

func stages(t bot.Turn) []stage {
	s := []stage{
		{"hear", t.Heard}, {"route", t.Routed}, {"brief", t.Briefed}, {"think", t.FirstToken},
		{"sentence", t.FirstSentence}, {"synthesise", t.FirstSound},
	}
	if t.FirstSound > 0 {
		s = append(s, stage{"speak", t.Ended})
	}
	return s
}

// trace makes the spans of a turn that ended at the given time.
func (w *Observer) trace(ctx context.Context, table string, ended time.Time, t bot.Turn, calls []bot.Tool) {
	tracer := w.tracing.Tracer("github.com/glyphoxa/glyphoxa")
	began := ended.Add(-t.Ended)
	ctx, turn := tracer.Start(ctx, "turn "+t.NPC, trace.WithNewRoot(), trace.WithTimestamp(began), trace.WithAttributes(
		attribute.String("glyphoxa.table", table), attribute.String("glyphoxa.npc", t.NPC), attribute.String("glyphoxa.tier", t.Tier.String()),
		attribute.String("glyphoxa.why", t.Why), attribute.Bool("glyphoxa.cut", t.Cut), attribute.Float64("glyphoxa.cost", t.Cost),
		attribute.String("gen_ai.request.model", t.Brain), attribute.Int("gen_ai.usage.input_tokens", t.Used.In),
		attribute.Int("gen_ai.usage.cached_tokens", t.Used.CachedIn), attribute.Int("gen_ai.usage.output_tokens", t.Used.Out),
	))
	before := time.Duration(0)
	for _, s := range stages(t) {
		if s.end > 0 {
			_, span := tracer.Start(ctx, s.name, trace.WithTimestamp(began.Add(min(before, s.end))))
			span.End(trace.WithTimestamp(began.Add(s.end)))
			before = s.end
		}
	}
	for _, c := range calls {
		_, s := tracer.Start(ctx, "tool "+c.Name, trace.WithTimestamp(began.Add(c.Began)), trace.WithAttributes(
			attribute.String("gen_ai.tool.name", c.Name), attribute.Bool("glyphoxa.cached", c.Cached)))
		if c.Error != "" {
			s.SetStatus(codes.Error, c.Error)
		}
		s.End(trace.WithTimestamp(began.Add(c.Began + c.Took)))
	}
	if t.Error != "" {
		turn.SetStatus(codes.Error, t.Error)
	}
	turn.End(trace.WithTimestamp(ended))
}
