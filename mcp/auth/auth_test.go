package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// issuer is an authorization server and a tool server in one, on loopback.
type issuer struct {
	*httptest.Server
	mu       sync.Mutex
	forms    []url.Values
	basics   []string
	lifetime int
	methods  []string
	fail     string        // an OAuth error instead of a token
	resource string        // what the metadata claims, if not the truth
	grants   []string      // the only scopes there are; nil grants all and does not say so
	strict   bool          // a scope that there is not is an error
	asked    chan struct{} // told of the first request that hangs, if it is set
	hang     chan struct{}
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	s := &issuer{lifetime: 3600, methods: []string{basic}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		r := s.URL + "/mcp"
		if s.resource != "" {
			r = s.resource
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"resource": r, "authorization_servers": []string{s.URL + "/as"}, "scopes_supported": []string{"tools:read"}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server/as", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": s.URL + "/as", "token_endpoint": s.URL + "/as/token", "authorization_endpoint": s.URL + "/as/authorize",
			"response_types_supported": []string{"code"}, "token_endpoint_auth_methods_supported": s.methods,
			"code_challenge_methods_supported": []string{"S256"},
		})
	})
	mux.HandleFunc("/as/token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forms = append(s.forms, r.PostForm)
		id, secret, _ := r.BasicAuth()
		s.basics = append(s.basics, id+":"+secret)
		if s.hang != nil {
			select {
			case s.asked <- struct{}{}:
			default:
			}
			<-s.hang
		}
		w.Header().Set("Content-Type", "application/json")
		if s.fail != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":%q,"error_description":"no"}`, s.fail)
			return
		}
		answer := map[string]any{"access_token": fmt.Sprintf("token-%d", len(s.forms)), "token_type": "Bearer", "expires_in": s.lifetime}
		if s.grants != nil {
			asked := strings.Fields(r.PostForm.Get("scope"))
			granted := slices.DeleteFunc(slices.Clone(asked), func(x string) bool { return !slices.Contains(s.grants, x) })
			if s.strict && len(granted) < len(asked) {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"error":"invalid_scope"}`)
				return
			}
			answer["scope"] = strings.Join(granted, " ")
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *issuer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.forms)
}

func say(text string) func() string { return func() string { return text } }

func client(t *testing.T, s *issuer, c ClientCredentials) *Client {
	t.Helper()
	if c.ClientID == "" {
		c.ClientID = "glyphoxa prod"
	}
	cl, err := New(c, s.URL+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// refuse is what the transport does when the server answers 401 or 403.
func refuse(t *testing.T, c *Client, s *issuer, status int, used, challenge string) error {
	t.Helper()
	req := httptest.NewRequest(http.MethodPost, s.URL+"/mcp", nil)
	if used != "" {
		req.Header.Set("Authorization", "Bearer "+used)
	}
	rec := httptest.NewRecorder()
	if challenge != "" {
		rec.Header().Set("WWW-Authenticate", challenge)
	}
	rec.WriteHeader(status)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // as every call's context ends: later renewals must not depend on it
	return c.Authorize(ctx, req, rec.Result())
}

func token(t *testing.T, c *Client) string {
	t.Helper()
	src, err := c.TokenSource(t.Context())
	if err != nil || src == nil {
		t.Fatal("no token source", err)
	}
	tok, err := src.Token()
	if err != nil {
		t.Fatal(err)
	}
	return tok.AccessToken
}

func TestTokenIsDiscoveredAndBoundToItsServer(t *testing.T) {
	s := newIssuer(t)
	c := client(t, s, ClientCredentials{Secret: say("s:cret/")})
	if src, err := c.TokenSource(t.Context()); src != nil || err != nil {
		t.Errorf("before anything is known: %v, %v", src, err)
	}
	if err := refuse(t, c, s, 401, "", "Bearer"); err != nil {
		t.Fatal(err)
	}
	if got := token(t, c); got != "token-1" {
		t.Errorf("token %q", got)
	}
	f := s.forms[0]
	if f.Get("grant_type") != "client_credentials" || f.Get("resource") != s.URL+"/mcp" || f.Get("scope") != "tools:read" {
		t.Errorf("asked for %v", f)
	}
	if s.basics[0] != "glyphoxa+prod:s%3Acret%2F" {
		t.Errorf("basic %q, want both form-encoded", s.basics[0])
	}
}

func TestConfiguredPlaceNeedsNoRefusalFirst(t *testing.T) {
	s := newIssuer(t)
	s.methods = nil
	c := client(t, s, ClientCredentials{Secret: say("x"), TokenURL: s.URL + "/as/token", Scopes: []string{"b", "a"}})
	if got := token(t, c); got != "token-1" {
		t.Errorf("token %q", got)
	}
	if got := s.forms[0].Get("scope"); got != "a b" {
		t.Errorf("scope %q", got)
	}
	if token(t, c); s.count() != 1 {
		t.Errorf("%d requests for one token", s.count())
	}
}

func TestTokenIsRenewedBeforeItEndsAndAfterTheFirstCallIsLongOver(t *testing.T) {
	s := newIssuer(t)
	c := client(t, s, ClientCredentials{Secret: say("x")})
	if err := refuse(t, c, s, 401, "", ""); err != nil {
		t.Fatal(err)
	}
	left := func(d time.Duration) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.token.Expiry = time.Now().Add(d)
		c.issued = c.token.Expiry.Add(-time.Hour)
	}
	left(lastMoment / 2)
	if got := token(t, c); got != "token-2" {
		t.Errorf("at the last moment: %q, want a new one", got)
	}
	left(5 * time.Minute) // of an hour
	if got := token(t, c); got != "token-2" {
		t.Errorf("while it is good: %q", got)
	}
	c.tasks.Wait() // for the renewal ahead of time
	if got := token(t, c); got != "token-3" {
		t.Errorf("renewed ahead: %q", got)
	}
}

func TestManyCallersCauseOneRequest(t *testing.T) {
	s := newIssuer(t)
	s.asked, s.hang = make(chan struct{}, 1), make(chan struct{})
	c := client(t, s, ClientCredentials{Secret: say("x"), TokenURL: s.URL + "/as/token"})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got := token(t, c); got != "token-1" {
				t.Errorf("token %q", got)
			}
		})
	}
	<-s.asked // the others wait for this one, or come when it has its answer
	close(s.hang)
	wg.Wait()
	if n := s.count(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestRefusedTokenIsRenewedOnceAndNotForEver(t *testing.T) {
	s := newIssuer(t)
	c := client(t, s, ClientCredentials{Secret: say("x"), TokenURL: s.URL + "/as/token"})
	old := token(t, c)
	if err := refuse(t, c, s, 401, old, ""); err != nil {
		t.Fatal(err)
	}
	if got := token(t, c); got != "token-2" {
		t.Errorf("after a refusal: %q", got)
	}
	if err := refuse(t, c, s, 401, old, ""); err != nil || s.count() != 2 {
		t.Errorf("a late refusal of the old token: %v, %d requests; want none more", err, s.count())
	}
	if err := refuse(t, c, s, 401, "token-2", ""); err == nil || s.count() != 2 {
		t.Errorf("a refusal right after: %v, %d requests; want an error and none", err, s.count())
	}
}

func TestStepUpsAreFewAndOnlyForNewScopes(t *testing.T) {
	s := newIssuer(t)
	c := client(t, s, ClientCredentials{Secret: say("x"), TokenURL: s.URL + "/as/token", Scopes: []string{"a"}})
	token(t, c)
	up := func(scope string) error {
		return refuse(t, c, s, 403, "token", `Bearer error="insufficient_scope", scope="`+scope+`"`)
	}
	if err := up("b"); err != nil {
		t.Fatal(err)
	}
	if got := s.forms[1].Get("scope"); got != "a b" {
		t.Errorf("scope %q", got)
	}
	if err := up("a b"); err == nil {
		t.Error("asked again for scopes that we have")
	}
	if err := up("c"); err != nil {
		t.Error(err)
	}
	if err := up("d"); err == nil {
		t.Error("a third step up")
	}
	if err := refuse(t, c, s, 403, "token", ""); err == nil {
		t.Error("403 without a reason was taken for a missing scope")
	}
}

func TestScopesOfSingleToolsAreAskedForAndDoneWithout(t *testing.T) {
	for _, strict := range []bool{false, true} {
		s := newIssuer(t)
		s.grants, s.strict = []string{"read"}, strict
		c, err := New(ClientCredentials{ClientID: "x", Secret: say("x"), TokenURL: s.URL + "/as/token", Scopes: []string{"read"}}, s.URL+"/mcp", []string{"admin"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if got := c.Missing([]string{"admin"}); got != nil {
			t.Errorf("strict %v: without a token %v is missing, and the server may ask for none", strict, got)
		}
		token(t, c)
		if got := s.forms[0].Get("scope"); got != "admin read" {
			t.Errorf("strict %v: asked for %q", strict, got)
		}
		if got := c.Missing([]string{"read", "admin"}); !slices.Equal(got, []string{"admin"}) {
			t.Errorf("strict %v: missing %v, want admin", strict, got)
		}
	}
	s := newIssuer(t)
	c := client(t, s, ClientCredentials{Secret: say("x"), TokenURL: s.URL + "/as/token", Scopes: []string{"read"}})
	token(t, c)
	if got := c.Missing([]string{"read"}); got != nil {
		t.Errorf("missing %v, and the server granted what was asked for", got)
	}
}

func TestKeysProveWhoWeAre(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []any{ec, ed} {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		s := newIssuer(t)
		s.methods = []string{post, keyed}
		c := client(t, s, ClientCredentials{Secret: say("x"), Key: say(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))})
		for range 2 {
			if err := refuse(t, c, s, 401, "", ""); err != nil {
				t.Fatal(err)
			}
			c.mu.Lock()
			c.token = nil
			c.mu.Unlock()
		}
		seen := map[string]bool{}
		for _, f := range s.forms {
			if f.Has("client_secret") {
				t.Error("the secret was sent although there is a key")
			}
			var claims jwt.RegisteredClaims
			if _, _, err := jwt.NewParser().ParseUnverified(f.Get("client_assertion"), &claims); err != nil {
				t.Fatal(err)
			}
			if claims.Issuer != "glyphoxa prod" || claims.Subject != claims.Issuer || claims.Audience[0] != s.URL+"/as" || seen[claims.ID] {
				t.Errorf("claims %+v", claims)
			}
			seen[claims.ID] = true
		}
	}
}

func TestSecretsGoNowhereElse(t *testing.T) {
	const canary = "canary-secret"
	for name, change := range map[string]func(*issuer, *ClientCredentials){
		"another resource's metadata":  func(s *issuer, _ *ClientCredentials) { s.resource = "https://evil.example/mcp" },
		"a part of a path segment":     func(s *issuer, _ *ClientCredentials) { s.resource = s.URL + "/mc" },
		"another authorization server": func(_ *issuer, c *ClientCredentials) { c.Issuer = "https://ours.example" },
		"methods we do not know":       func(s *issuer, _ *ClientCredentials) { s.methods = []string{"tls_client_auth"} },
	} {
		s := newIssuer(t)
		cc := ClientCredentials{Secret: say(canary)}
		change(s, &cc)
		err := refuse(t, client(t, s, cc), s, 401, "", "")
		if err == nil || s.count() != 0 {
			t.Errorf("%s: %v, %d token requests", name, err, s.count())
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%s: the secret is in the error: %v", name, err)
		}
	}
	s := newIssuer(t)
	s.fail = "invalid_client\u202e"
	c := client(t, s, ClientCredentials{Secret: say(canary), TokenURL: s.URL + "/as/token"})
	src, err := c.TokenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Token(); err == nil || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), "invalid_client no") {
		t.Errorf("refused: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v", c.creds, c.creds, c.creds); strings.Contains(text, canary) {
		t.Error("printing the credentials shows the secret")
	}
}

func TestServersOutThereCannotSendUsInside(t *testing.T) {
	u, err := url.Parse("https://tools.example.com/mcp")
	if err != nil {
		t.Fatal(err)
	}
	cl := guarded(u, "")
	inner := httptest.NewServer(http.NotFoundHandler())
	defer inner.Close()
	for _, target := range []string{
		inner.URL, strings.Replace(inner.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1), "http://10.0.0.1/", "http://192.168.1.1/", "http://169.254.169.254/latest",
		"http://[::1]:80/", "http://[fd00::1]/", "http://[fe80::1%25lo]/", "http://0.0.0.0/", "http://100.64.0.1/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
	} {
		resp, err := cl.Get(target)
		if err == nil {
			resp.Body.Close()
			t.Errorf("%s was reached", target)
		} else if !strings.Contains(err.Error(), "public address") && !strings.Contains(err.Error(), "ParseAddr") {
			t.Errorf("%s: %v; want it refused, not merely failed", target, err)
		}
	}
	for _, s := range []string{"http://tools.example.com/token", "ftp://x/", "https://user:pw@x/", "https:///x", "javascript:alert(1)"} {
		if safeURL(s) == nil {
			t.Errorf("%s is safe", s)
		}
	}
}

func TestTokenRequestEndsWithItsContext(t *testing.T) {
	s := newIssuer(t)
	s.hang = make(chan struct{})
	defer close(s.hang)
	c := client(t, s, ClientCredentials{Secret: say("x"), TokenURL: s.URL + "/as/token"})
	stop := errors.New("talked over")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
	src, err := c.TokenSource(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Token(); !errors.Is(err, stop) {
		t.Errorf("err %v, want %v", err, stop)
	}
}

func FuzzReadToken(f *testing.F) {
	f.Add(200, `{"access_token":"a","token_type":"bearer","expires_in":"60"}`)
	f.Add(400, `{"error":"x"}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		rec := httptest.NewRecorder()
		rec.Body.WriteString(body)
		rec.Code = max(100, min(999, status))
		tok, _, err := readToken(rec.Result(), time.Now())
		if err == nil && (tok.AccessToken == "" || strings.ContainsAny(tok.AccessToken, "\r\n ")) {
			t.Errorf("%q became %q", body, tok.AccessToken)
		}
	})
}
