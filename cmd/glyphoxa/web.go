package main

import (
	"github.com/glyphoxa/glyphoxa/mcp/tools/web"
	"github.com/glyphoxa/glyphoxa/secret"
)

// webConfig is what helpers may look up on the web. Nothing is the default.
type webConfig struct {
	// Search is the search engine: searxng or brave; "" is none.
	Search string `yaml:"search" strict:"oneof=|searxng|brave"`
	// URL is the address of SearXNG, such as http://localhost:8888.
	URL string `yaml:"url" strict:"max=2048"`
	// Key is Brave's subscription token, as ${NAME} or file:PATH.
	Key secret.Text `yaml:"key"`
	// Pages lets helpers read pages of the public internet.
	Pages bool `yaml:"pages"`
	// Hosts may be read from wherever they are, also by plain http.
	Hosts []string `yaml:"hosts" strict:"max=50"`
}

// webOf is the tools' form of it.
func webOf(c webConfig) web.Options {
	var o web.Options
	switch {
	case c.Search == "searxng" && c.URL != "":
		o.Engine = web.SearXNG{Base: c.URL}
	case c.Search == "brave" && !c.Key.IsZero():
		o.Engine = web.Brave{Key: c.Key.Reveal(), Base: c.URL}
	}
	if c.Pages {
		o.Pages = web.NewReader(c.Hosts)
	}
	return o
}
