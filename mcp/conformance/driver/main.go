// Command driver is the host as the conformance suite of the Model Context Protocol
// sees it: it does what a scenario asks, through the packages the program itself
// uses, and says with its exit code whether it could.
//
// The suite starts it with a server's URL and the environment variables
// MCP_CONFORMANCE_SCENARIO and MCP_CONFORMANCE_CONTEXT. See ../run.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/auth"
	"github.com/glyphoxa/glyphoxa/mcp/link"
	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: driver URL")
		os.Exit(2)
	}
	if err := drive(ctx, os.Args[1], os.Getenv("MCP_CONFORMANCE_SCENARIO")); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

// given is what a scenario tells us.
type given struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key_pem"`
	ToolCalls    []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

func drive(ctx context.Context, server, scenario string) error {
	var g given
	if s := os.Getenv("MCP_CONFORMANCE_CONTEXT"); s != "" {
		if err := json.Unmarshal([]byte(s), &g); err != nil {
			return err
		}
	}
	r := link.Remote{URL: server}
	o := link.Options{Version: "conformance"}
	switch {
	case strings.HasPrefix(scenario, "auth/client-credentials"):
		c := auth.ClientCredentials{ClientID: g.ClientID}
		if g.ClientSecret != "" {
			c.Secret = func() string { return g.ClientSecret }
		}
		if g.PrivateKey != "" {
			c.Key = func() string { return g.PrivateKey }
		}
		client, err := auth.New(c, server, nil)
		if err != nil {
			return err
		}
		defer client.Close()
		r.OAuth, o.Extensions = client, []string{auth.Extension}
	case strings.HasPrefix(scenario, "auth/"):
		// The scenarios with a person in them. The host has no person to ask, so
		// only the driver has this handler; the connection is the host's.
		h, err := asPerson(g)
		if err != nil {
			return err
		}
		r.OAuth = h
	}
	if strings.Contains(scenario, "elicitation") || strings.Contains(scenario, "request-state") {
		o.Elicit = func(context.Context, string) (bool, map[string]any) {
			if strings.Contains(scenario, "request-state") {
				return true, map[string]any{"confirmed": true}
			}
			return true, map[string]any{}
		}
	}
	l, err := link.HTTP(ctx, r, o)
	if err != nil {
		return err
	}
	defer l.Close()
	if scenario == "request-metadata" {
		return nil
	}
	tools, _, err := l.Tools(ctx)
	if err != nil {
		return err
	}
	return calls(ctx, l, scenario, tools, g)
}

// calls makes the calls that a scenario wants. Where the point is what the client
// sends, an answer it does not like is no failure.
func calls(ctx context.Context, l *link.Link, scenario string, tools []link.Tool, g given) error {
	call := func(name, args string) error {
		_, err := l.Call(ctx, name, json.RawMessage(args))
		return err
	}
	switch scenario {
	case "tools_call":
		return call("add_numbers", `{"a":5,"b":3}`)
	case "elicitation-sep1034-client-defaults":
		return call("test_client_elicitation_defaults", `{}`)
	case "sse-retry":
		return call("test_reconnection", `{}`)
	case "sep-2322-client-request-state":
		for _, name := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"} {
			if err := call(name, `{}`); err != nil {
				fmt.Fprintln(os.Stderr, name, err)
			}
		}
	case "json-schema-2020-12-preservation":
		for _, t := range tools {
			if t.Name == "json_schema_2020_12_tool" {
				return call("json_schema_echo", `{"schema":`+string(t.Schema)+`}`)
			}
		}
		return fmt.Errorf("the tool of the scenario is not there")
	case "http-custom-headers":
		for _, c := range g.ToolCalls {
			if err := call(c.Name, string(c.Arguments)); err != nil {
				fmt.Fprintln(os.Stderr, c.Name, err)
			}
		}
	case "http-standard-headers":
		if len(tools) > 0 {
			return call(tools[0].Name, `{}`)
		}
	case "http-invalid-tool-headers":
		for _, t := range tools {
			if err := call(t.Name, `{"region":"us-west1"}`); err != nil {
				fmt.Fprintln(os.Stderr, t.Name, err)
			}
		}
	default:
		if strings.HasPrefix(scenario, "auth/") && len(tools) > 0 {
			return call("test-tool", `{}`)
		}
	}
	return nil
}

// asPerson signs in as somebody who agrees to everything at once.
func asPerson(g given) (sdkauth.OAuthHandler, error) {
	const back = "http://localhost:3000/callback"
	c := &sdkauth.AuthorizationCodeHandlerConfig{
		RedirectURL: back,
		AuthorizationCodeFetcher: func(ctx context.Context, args *sdkauth.AuthorizationArgs) (*sdkauth.AuthorizationResult, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
			if err != nil {
				return nil, err
			}
			client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			resp, err := client.Do(req)
			if err != nil {
				return nil, err
			}
			defer resp.Body.Close()
			u, err := url.Parse(resp.Header.Get("Location"))
			if err != nil {
				return nil, err
			}
			q := u.Query()
			return &sdkauth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
		ClientIDMetadataDocumentConfig: &sdkauth.ClientIDMetadataDocumentConfig{URL: "https://conformance-test.local/client-metadata.json"},
		DynamicClientRegistrationConfig: &sdkauth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{back}},
		},
	}
	if g.ClientID != "" && g.ClientSecret != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{
			ClientID: g.ClientID, ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: g.ClientSecret},
		}
	}
	return sdkauth.NewAuthorizationCodeHandler(c)
}
