package auth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp/egress"
)

// guarded returns the client for everything that a tool server may make us fetch.
// A server out there must not send us to addresses in here.
func guarded(resource *url.URL, tokenURL string) *http.Client {
	// An operator who configures an inner address means it.
	inner := map[string]bool{}
	for _, s := range []string{resource.String(), tokenURL} {
		if u, err := url.Parse(s); err == nil && u.Host != "" {
			inner[strings.ToLower(u.Hostname())] = true
		}
	}
	local := localName(resource.Hostname())
	d := &net.Dialer{Timeout: 5 * time.Second}
	rt := &http.Transport{
		TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: fetchTime, ForceAttemptHTTP2: true,
		IdleConnTimeout: 30 * time.Second, MaxIdleConns: 4,
	}
	plain := d.DialContext
	strict := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		return public(address)
	}}
	rt.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err == nil && (local || inner[strings.ToLower(host)]) {
			return plain(ctx, network, address)
		}
		return strict.DialContext(ctx, network, address)
	}
	return &http.Client{Transport: rt, Timeout: fetchTime, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.Method != http.MethodGet || len(via) > 3 {
			return errors.New("redirected: secrets are not sent on")
		}
		return safeURL(r.URL.String())
	}}
}

// public refuses addresses that are not on the public internet. It sees them after
// names have been resolved.
func public(address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if err := egress.Public(ap.Addr()); err != nil {
		return fmt.Errorf("%w; give token_url in the configuration if it is meant", err)
	}
	return nil
}

// safeURL accepts https, and http on this machine.
func safeURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return err
	case u.Host == "" || u.User != nil:
		return fmt.Errorf("%q is no usable URL", u.Redacted())
	case u.Scheme == "https", u.Scheme == "http" && localName(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%q: want https", u.Redacted())
}

func localName(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
