// Package auth lets us in at tool servers with OAuth 2.1 client credentials: no
// person is asked, this program proves who it is.
//
// Where to get a token is configured ([ClientCredentials.TokenURL]) or found out
// as the Model Context Protocol asks: the server names its authorization server
// (RFC 9728), which says how it works (RFC 8414 or OpenID Connect). Each token is
// asked for with the server it is for (RFC 8707), so that no other server can use
// it.
//
// # Promises
//
//   - A token is renewed before it ends, by one request at a time, and once more
//     when a server refuses it. A token that is refused right after it was issued
//     is not asked for again for ten seconds.
//   - More scopes are asked for when a server says that they are missing, twice at
//     most in the life of a [Client].
//   - Once an authorization server has been found, the secret is sent to no other.
//   - Metadata and tokens are fetched over https, from public addresses, unless the
//     server itself is on this machine or network.
//   - Neither tokens nor secrets appear in errors or logs.
package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Extension is what a client that can do this declares.
const Extension = "io.modelcontextprotocol/oauth-client-credentials"

const (
	fetchTime = 10 * time.Second // for finding out and getting one token
	// patience is how long a token that was refused at once is not renewed.
	patience = 10 * time.Second
	// lastMoment is when a token is too old to be sent; one that ends within a
	// fifth of its life is renewed while it is still used.
	lastMoment = 10 * time.Second
	maxStepUps = 2
)

// A Client obtains and keeps the token for one tool server. It is safe for
// concurrent use.
type Client struct {
	creds    ClientCredentials
	resource *url.URL
	http     *http.Client

	ctx    context.Context // of renewals; ends with Close
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	fetching chan struct{} // cap 1: a token in it is the right to fetch

	mu      sync.Mutex // guards the rest
	found   *place     // nil until found out
	token   *oauth2.Token
	issued  time.Time
	scopes  []string // that the server needs
	extra   []string // that single tools need, as long as they are not refused
	granted []string // to token
	stepUps int
	refused time.Time // when a token was last refused
}

// New returns a client for the tool server at resource. extra are scopes that single
// tools need: they are asked for, and done without where they are refused; see
// [Client.Missing].
func New(c ClientCredentials, resource string, extra []string) (*Client, error) {
	u, err := url.Parse(resource)
	if err != nil {
		return nil, err
	}
	switch {
	case c.ClientID == "":
		return nil, errors.New("oauth: client_id is missing")
	case c.Secret == nil && c.Key == nil:
		return nil, errors.New("oauth: a client_secret or a private key is missing")
	}
	if c.TokenURL != "" {
		if err := safeURL(c.TokenURL); err != nil {
			return nil, fmt.Errorf("oauth: token_url: %w", err)
		}
	}
	cl := &Client{creds: c, resource: u, http: guarded(u, c.TokenURL), fetching: make(chan struct{}, 1)}
	cl.scopes, cl.extra = union(c.Scopes, nil), union(extra, nil)
	cl.ctx, cl.cancel = context.WithCancel(context.Background())
	return cl, nil
}

// Close ends renewals and returns when none runs.
func (c *Client) Close() {
	c.cancel()
	c.tasks.Wait()
}

// TokenSource implements the SDK's handler. Where the token's place is configured
// the token is there before the first request; else the server has to say first
// where to go, by refusing one.
func (c *Client) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	c.mu.Lock()
	known := c.creds.TokenURL != "" || c.found != nil
	c.mu.Unlock()
	if !known {
		return nil, nil
	}
	return source{c, ctx}, nil
}

// source is a client for the length of one request.
type source struct {
	c   *Client
	ctx context.Context
}

// Token implements [oauth2.TokenSource].
func (s source) Token() (*oauth2.Token, error) {
	c := s.c
	c.mu.Lock()
	t := c.token
	left, life := time.Duration(1<<62), time.Duration(1<<62)
	if t != nil && !t.Expiry.IsZero() {
		left, life = time.Until(t.Expiry), t.Expiry.Sub(c.issued)
	}
	c.mu.Unlock()
	switch {
	case t == nil || left < min(lastMoment, life/10):
		return c.renew(s.ctx, t)
	case left < life/5:
		c.tasks.Go(func() {
			ctx, cancel := context.WithTimeout(c.ctx, fetchTime)
			defer cancel()
			_, _ = c.renew(ctx, t) // if this fails, the request that needs it will say so
		})
	}
	return t, nil
}

// Authorize implements the SDK's handler: the server has refused a request.
func (c *Client) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		challenges = nil // some servers write it badly; the status says enough
	}
	used := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	c.mu.Lock()
	t := c.token
	if resp.StatusCode == http.StatusForbidden {
		err := c.stepUpLocked(challenges)
		c.mu.Unlock()
		if err != nil {
			return err
		}
	} else {
		if t != nil && t.AccessToken != used {
			c.mu.Unlock()
			return nil // somebody else has renewed it
		}
		if t != nil && time.Since(c.refused) < patience {
			c.mu.Unlock()
			return errors.New("oauth: the server refuses a new token, too; check client_id, scopes and the server's settings")
		}
		if t != nil {
			c.refused = time.Now()
		} else if s := param(challenges, "scope"); s != "" && len(c.scopes) == 0 {
			c.scopes = strings.Fields(s)
		}
		c.mu.Unlock()
	}
	if err := c.discover(ctx, param(challenges, "resource_metadata")); err != nil {
		return err
	}
	_, err = c.renew(ctx, t)
	return err
}

// stepUpLocked adds the scopes that a server misses. The caller holds mu.
func (c *Client) stepUpLocked(challenges []oauthex.Challenge) error {
	if param(challenges, "error") != "insufficient_scope" {
		return errors.New("oauth: the server forbids this (403)")
	}
	wanted := union(c.scopes, strings.Fields(param(challenges, "scope")))
	if len(wanted) == len(c.scopes) {
		return errors.New("oauth: the server wants scopes that we already have")
	}
	if c.stepUps >= maxStepUps {
		return fmt.Errorf("oauth: the server has asked for more scopes %d times; list what it needs under scopes", c.stepUps)
	}
	c.stepUps++
	c.scopes = wanted
	return nil
}

// renew replaces the token old, which may be nil, by a new one. Several callers
// wait for one request.
func (c *Client) renew(ctx context.Context, old *oauth2.Token) (*oauth2.Token, error) {
	select {
	case c.fetching <- struct{}{}:
		defer func() { <-c.fetching }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	t, scopes, extra, found := c.token, c.scopes, c.extra, c.found
	c.mu.Unlock()
	if t != nil && t != old {
		return t, nil
	}
	if found == nil {
		found = &place{TokenURL: c.creds.TokenURL, Resource: canonical(c.resource)}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, errors.New("oauth: no token in time"))
	defer cancel()
	now := time.Now()
	t, granted, err := c.fetch(ctx, *found, scopes, extra)
	if errors.Is(err, errScope) && len(extra) > 0 {
		// Better a server without some of its tools than none.
		extra = nil
		t, granted, err = c.fetch(ctx, *found, scopes, nil)
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token, c.issued, c.granted, c.extra = t, now, granted, extra
	return t, nil
}

// Missing returns those of the given scopes that the token in use does not have.
// Without a token nothing is known to be missing: the server may not ask for one.
func (c *Client) Missing(scopes []string) []string {
	if len(scopes) == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == nil {
		return nil
	}
	var missing []string
	for _, s := range scopes {
		if !slices.Contains(c.granted, s) {
			missing = append(missing, s)
		}
	}
	return missing
}

// param is the value of a parameter in the first challenge that has it.
func param(challenges []oauthex.Challenge, name string) string {
	for _, ch := range challenges {
		if v := ch.Params[name]; v != "" {
			return v
		}
	}
	return ""
}

// union of scopes, in a stable order, at most 64 of them.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), 64)]
}
