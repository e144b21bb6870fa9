package main

import (
	"fmt"
	"strings"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm"
)

// routing is the table's form of the configuration.
func routing(c routingConfig) (bot.Routing, error) {
	r := bot.Routing{Ask: c.Below == "ask", Models: map[string]string{}}
	for part, mode := range c.Models {
		if mode != "native" && mode != "routed" {
			return r, fmt.Errorf("routing: models: %s is %q; write native or routed", part, mode)
		}
		r.Models[strings.ToLower(part)] = mode
	}
	if c.Reviewer.Provider == "" {
		return r, nil
	}
	m, err := modelOf(c.Reviewer)
	if err != nil {
		return r, fmt.Errorf("routing: reviewer: %w", err)
	}
	r.Reviewer = m
	return r, nil
}

// modelOf is the model of a vendor that the configuration names.
func modelOf(c provider) (engine.Model, error) {
	switch c.Provider {
	case "openai":
		return llm.NewOpenAI(llm.OpenAIOptions{URL: c.URL, Key: c.Key, Model: c.Model})
	case "anthropic":
		return llm.NewAnthropic(llm.AnthropicOptions{URL: c.URL, Key: c.Key, Model: c.Model})
	case "gemini":
		return llm.NewGemini(llm.GeminiOptions{URL: c.URL, Key: c.Key, Model: c.Model})
	}
	return nil, fmt.Errorf("no provider %q: choose openai, anthropic or gemini", c.Provider)
}
