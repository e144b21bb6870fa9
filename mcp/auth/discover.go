package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
)

// maxMetadata bounds what is read of any metadata or token.
const maxMetadata = 256 << 10

// A place is where tokens for one tool server are issued.
type place struct {
	TokenURL string
	// Issuer is the authorization server; "" where only its token URL is known.
	Issuer string
	// Methods are how clients may prove themselves; empty means basic.
	Methods []string
	// Resource is what tokens are asked for.
	Resource string
	// Scopes are asked for where nobody says which.
	Scopes []string
}

// resourceMetadata is the part of RFC 9728 that matters here.
type resourceMetadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported"`
}

// discover finds out where tokens are issued, once. hint is where the server said
// its metadata is, or "".
func (c *Client) discover(ctx context.Context, hint string) error {
	c.mu.Lock()
	known := c.creds.TokenURL != "" || c.found != nil
	c.mu.Unlock()
	if known {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, errors.New("oauth: the authorization server was not found in time"))
	defer cancel()
	res, err := c.findResource(ctx, hint)
	if err != nil {
		return err
	}
	issuer := res.AuthorizationServers[0]
	if want := c.creds.Issuer; want != "" {
		if !slices.Contains(res.AuthorizationServers, want) {
			return fmt.Errorf("oauth: the server trusts %q, and our credentials are for %q only", issuer, want)
		}
		issuer = want
	}
	if err := safeURL(issuer); err != nil {
		return fmt.Errorf("oauth: authorization server: %w", err)
	}
	meta, err := sdkauth.GetAuthServerMetadata(ctx, issuer, c.http)
	if err != nil {
		return fmt.Errorf("oauth: authorization server %s: %w", issuer, err)
	}
	p := &place{Issuer: issuer, Resource: res.Resource, Scopes: res.ScopesSupported}
	if meta != nil {
		p.TokenURL, p.Methods = meta.TokenEndpoint, meta.TokenEndpointAuthMethodsSupported
	} else {
		// 2025-03-26, "Fallbacks for Servers without Metadata Discovery".
		u, err := url.Parse(issuer)
		if err != nil {
			return err
		}
		p.TokenURL = u.JoinPath("/token").String()
	}
	if err := safeURL(p.TokenURL); err != nil {
		return fmt.Errorf("oauth: token endpoint: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found == nil {
		c.found = p
	}
	return nil
}

// findResource reads what the server says about itself. A server without any such
// document is its own authorization server, as in 2025-03-26.
func (c *Client) findResource(ctx context.Context, hint string) (resourceMetadata, error) {
	wellKnown := *c.resource
	wellKnown.RawQuery, wellKnown.Fragment = "", ""
	wellKnown.Path = "/.well-known/oauth-protected-resource"
	root := wellKnown.String()
	places := []string{hint, strings.TrimSuffix(root+"/"+strings.TrimLeft(c.resource.Path, "/"), "/"), root}
	for _, p := range slices.Compact(places) {
		if p == "" {
			continue
		}
		if err := safeURL(p); err != nil {
			return resourceMetadata{}, fmt.Errorf("oauth: resource metadata: %w", err)
		}
		var m resourceMetadata
		found, err := c.get(ctx, p, &m)
		switch {
		case err != nil:
			return m, fmt.Errorf("oauth: resource metadata: %w", err)
		case !found:
			continue
		case !covers(m.Resource, c.resource):
			// RFC 9728, 3.3: it must not be used.
			return m, fmt.Errorf("oauth: the metadata at %s is for %q, not for this server", p, m.Resource)
		case len(m.AuthorizationServers) == 0:
			return m, fmt.Errorf("oauth: the metadata at %s names no authorization server", p)
		}
		return m, nil
	}
	origin := url.URL{Scheme: c.resource.Scheme, Host: c.resource.Host}
	return resourceMetadata{Resource: canonical(c.resource), AuthorizationServers: []string{origin.String()}}, nil
}

// get fetches a JSON document; found is false if there is none.
func (c *Client) get(ctx context.Context, from string, v any) (found bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return false, nil
	case resp.StatusCode != http.StatusOK:
		return false, fmt.Errorf("%s: status %s", from, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxMetadata)).Decode(v); err != nil {
		return false, fmt.Errorf("%s: %w", from, err)
	}
	return true, nil
}

// covers reports whether a resource identifier means the server: its URL, or a
// prefix of it that ends at a path segment.
func covers(id string, server *url.URL) bool {
	u, err := url.Parse(id)
	if err != nil || !strings.EqualFold(u.Scheme, server.Scheme) || !strings.EqualFold(u.Host, server.Host) || u.RawQuery != "" {
		return false
	}
	have, want := strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(server.Path, "/")
	return want == have || strings.HasPrefix(want, have+"/")
}

// canonical is the identifier of a server that says none: lower case scheme and
// host, no fragment, no slash at the end. Model Context Protocol, "Canonical
// Server URI".
func canonical(u *url.URL) string {
	c := url.URL{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host), Path: strings.TrimSuffix(u.Path, "/")}
	return c.String()
}
