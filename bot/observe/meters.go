package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/glyphoxa/glyphoxa/bot"
)

// waits are the buckets for what people wait for: from what nobody notices to
// what ends a conversation.
var waits = []float64{.005, .01, .025, .05, .1, .2, .3, .5, .75, 1, 1.5, 2, 4, 8, 16}

// meters are what Prometheus reads. Every label has few values: NPCs and tools are
// those of campaigns and configuration, tables are servers.
type meters struct {
	tables                       prometheus.Gauge
	turns, calls, lines, tokens  *prometheus.CounterVec
	alerts, cost, letters, heard *prometheus.CounterVec
	firstSound, stage, toolTime  *prometheus.HistogramVec
}

func newMeters(r prometheus.Registerer) *meters {
	make := promauto.With(r)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return make.NewCounterVec(prometheus.CounterOpts{Name: "glyphoxa_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return make.NewHistogramVec(prometheus.HistogramOpts{Name: "glyphoxa_" + name, Help: help, Buckets: waits}, labels)
	}
	return &meters{
		tables:     make.NewGauge(prometheus.GaugeOpts{Name: "glyphoxa_tables", Help: "Tables that are being played at."}),
		turns:      counter("turns_total", "Answers of NPCs, by how they ended: done, cut or failed.", "table", "npc", "tier", "end"),
		calls:      counter("tool_calls_total", "Calls of tools, by how they ended: done, cached or failed.", "table", "tool", "end"),
		lines:      counter("lines_total", "Lines of the transcript, by who spoke: player, dm or npc.", "table", "speaker"),
		tokens:     counter("tokens_total", "Tokens of models: in, cached or out.", "table", "model", "kind"),
		letters:    counter("spoken_letters_total", "Characters that were synthesised.", "table"),
		heard:      counter("heard_seconds_total", "Speech that models heard themselves.", "table"),
		cost:       counter("cost_total", "What answers have cost, in the currency of the configured prices.", "table", "npc"),
		alerts:     counter("alerts_total", "What the DM was told, bad or not.", "table", "bad"),
		firstSound: histogram("first_sound_seconds", "From the end of a player's speech to the first sound of the answer.", "table", "tier"),
		stage:      histogram("turn_stage_seconds", "Stages of a turn: hear, route, brief, think, sentence, synthesise.", "table", "stage"),
		toolTime:   histogram("tool_seconds", "How long calls of tools took.", "table", "tool"),
	}
}

// count counts one event of a table.
func (m *meters) count(table string, e bot.Event) {
	switch {
	case e.Turn != nil && e.Turn.Done:
		m.turn(table, *e.Turn)
	case e.Tool != nil && e.Tool.Done:
		end := "done"
		switch {
		case e.Tool.Error != "":
			end = "failed"
		case e.Tool.Cached:
			end = "cached"
		}
		m.calls.WithLabelValues(table, e.Tool.Name, end).Inc()
		m.toolTime.WithLabelValues(table, e.Tool.Name).Observe(e.Tool.Took.Seconds())
	case e.Line != nil && e.Line.Final && e.Line.Text != "":
		speaker := "player"
		switch {
		case e.Line.Speaker.NPC:
			speaker = "npc"
		case e.Line.Speaker.DM:
			speaker = "dm"
		}
		m.lines.WithLabelValues(table, speaker).Inc()
	case e.Alert != nil:
		bad := "no"
		if e.Alert.Bad {
			bad = "yes"
		}
		m.alerts.WithLabelValues(table, bad).Inc()
	}
}

func (m *meters) turn(table string, t bot.Turn) {
	end := "done"
	switch {
	case t.Error != "":
		end = "failed"
	case t.Cut:
		end = "cut"
	}
	m.turns.WithLabelValues(table, t.NPC, t.Tier.String(), end).Inc()
	if t.FirstSound > 0 {
		m.firstSound.WithLabelValues(table, t.Tier.String()).Observe(t.FirstSound.Seconds())
	}
	before := time.Duration(0)
	for _, s := range stages(t) {
		if s.end > 0 && s.name != "speak" {
			m.stage.WithLabelValues(table, s.name).Observe(max(0, s.end-before).Seconds())
			before = s.end
		}
	}
	for kind, n := range map[string]int{"in": t.Used.In - t.Used.CachedIn, "cached": t.Used.CachedIn, "out": t.Used.Out} {
		if n > 0 {
			m.tokens.WithLabelValues(table, t.Brain, kind).Add(float64(n))
		}
	}
	m.letters.WithLabelValues(table).Add(float64(t.Used.Letters))
	m.heard.WithLabelValues(table).Add(t.Used.Heard.Seconds())
	m.cost.WithLabelValues(table, t.NPC).Add(t.Cost)
}
