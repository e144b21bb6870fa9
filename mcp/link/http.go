package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Remote says where a server is and how to be let in.
type Remote struct {
	// URL is the endpoint, http or https. Plain http is for this machine only,
	// unless Plain allows it.
	URL string
	// SSE speaks the transport of 2024.
	SSE bool
	// Bearer returns a static token, or nil. It is sent to the URL's origin only.
	Bearer func() string
	// OAuth obtains tokens; it comes before Bearer. Streamable HTTP only.
	OAuth auth.OAuthHandler
	// Plain allows http to other machines.
	Plain bool
}

// HTTP connects to a server over HTTP.
func HTTP(ctx context.Context, r Remote, o Options) (*Link, error) {
	u, err := checkURL(r)
	if err != nil {
		return nil, err
	}
	rt := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   maxCalls,
		MaxConnsPerHost:       4 * maxCalls,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	client := &http.Client{
		Transport: &oneOrigin{base: rt, origin: u, bearer: r.Bearer},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if !sameOrigin(next.URL, u) || len(via) > 3 {
				return fmt.Errorf("redirected to %s: a tool server may not send us elsewhere", next.URL.Redacted())
			}
			return nil
		},
	}
	shut := rt.CloseIdleConnections
	if r.SSE {
		if r.OAuth != nil {
			return nil, errors.New("OAuth needs streamable HTTP; the SSE transport has no place for it")
		}
		// The stream that Connect opens must outlive it, and end with the link.
		life, cancel := context.WithCancel(context.WithoutCancel(ctx))
		t := within{&sdk.SSEClientTransport{Endpoint: r.URL, HTTPClient: client, MaxEventSize: MaxMessage}, life}
		return open(ctx, t, legacy, o, func() {
			cancel()
			shut()
		})
	}
	attempt := func(ctx context.Context, version string) (*Link, error) {
		return open(ctx, &sdk.StreamableClientTransport{
			Endpoint: r.URL, HTTPClient: client, OAuthHandler: r.OAuth, MaxEventSize: MaxMessage, MaxRetries: 3,
		}, version, o, shut)
	}
	switch o.Era {
	case LegacyEra:
		return attempt(ctx, legacy)
	case ModernEra:
		return attempt(ctx, "")
	}
	// The SDK falls back by itself where the server answers; a server that is
	// merely silent gets half the time before it is spoken to in the old way.
	first, cancel := context.WithTimeout(ctx, half(ctx))
	defer cancel()
	l, err := attempt(first, "")
	if err != nil && first.Err() != nil && ctx.Err() == nil {
		return attempt(ctx, legacy)
	}
	return l, err
}

// within is a transport whose connection lives as long as a context of its own.
type within struct {
	sdk.Transport
	life context.Context
}

// Connect implements the SDK's transport.
func (w within) Connect(context.Context) (sdk.Connection, error) { return w.Transport.Connect(w.life) }

// half of the time that is left, at least a moment.
func half(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 5 * time.Second
	}
	return max(time.Until(deadline)/2, 10*time.Millisecond)
}

func checkURL(r Remote) (*url.URL, error) {
	u, err := url.Parse(r.URL)
	switch {
	case err != nil:
		return nil, err
	case u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("url %q: want https://host/path", r.URL)
	case u.User != nil:
		return nil, errors.New("url: no user name or password in it; use auth")
	case u.Scheme == "http" && !r.Plain && !loopback(u.Hostname()):
		return nil, fmt.Errorf("url %q: http to another machine sends everything in the clear; use https, or set insecure: true", r.URL)
	}
	return u, nil
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// oneOrigin adds the static token to requests to the server itself, and to no
// others, and keeps requests from going elsewhere.
type oneOrigin struct {
	base   http.RoundTripper
	origin *url.URL
	bearer func() string
}

// RoundTrip implements [http.RoundTripper].
func (o *oneOrigin) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameOrigin(r.URL, o.origin) {
		return nil, fmt.Errorf("request to %s: not the server's own origin", r.URL.Redacted())
	}
	if o.bearer != nil && r.Header.Get("Authorization") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+o.bearer())
	}
	return o.base.RoundTrip(r)
}
