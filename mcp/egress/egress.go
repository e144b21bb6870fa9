// Package egress fetches from the public internet and from nowhere else. What
// decides is the address a name resolves to, checked in the dialer, for every
// connection and every redirect: a name that means one machine when it is looked
// at and another when it is dialled (DNS rebinding) gains nothing.
//
// # Promises
//
//   - No connection is made to this machine, to networks that are not public, to
//     a cloud's metadata service, or to an IPv6 address that carries an IPv4
//     address inside. See [Public].
//   - https only, unless a host is listed in [Options]; then plain http, too.
//   - No proxy, no cookies, at most three redirects, at most ten seconds.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// redirects is how often a page may send us on: http to https to www is two.
	redirects = 3
	dialTime  = 5 * time.Second
	// wholeTime bounds one fetch with its redirects.
	wholeTime = 10 * time.Second
	// headBytes bounds the header of an answer; Go's default is ten times that.
	headBytes = 64 << 10
	// maxURL is longer than any address that people pass on.
	maxURL = 2048
)

// ErrRefused is the cause of every refusal here.
var ErrRefused = errors.New("this address may not be fetched")

// Options widen what may be fetched.
type Options struct {
	// Hosts may be fetched wherever they are, also by plain http: names or
	// addresses without a port, as an operator configures them.
	Hosts []string
	// Resolver looks names up. Nil means this machine's.
	Resolver *net.Resolver
}

// Client returns a client for addresses that somebody else chose.
func Client(o Options) *http.Client {
	hosts := make([]string, len(o.Hosts))
	for i, h := range o.Hosts {
		hosts[i] = strings.ToLower(h)
	}
	strict := &net.Dialer{Timeout: dialTime, Resolver: o.Resolver, Control: func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return Public(ap.Addr())
	}}
	known := &net.Dialer{Timeout: dialTime, Resolver: o.Resolver}
	t := &http.Transport{
		TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: wholeTime, ForceAttemptHTTP2: true,
		IdleConnTimeout: 30 * time.Second, MaxIdleConns: 4, MaxResponseHeaderBytes: headBytes,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err == nil && slices.Contains(hosts, strings.ToLower(host)) {
				return known.DialContext(ctx, network, address)
			}
			return strict.DialContext(ctx, network, address)
		},
	}
	return &http.Client{
		Transport: checked{t, hosts}, Timeout: wholeTime,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > redirects {
				return fmt.Errorf("%w: it redirects more than %d times", ErrRefused, redirects)
			}
			return nil
		},
	}
}

// checked looks at every request's URL, redirected or not.
type checked struct {
	next  http.RoundTripper
	hosts []string
}

// RoundTrip implements [http.RoundTripper].
func (c checked) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := c.fits(r.URL); err != nil {
		return nil, err
	}
	return c.next.RoundTrip(r)
}

func (c checked) fits(u *url.URL) error {
	listed := slices.Contains(c.hosts, strings.ToLower(u.Hostname()))
	switch {
	case len(u.String()) > maxURL:
		return fmt.Errorf("%w: it is longer than %d characters", ErrRefused, maxURL)
	case u.Hostname() == "" || u.Opaque != "":
		return fmt.Errorf("%w: it names no host", ErrRefused)
	case u.User != nil:
		return fmt.Errorf("%w: it holds a user name", ErrRefused)
	case u.Scheme != "https" && (u.Scheme != "http" || !listed):
		return fmt.Errorf("%w: it does not begin with https://", ErrRefused)
	}
	// Below 1024 sit services that a stray request could harm.
	if port, err := strconv.Atoi(u.Port()); u.Port() != "" && !listed && (err != nil || port != 443 && port < 1024) {
		return fmt.Errorf("%w: port %s", ErrRefused, u.Port())
	}
	return nil
}

// Public refuses an address that is not on the public internet: of this machine,
// of a private or special network, of a cloud's metadata service, or an IPv6
// address that wraps an IPv4 address. IANA, "Special-Purpose Address Registry".
func Public(a netip.Addr) error {
	if a.Zone() != "" {
		return fmt.Errorf("%w: %s is no public address, but one of this machine's network", ErrRefused, a)
	}
	a = a.Unmap()
	if a.Is6() && !global6.Contains(a) || slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) }) || !a.IsValid() {
		return fmt.Errorf("%w: %s is no public address", ErrRefused, a)
	}
	return nil
}

// global6 is all of IPv6 that is given out; what is special in it comes below.
var global6 = netip.MustParsePrefix("2000::/3")

var special = prefixes(
	// this network, private, shared (CGNAT), loopback, link-local with the
	// metadata services, protocol assignments, documentation, relays of 6to4,
	// benchmarks, multicast, reserved with broadcast
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4",
	// Azure's metadata service, which has a public address
	"168.63.129.16/32",
	// protocol assignments with Teredo and ORCHID, documentation, 6to4
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}
