package mcp

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/auth"
	"github.com/glyphoxa/glyphoxa/mcp/link"
)

// The transports a [ServerConfig] may name.
const (
	Stdio          = "stdio"
	StreamableHTTP = "streamable-http"
	SSE            = "sse"
)

// A ServerConfig says how to reach a tool server and how far to trust it.
type ServerConfig struct {
	// Name is the server's prefix in tool names: letters, digits, - and _.
	Name string
	// Transport is [Stdio], [StreamableHTTP] or [SSE].
	Transport string
	// Command is the child process, for stdio; see [SplitCommand].
	Command []string
	// Env is the child's environment, in addition to PATH, HOME, TMPDIR and LANG.
	Env map[string]string
	// Read and Write are files and folders that the child may use besides its own.
	Read, Write []string
	// Network lets the child connect.
	Network bool
	// Open lets the child use files and network as we may. It stays in its process
	// group, environment and resource limits.
	Open bool

	// URL is the endpoint, for the other transports. Insecure allows plain http to
	// other machines.
	URL      string
	Insecure bool
	// Token returns a static bearer token; OAuth obtains tokens and comes first.
	// Both may be nil.
	Token func() string           `json:"-"`
	OAuth *auth.ClientCredentials `json:"-"`

	// Category groups its tools. "" is system for child processes and external for
	// the rest.
	Category Category
	// Disabled servers are known and not started.
	Disabled bool
	// Trusted servers are believed what they say about their tools.
	Trusted bool
	// Calibrate measures tools that are declared harmless when the server
	// connects, until enough is known about them.
	Calibrate bool
	// Era is "auto", "legacy" or "modern". "" is auto.
	Era link.Era
	// Timeout bounds each call, within the tier's time. Zero leaves the tier's.
	Timeout time.Duration
	// Tools overrides single tools, by the server's own names for them.
	Tools map[string]ToolConfig
}

// A ToolConfig is the operator's word on one tool of a server. It is believed.
type ToolConfig struct {
	// Tier is where the tool belongs, whatever is measured. Nil measures.
	Tier *Tier
	// Max bounds each call; Cache allows results to be reused for so long.
	Max, Cache time.Duration
	// ReadOnly and Idempotent say what the server does not, or denies.
	ReadOnly, Idempotent *bool
	// Description replaces the server's.
	Description string
	// Probe are arguments for calibration: a call that is harmless and typical.
	Probe json.RawMessage
	// RequiredScopes are OAuth scopes that the tool needs besides the server's. They
	// are asked for; the tool is off where they are not granted.
	RequiredScopes []string
	// Disabled tools are never on a belt.
	Disabled bool
}

// Bounds on configuration.
const (
	maxServers = 64
	maxTimeout = 10 * time.Minute
)

// Check says what is wrong with a server's configuration.
func (c ServerConfig) Check() error {
	if err := checkServerName(c.Name); err != nil {
		return err
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("server %q: "+format, append([]any{c.Name}, args...)...)
	}
	switch c.Transport {
	case Stdio:
		if len(c.Command) == 0 {
			return bad("stdio needs a command")
		}
		if c.URL != "" || c.Token != nil || c.OAuth != nil {
			return bad("url and auth are for servers over HTTP; pass keys to a command in env")
		}
	case StreamableHTTP, SSE:
		if len(c.Command) > 0 {
			return bad("a command is for stdio")
		}
		if u, err := url.Parse(c.URL); err != nil || u.Host == "" {
			return bad("url %q: want https://host/path", c.URL)
		}
	default:
		return bad("transport %q: want stdio, streamable-http or sse", c.Transport)
	}
	switch c.Category {
	case "", System, Network, External:
	case Core:
		return bad("category core is for tools of this program")
	default:
		return bad("category %q: want system, network or external", c.Category)
	}
	switch c.Era {
	case "", link.AutoEra, link.LegacyEra, link.ModernEra:
	default:
		return bad("era %q: want auto, legacy or modern", c.Era)
	}
	if c.Timeout < 0 || c.Timeout > maxTimeout {
		return bad("timeout %v: want 0 to %v", c.Timeout, maxTimeout)
	}
	for k := range c.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") {
			return bad("environment variable %q", k)
		}
	}
	for name, t := range c.Tools {
		if len(t.Probe) > 0 && !json.Valid(t.Probe) {
			return bad("tool %q: the probe is not valid JSON", name)
		}
	}
	return nil
}

// fingerprint is the same for two configurations exactly if a server started from
// one need not be restarted for the other. It reveals no secret.
func (c ServerConfig) fingerprint() [32]byte {
	token := ""
	if c.Token != nil {
		token = c.Token()
	}
	oauth := ""
	if c.OAuth != nil {
		oauth = c.OAuth.Fingerprint()
	}
	b, err := json.Marshal([]any{c, token, oauth})
	if err != nil {
		// Only a broken probe can do that, which check refuses.
		return [32]byte{}
	}
	return sha256.Sum256(b)
}

// env is the child's environment as NAME=value, in a stable order.
func (c ServerConfig) env() []string {
	var env []string
	for _, k := range slices.Sorted(maps.Keys(c.Env)) {
		env = append(env, k+"="+c.Env[k])
	}
	return env
}

// category is the configured one or the transport's usual one.
func (c ServerConfig) category() Category {
	switch {
	case c.Category != "":
		return c.Category
	case c.Transport == Stdio:
		return System
	default:
		return External
	}
}

// SplitCommand splits a command line into arguments as a shell would: at spaces,
// with '...', "..." and \ keeping them. It runs nothing and expands nothing.
func SplitCommand(s string) ([]string, error) {
	var args []string
	var cur strings.Builder
	var quote rune
	started, escaped := false, false
	for _, r := range s {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' && r != '$' && r != '`' {
				cur.WriteByte('\\')
			}
			cur.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, started = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				cur.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, started = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if started {
				args = append(args, cur.String())
				cur.Reset()
				started = false
			}
		default:
			cur.WriteRune(r)
			started = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("command %q: a %c is not closed", s, quote)
	case escaped:
		return nil, fmt.Errorf("command %q: ends in a backslash", s)
	case started:
		args = append(args, cur.String())
	}
	if len(args) == 0 || args[0] == "" {
		return nil, errors.New("the command is empty")
	}
	return args, nil
}
