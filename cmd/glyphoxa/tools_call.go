package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/bridge"
	"github.com/glyphoxa/glyphoxa/mcp/serve"
)

// grantFlags are what calls from the command line may do.
type grantFlags struct {
	npc   string
	tier  string
	write bool
}

func (g *grantFlags) define(d *toolsDesk) {
	d.flags.StringVar(&g.npc, "npc", "", "call as the NPC with this `ID`, which narrows what memory tells; without it, as the game master")
	d.flags.StringVar(&g.tier, "tier", "deep", "the time there is: `fast`, standard or deep")
	d.flags.BoolVar(&g.write, "write", false, "let tools that write do so; without it they only say what they would do")
}

func (g *grantFlags) grant(w *workshop) (mcp.Grant, error) {
	t, err := mcp.ParseTier(g.tier)
	if err != nil {
		return mcp.Grant{}, fmt.Errorf("%w: %w", errUsage, err)
	}
	grant := mcp.Grant{Caller: mcp.Caller{Campaign: w.campaign, NPC: g.npc}, Allow: w.everything(), Tier: t}
	if g.write {
		grant.Writes = mcp.WriteFree
	}
	return grant, nil
}

func callTool(ctx context.Context, d *toolsDesk, args []string) error {
	var g grantFlags
	g.define(d)
	words, err := d.parse(args, 1, 2)
	if err != nil {
		return err
	}
	server, _, external := strings.Cut(words[0], "__")
	w, err := d.workshop(ctx, func(name string) bool { return external && name == server })
	if err != nil {
		return err
	}
	grant, err := g.grant(w)
	if err != nil {
		return errors.Join(err, w.close())
	}
	d.await(ctx, w)
	text := "{}"
	if len(words) > 1 {
		text = words[1]
	}
	r := w.host.Belt(grant).Call(ctx, words[0], json.RawMessage(text))
	if err := w.close(); err != nil {
		return err
	}
	if d.json {
		out := struct {
			Tool  string        `json:"tool"`
			Text  string        `json:"text"`
			Error string        `json:"error,omitempty"`
			Took  time.Duration `json:"took"`
		}{Tool: words[0], Text: r.Raw, Took: r.Took}
		if r.Err != nil {
			out.Error = r.Err.Error()
		}
		if err := writeJSON(d.io.out, out); err != nil {
			return err
		}
	} else if r.Err == nil {
		fmt.Fprintln(d.io.out, r.Raw)
	} else {
		fmt.Fprintln(d.io.err, r.Text)
	}
	if r.Err != nil {
		return errSaid
	}
	return nil
}

// A lineSession is a speech-to-speech session for people and scripts: functions are
// declared and called as lines of JSON.
type lineSession struct {
	out *json.Encoder

	mu      sync.Mutex // guards both
	handler func(context.Context, string, json.RawMessage) mcp.Result
}

// SetTools implements [bridge.Session].
func (s *lineSession) SetTools(_ context.Context, tools []mcp.Tool) error {
	type function struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	fs := make([]function, 0, len(tools))
	for _, t := range tools {
		fs = append(fs, function{"function", t.Name, t.Description, t.Schema})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Encode(map[string]any{"tools": fs})
}

// OnToolCall implements [bridge.Session].
func (s *lineSession) OnToolCall(h func(context.Context, string, json.RawMessage) mcp.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = h
}

// toolSession speaks lines of JSON. It writes {"tools": [...]} whenever they change;
// it reads {"name": ..., "arguments": {...}} and answers {"name": ..., "result": ...},
// and {"tier": ..., "utterance": ...} begins the next turn.
func toolSession(ctx context.Context, d *toolsDesk, args []string) error {
	var g grantFlags
	g.define(d)
	timeout := d.flags.Duration("timeout", bridge.DefaultTimeout, "the longest a `CALL` may take, within the tier's time")
	if _, err := d.parse(args, 0, 0); err != nil {
		return err
	}
	w, err := d.workshop(ctx, func(string) bool { return true })
	if err != nil {
		return err
	}
	grant, err := g.grant(w)
	if err != nil {
		return errors.Join(err, w.close())
	}
	d.await(ctx, w)
	s := &lineSession{out: json.NewEncoder(d.io.out)}
	s.out.SetEscapeHTML(false)
	b, err := bridge.New(ctx, s, w.host.Belt(grant), bridge.Options{Timeout: *timeout})
	if err != nil {
		return errors.Join(err, w.close())
	}
	err = d.converse(ctx, w, s, b, grant)
	b.Close()
	return errors.Join(err, w.close())
}

// converse reads lines until there are none.
func (d *toolsDesk) converse(ctx context.Context, w *workshop, s *lineSession, b *bridge.Bridge, grant mcp.Grant) error {
	in := bufio.NewScanner(d.io.in)
	in.Buffer(nil, 256<<10)
	for in.Scan() && ctx.Err() == nil {
		var ask struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Tier      *mcp.Tier       `json:"tier"`
			Utterance string          `json:"utterance"`
		}
		if err := json.Unmarshal(in.Bytes(), &ask); err != nil {
			return fmt.Errorf("line %q: %w", firstLine(in.Text()), err)
		}
		if ask.Name == "" {
			if ask.Tier != nil {
				grant.Tier = *ask.Tier
			}
			grant.Utterance = ask.Utterance
			if err := b.Use(ctx, w.host.Belt(grant)); err != nil {
				return err
			}
			continue
		}
		s.mu.Lock()
		handler := s.handler
		s.mu.Unlock()
		result := handler(ctx, ask.Name, ask.Arguments).Text
		s.mu.Lock()
		err := s.out.Encode(map[string]string{"name": ask.Name, "result": result})
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return in.Err()
}

func serveTools(ctx context.Context, d *toolsDesk, args []string) error {
	var g grantFlags
	g.define(d)
	addr := d.flags.String("http", "", "serve streamable HTTP at this `ADDRESS`, such as 127.0.0.1:8421, instead of stdin and stdout")
	token := d.flags.String("token", "", "ask HTTP clients for the bearer token `${NAME}` or file:PATH")
	external := d.flags.Bool("external", false, "offer the tools of connected servers, too")
	var allow several
	d.flags.Var(&allow, "allow", "offer only this `TOOL`, or server__* (repeatable)")
	if _, err := d.parse(args, 0, 0); err != nil {
		return err
	}
	d.cfg.MCP.FindAbove = 0 // clients are told of all tools, and search them themselves
	w, err := d.workshop(ctx, func(string) bool { return *external })
	if err != nil {
		return err
	}
	grant, err := g.grant(w)
	if err != nil {
		return errors.Join(err, w.close())
	}
	if len(allow) > 0 {
		grant.Allow = allow
	}
	d.await(ctx, w)
	o := serve.Options{Grant: grant, Version: "dev", Log: d.log()}
	if *token != "" {
		if o.Token, err = openReference(*token); err != nil {
			return errors.Join(err, w.close())
		}
	}
	if *addr == "" {
		err = serve.Stdio(ctx, w.host.Host, d.io.in, d.io.out, o)
		return errors.Join(err, w.close())
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return errors.Join(err, w.close())
	}
	fmt.Fprintf(d.io.err, "serving %d tools at http://%s/mcp\n", len(w.host.Belt(grant).Tools()), l.Addr())
	err = serve.HTTP(ctx, w.host.Host, l, o)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return errors.Join(err, w.close())
}
