// Package image has pictures painted for the table by any server with the images
// endpoint of the OpenAI API: a vendor, or one of one's own.
//
// Painting takes half a minute, which is longer than any turn. So the tool answers
// at once that it has begun, the picture is made in the background, and whoever
// set the tool up is told when it is there.
//
// # Promises
//
//   - A session costs no more than the operator allowed, counted before a picture
//     is asked for; what a server refused is given back, what may have been made
//     is not.
//   - What the table agreed never to see is not asked for.
//   - At most two pictures are made at a time, 50 in a session, each within two
//     minutes and 8 MiB. What arrives is a PNG, JPEG or WebP of at most 4,096
//     pixels a side by its own head; its pixels are never unpacked here.
package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

const (
	maxPrompt = 1000 // bytes; longer ones paint nothing better
	maxStyle  = 100
	// atOnce is how many pictures are made at a time, and perSession how many in
	// one evening even where they cost nothing.
	atOnce     = 2
	perSession = 50
	// patience is how long one may take: slow machines need a minute.
	patience = 2 * time.Minute
	// micros are what money is counted in, since sums of cents as fractions drift.
	micros = 1_000_000
)

// Options say what pictures may cost and show. The zero value allows none.
type Options struct {
	// Endpoint makes pictures; nil leaves the tool out.
	Endpoint *Endpoint
	// Price is what one picture costs and Cap what a session's may cost, in any
	// one currency. A price of zero is a machine of one's own, which needs no cap.
	Price, Cap float64
	// Refuse says why something is not to be painted, or "". Nil refuses nothing.
	Refuse func(text string) string
	// Rules are added to every prompt: what the table's rating asks for.
	Rules string
	// Done is told of each picture, or why there is none. It must not be nil, and is
	// called from goroutines of the studio's own.
	Done func(Picture, error)
	// Log receives what pictures were asked for and cost. Nil discards it.
	Log *slog.Logger
}

// A Picture is one that was asked for and, unless it failed, made.
type Picture struct {
	// Caller is who asked.
	Caller        mcp.Caller
	Prompt, Style string
	// Data is the file, Type its media type.
	Data []byte
	Type string
}

// Errors of what is asked for.
var (
	ErrSpent   = errors.New("the pictures of this session have cost what they may")
	ErrBusy    = errors.New("two pictures are being made already: wait until they are shown")
	ErrRefused = errors.New("the table agreed not to have this in the game")
)

// A Studio makes pictures. Close it to give up what is being made.
type Studio struct {
	o      Options
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu      sync.Mutex // guards all below
	session string     // whose pictures are counted
	spent   int64      // in micros
	made    int
	busy    int
}

// New opens a studio.
func New(o Options) *Studio {
	s := &Studio{o: o, log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close gives up what is being made and returns when nothing is any more.
func (s *Studio) Close() {
	s.cancel()
	s.tasks.Wait()
}

// Tools is generate_image.
func (s *Studio) Tools() []mcp.Builtin {
	missing := ""
	switch {
	case s.o.Endpoint == nil:
		missing = "no server makes pictures: set image.url in the configuration"
	case s.o.Price > 0 && s.o.Cap < s.o.Price:
		missing = "pictures cost money and none may be spent: set image.cap in the configuration"
	}
	return []mcp.Builtin{{
		Tool: mcp.Tool{
			Name: "generate_image", Title: "Paint a picture",
			Description: "Have a picture painted of what is described and shown to everybody at the table. It takes about half a minute: this only begins it.",
			Schema: fmt.Appendf(nil, `{"type":"object","properties":{`+
				`"prompt":{"type":"string","minLength":1,"maxLength":%d,"description":"what is to be seen, in English, in one or two sentences"},`+
				`"style":{"type":"string","maxLength":%d,"description":"such as: oil painting, ink sketch, woodcut"}},`+
				`"required":["prompt"],"additionalProperties":false}`, maxPrompt, maxStyle),
			Category: mcp.Network, Estimated: 3 * time.Second, Max: 4 * time.Second, Least: mcp.Deep, Missing: missing,
		},
		Call: s.generate,
	}}
}

func (s *Studio) generate(_ context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		Prompt string `json:"prompt"`
		Style  string `json:"style"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("generate_image: arguments: %w", err)
	}
	p := Picture{Caller: who, Prompt: oneLine(in.Prompt), Style: oneLine(in.Style)}
	if err := s.begin(p); err != nil {
		return "", fmt.Errorf("generate_image: %w", err)
	}
	return `{"status":"begun","note":"It is being painted and will be shown to everybody in about half a minute. Say that you are at it; do not say that it is done."}`, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ") }

// begin checks what is asked for, sets the money aside and starts.
func (s *Studio) begin(p Picture) error {
	switch {
	case s.o.Endpoint == nil:
		return errors.New("no server makes pictures")
	case p.Prompt == "":
		return errors.New("the prompt is empty: say what is to be seen")
	case len(p.Prompt) > maxPrompt || len(p.Style) > maxStyle:
		return fmt.Errorf("at most %d bytes of prompt and %d of style are allowed", maxPrompt, maxStyle)
	}
	if s.o.Refuse != nil {
		// Each for itself and both together: a style can hold what a prompt may not.
		for _, text := range []string{p.Prompt, p.Style, p.Prompt + " " + p.Style} {
			if why := s.o.Refuse(text); why != "" {
				return fmt.Errorf("%w: %s", ErrRefused, why)
			}
		}
	}
	price := int64(math.Round(s.o.Price * micros))
	if err := s.reserve(p.Caller.Session, price); err != nil {
		return err
	}
	s.log.Info("a picture is being made", "npc", p.Caller.NPC, "price", s.o.Price)
	s.tasks.Go(func() {
		made, err := s.paint(p)
		s.settle(p.Caller.Session, price, err)
		if s.ctx.Err() == nil { // a closed studio has nobody to tell
			s.o.Done(made, err)
		}
	})
	return nil
}

func (s *Studio) paint(p Picture) (Picture, error) {
	ctx, cancel := context.WithTimeoutCause(s.ctx, patience, fmt.Errorf("no picture within %v", patience))
	defer cancel()
	prompt := p.Prompt
	if p.Style != "" {
		prompt += "\nStyle: " + p.Style
	}
	if s.o.Rules != "" {
		prompt += "\n" + s.o.Rules
	}
	data, err := s.o.Endpoint.paint(ctx, prompt)
	if err == nil {
		p.Data = data
		p.Type, err = look(data)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return p, err
}

// reserve counts a picture of a session before it is made.
func (s *Studio) reserve(session string, price int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session != s.session {
		s.session, s.spent, s.made = session, 0, 0
	}
	limit := int64(math.Round(s.o.Cap * micros))
	switch {
	case s.busy >= atOnce:
		return ErrBusy
	case price > 0 && s.spent+price > limit:
		return fmt.Errorf("%w: %.2f of %.2f", ErrSpent, float64(s.spent)/micros, s.o.Cap)
	case s.made >= perSession:
		return fmt.Errorf("%w: there have been %d", ErrSpent, s.made)
	}
	s.busy++
	s.made++
	s.spent += price
	return nil
}

// settle gives back what was not used.
func (s *Studio) settle(session string, price int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	if _, refused := errors.AsType[*refusal](err); refused && session == s.session {
		s.made--
		s.spent -= price
	}
}
