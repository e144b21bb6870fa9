package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/observe"
)

// observeConfig says who else watches the tables.
type observeConfig struct {
	// Metrics is the address on which Prometheus finds /metrics; "" serves none.
	Metrics string `yaml:"metrics" strict:"max=256"`
	// Traces is the base address of an OTLP/HTTP collector; "" sends none.
	Traces string `yaml:"traces" strict:"max=2048"`
}

// budgetConfig is what a session may cost.
type budgetConfig struct {
	Cap      float64 `yaml:"cap" strict:"min=0,max=1000000"`
	Currency string  `yaml:"currency" strict:"max=8"`
	// Prices are tried in their order; the first whose name fits counts.
	Prices []priceConfig `yaml:"prices" strict:"max=100"`
}

// priceConfig is what a vendor asks for a million tokens or letters, or an hour.
type priceConfig struct {
	Name          string  `yaml:"name" strict:"required,max=256"`
	In            float64 `yaml:"in" strict:"min=0"`
	CachedIn      float64 `yaml:"cached_in" strict:"min=0"`
	Out           float64 `yaml:"out" strict:"min=0"`
	AudioIn       float64 `yaml:"audio_in" strict:"min=0"`
	CachedAudioIn float64 `yaml:"cached_audio_in" strict:"min=0"`
	AudioOut      float64 `yaml:"audio_out" strict:"min=0"`
	Letters       float64 `yaml:"letters" strict:"min=0"`
	Hour          float64 `yaml:"hour" strict:"min=0"`
}

// budget is the table's form of it.
func (b budgetConfig) budget() bot.Budget {
	out := bot.Budget{Cap: b.Cap, Currency: b.Currency, FreeVoice: synthesizers[0]}
	for _, p := range b.Prices {
		out.Prices = append(out.Prices, bot.Price(p))
	}
	return out
}

// observer starts what the configuration asks for; nil watches nothing.
func (c observeConfig) observer(ctx context.Context, log *slog.Logger) (*observe.Observer, error) {
	if c == (observeConfig{}) {
		return nil, nil
	}
	var once sync.Once
	w, err := observe.New(ctx, observe.Options{Metrics: c.Metrics, Traces: c.Traces, Warn: func(err error) {
		once.Do(func() { log.Warn("turns are played without being traced", "err", err) })
	}})
	if err == nil && w.Addr() != "" {
		log.Info("metrics are served", "url", "http://"+w.Addr()+"/metrics")
	}
	return w, err
}
