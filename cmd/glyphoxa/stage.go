package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/mcp/tools/image"
	safety "github.com/glyphoxa/glyphoxa/npc/spoken"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice/music"
)

// imageConfig is who makes pictures, and what they may cost. Nobody is the default.
type imageConfig struct {
	// URL is the base of a server with OpenAI's images API: https://api.openai.com/v1.
	URL string `yaml:"url" strict:"max=2048"`
	// Key is the server's key, as ${NAME} or file:PATH.
	Key secret.Text `yaml:"key"`
	// Model is the server's name of the model; "" leaves it to the server.
	Model string `yaml:"model" strict:"max=256"`
	// Size is such as 1024x1024.
	Size string `yaml:"size" strict:"max=20"`
	// Price is what one picture costs, Cap what a session's may cost, in any one
	// currency.
	Price float64 `yaml:"price" strict:"min=0,max=1000"`
	Cap   float64 `yaml:"cap" strict:"min=0,max=100000"`
}

// A stage is the table as tools see it that play music or have pictures made. The
// tools are there before the table is, and without one.
type stage struct{ table atomic.Pointer[bot.Table] }

var errNoTable = errors.New("there is no table here: this works while a game is running")

// PlayMusic plays at the table.
func (s *stage) PlayMusic(ctx context.Context, by, mood string) (string, error) {
	if t := s.table.Load(); t != nil {
		return t.PlayMusic(ctx, by, mood)
	}
	return "", errNoTable
}

// StopMusic stops what plays at the table.
func (s *stage) StopMusic(ctx context.Context, by string) (string, error) {
	if t := s.table.Load(); t != nil {
		return t.StopMusic(ctx, by)
	}
	return "", errNoTable
}

// hang shows a picture at the table.
func (s *stage) hang(p image.Picture, err error) {
	t := s.table.Load()
	switch {
	case t == nil: // it has closed meanwhile
	case err != nil:
		t.FailPicture(p.Caller.NPC, err)
	default:
		t.ShowPicture(p.Caller.NPC, p.Prompt, p.Type, p.Data)
	}
}

// studio makes pictures within what the table agreed on and may spend.
func (s *stage) studio(cfg imageConfig, c *campaigns.Campaign, log *slog.Logger) *image.Studio {
	o := image.Options{Price: cfg.Price, Cap: cfg.Cap, Done: s.hang, Log: log}
	if cfg.URL != "" {
		o.Endpoint = &image.Endpoint{URL: cfg.URL, Key: cfg.Key.Reveal(), Model: cfg.Model, Size: cfg.Size}
	}
	agreed := safety.Safety{Rating: c.Safety.Rating, Lines: c.Safety.Lines, Veils: c.Safety.Veils}
	o.Refuse = func(text string) string {
		name, _ := agreed.Broken(text, c.Language)
		if other, _ := agreed.Broken(text, "en"); name == "" {
			name = other // prompts are English, whatever is spoken
		}
		return name
	}
	o.Rules = rulesOf(c.Safety)
	return image.New(o)
}

// rulesOf is what every picture is told of a table's agreement.
func rulesOf(s campaigns.Safety) string {
	rules := map[string]string{
		"everyone": "Suitable for children: nothing cruel, bloody, frightening or bare.",
		"teen":     "Suitable for teenagers: no gore and no nudity.",
		"mature":   "No nudity.",
	}[cmp.Or(s.Rating, "teen")]
	if never := append(append([]string(nil), s.Lines...), s.Veils...); len(never) > 0 {
		rules += " Do not show: " + strings.Join(never, "; ") + "."
	}
	return rules
}

// openMusic opens the library of a campaign's folder; done closes it.
func openMusic(campaign string) (lib *music.Library, done func() error, err error) {
	if !isFolder(campaign) {
		var folder fs.FS
		if folder, err = campaigns.ShippedFolder(campaign); err != nil {
			return nil, nil, err
		}
		return music.NewLibrary(folder), func() error { return nil }, nil
	}
	root, err := os.OpenRoot(campaign)
	if err != nil {
		return nil, nil, fmt.Errorf("open the campaign's music: %w", err)
	}
	return music.NewLibrary(root.FS()), root.Close, nil
}
