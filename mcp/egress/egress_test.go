package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	for s := range strings.FieldsSeq(`127.0.0.1 127.8.9.1 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.100.100.200
		169.254.169.254 169.254.1.1 168.63.129.16 192.0.0.192 192.0.2.7 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.9 192.88.99.1 224.0.0.1
		239.255.255.250 240.0.0.1 255.255.255.255
		:: ::1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::ffff:10.0.0.1 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe
		64:ff9b:1::a00:1 2002:7f00:1:: 2002:a9fe:a9fe::1 2001::7f00:1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1 2001:20::1 3fff::1
		fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00:ec2::254 fdff::1 ff02::1 ff05::2 100::1 5f00::1 4000::1`) {
		if err := Public(netip.MustParseAddr(s)); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: got %v, want ErrRefused", s, err)
		}
	}
	if err := Public(netip.Addr{}); !errors.Is(err, ErrRefused) {
		t.Errorf("no address: got %v, want ErrRefused", err)
	}
	for s := range strings.FieldsSeq(`1.1.1.1 8.8.8.8 93.184.215.14 172.15.0.1 172.32.0.1 100.63.255.255 100.128.0.1 169.253.1.1 168.63.129.17 ::ffff:8.8.8.8
		2606:4700:4700::1111 2a00:1450:4001:81b::200e 2003::1`) {
		if err := Public(netip.MustParseAddr(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestEverySpellingOfAnInnerAddressIsRefused(t *testing.T) {
	var reached atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := Client(Options{})
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.1", "127.0.0.1.",
		"[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]", "[0:0:0:0:0:0:0:1]",
		"[::]", "0.0.0.0", "0", "①②⑦.⓪.⓪.①", "%31%32%37.0.0.1", "169.254.169.254", "[fd00:ec2::254]", "10.0.0.1", "192.168.0.1",
	} {
		for _, scheme := range []string{"http", "https"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+host+":"+port+"/", nil)
			if err != nil {
				continue // no URL at all
			}
			resp, err := c.Do(r)
			if err == nil {
				resp.Body.Close()
				t.Errorf("%s://%s was fetched", scheme, host)
			}
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the server inside was reached %d times", n)
	}
}

func TestUnusualURLsAreRefusedBeforeAnythingIsDialled(t *testing.T) {
	c := Client(Options{})
	for _, u := range []string{
		"http://example.com/", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "https://user:pw@example.com/", "https://user@example.com/",
		"https://example.com:22/", "https://example.com:25/", "https://example.com:80/", "https:opaque", "data:text/html,hi",
		"https://example.com/" + strings.Repeat("a", maxURL),
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%.40s: got %v, want ErrRefused", u, err)
		}
	}
}

func TestRedirectsAreCheckedLikeTheFirstAddress(t *testing.T) {
	var inside atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	defer inner.Close()
	_, port, err := net.SplitHostPort(inner.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// The operator allows localhost by that name; the same machine by another
	// name is still refused.
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	}))
	defer outer.Close()
	_, outerPort, err := net.SplitHostPort(outer.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := Client(Options{Hosts: []string{"LocalHost"}})
	get := func(to string) error {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost:"+outerPort+"/?to="+to, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	for _, to := range []string{
		"https://127.0.0.1:" + port, "http://127.0.0.1:" + port, "https://[::1]:" + port, "https://169.254.169.254/latest/meta-data/",
		"http://example.com/", "file:///etc/passwd", "//127.0.0.1:" + port, "http://localhost:" + outerPort + "/?to=/?to=/?to=/?to=/",
	} {
		if err := get(to); !errors.Is(err, ErrRefused) {
			t.Errorf("redirect to %s: got %v, want ErrRefused", to, err)
		}
	}
	if n := inside.Load(); n != 0 {
		t.Errorf("the server inside was reached %d times", n)
	}
	if err := get("http://localhost:" + port); err != nil {
		t.Errorf("redirect to a listed host: %v", err)
	}
}

// rebinding is a name server that gives a public address first, and this
// machine's from then on.
func rebinding(t *testing.T) (*net.Resolver, *atomic.Int64) {
	t.Helper()
	pc, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	asked := new(atomic.Int64)
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
			if q.Type == dnsmessage.TypeA {
				a := [4]byte{127, 0, 0, 1}
				if asked.Add(1) == 1 {
					a = [4]byte{192, 0, 2, 1} // refused too: nothing in a test leaves the machine
				}
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: a},
				}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = pc.WriteTo(out, from)
			}
		}
	}()
	addr := pc.LocalAddr().String()
	var d net.Dialer
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "udp", addr)
	}}, asked
}

func TestNameThatMovesInsideBetweenLookupsIsRefused(t *testing.T) {
	var reached atomic.Int64
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	resolver, asked := rebinding(t)
	c := Client(Options{Resolver: resolver})
	for range 3 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://rebind.example:"+port+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		if !errors.Is(err, ErrRefused) {
			t.Errorf("got %v, want ErrRefused", err)
		}
	}
	if asked.Load() < 2 || reached.Load() != 0 {
		t.Errorf("the name was looked up %d times and the server inside reached %d times, want more than one and none", asked.Load(), reached.Load())
	}
}
