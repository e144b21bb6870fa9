package console

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
)

// policy is the content security policy: everything from this server, nothing
// inline, no frame around it, no form to elsewhere.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guard is what every request passes: its host must be ours, pages get the
// headers that keep foreign code out, and a request that changes something must
// come from our own page.
func (c *Console) guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.log.Warn("request of another site refused", "origin", r.Header.Get("Origin"), "path", r.URL.Path)
		http.Error(w, "this request came from another site and was refused; use the table's own page", http.StatusForbidden)
	}))
	next = cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer") // login links carry a token
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "microphone=(self), camera=(), geolocation=()")
		h.Set("Cache-Control", "no-store")
		if !c.hostIsOurs(r.Host) {
			c.log.Warn("request for a foreign host refused", "host", r.Host)
			http.Error(w, fmt.Sprintf("this server does not answer for the host %.100q: open it as 127.0.0.1 or localhost, or add the name to hosts in glyphoxa.yaml", r.Host), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostIsOurs is the defence against DNS rebinding: a page of a foreign name that
// now points at this machine still asks for its own name.
func (c *Console) hostIsOurs(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" {
		return true
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(c.hosts, func(h string) bool { return strings.EqualFold(h, host) })
}
