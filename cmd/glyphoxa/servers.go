package main

import (
	"encoding/json"
	"maps"
	"os"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/auth"
	"github.com/glyphoxa/glyphoxa/mcp/link"
)

// words is a command line: in YAML a list, or one string that is split at spaces
// as a shell would. No shell ever runs it.
type words []string

// UnmarshalText splits the string form.
func (w *words) UnmarshalText(b []byte) (err error) {
	*w, err = mcp.SplitCommand(string(b))
	return err
}

// constraintsOf is the host's form of the configured constraints.
func constraintsOf(c mcpConfig) []mcp.Constraint {
	var out []mcp.Constraint
	for _, x := range c.Constraints {
		out = append(out, mcp.Constraint{ID: x.ID, Keywords: x.Keywords, Tools: x.Tools})
	}
	return out
}

// serversOf is the host's form of the configured tool servers.
func serversOf(c mcpConfig) []mcp.ServerConfig {
	var out []mcp.ServerConfig
	for _, s := range c.Servers {
		one := mcp.ServerConfig{
			Name: s.Name, Transport: s.Transport, Command: s.Command, Env: maps.Clone(s.Env),
			Read: s.Read, Write: s.Write, Network: s.Network, Open: s.Open,
			URL: s.URL, Insecure: s.Insecure, Category: mcp.Category(s.Category), Disabled: s.Disabled,
			Trusted: s.Trusted, Calibrate: s.Calibrate, Era: link.Era(s.Era), Timeout: s.Timeout,
			Tools: map[string]mcp.ToolConfig{},
		}
		for name, t := range s.Tools {
			one.Tools[name] = mcp.ToolConfig{
				Tier: t.Tier, Max: t.Max, Cache: t.Cache, ReadOnly: t.ReadOnly, Idempotent: t.Idempotent,
				Description: t.Description, Probe: json.RawMessage(t.Probe), RequiredScopes: t.RequiredScopes, Disabled: t.Disabled,
			}
		}
		if one.Env == nil {
			one.Env = map[string]string{}
		}
		for _, name := range s.PassEnv {
			if value, set := os.LookupEnv(name); set {
				one.Env[name] = value
			}
		}
		if !s.Auth.Token.IsZero() {
			one.Token = s.Auth.Token.Reveal
		}
		if o := s.Auth.OAuth; o != nil {
			one.OAuth = &auth.ClientCredentials{
				ClientID: o.ClientID, Secret: o.ClientSecret.Reveal, TokenURL: o.TokenURL, Scopes: o.Scopes,
			}
		}
		out = append(out, one)
	}
	return out
}
