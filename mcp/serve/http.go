package serve

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	idle = 2 * time.Minute
	// goodbye is how long open requests get when the server ends.
	goodbye = 3 * time.Second
	// maxSessions bounds what clients of the older revisions can make us keep.
	maxSessions = 64
	// sessionLife ends a session that nobody has asked anything for so long.
	sessionLife = 10 * time.Minute
	// maxReplay bounds the answers that are kept for clients whose stream broke,
	// of all sessions together.
	maxReplay = 4 << 20
	// sessionless is the first revision of the protocol without sessions.
	sessionless = "2026-07-28"
)

// HTTP serves the host's tools at /mcp on l until ctx ends.
func HTTP(ctx context.Context, h *mcp.Host, l net.Listener, o Options) error {
	return Listen(ctx, server(h, o), l, o)
}

// Listen serves s at /mcp on l until ctx ends. It is [HTTP] for a server that was
// made elsewhere; of the options only Token and Log count.
func Listen(ctx context.Context, s *sdk.Server, l net.Listener, o Options) error {
	if o.Token == "" && !loopback(l.Addr()) {
		return fmt.Errorf("%s can be reached from other machines: a token is needed", l.Addr())
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", http.NewCrossOriginProtection().Handler(bearer(o.Token, eras(s, o))))
	srv := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: idle, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1) // so that the goroutine below can end
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	err := srv.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close() // streams stay open for as long as a client likes
	}
	for session := range s.Sessions() {
		err = errors.Join(err, session.Close())
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// eras serves both eras of the protocol. Clients of revisions before 2026-07-28
// get a session, so that one whose stream breaks can fetch the answer; newer ones,
// and old ones that ask for nothing but an answer, get that and are forgotten.
func eras(s *sdk.Server, o Options) http.Handler {
	get := func(*http.Request) *sdk.Server { return s }
	replay := sdk.NewMemoryEventStore(nil)
	replay.SetMaxBytes(maxReplay)
	sessions := sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		MaxRequestBodyBytes: maxRequest, EventStore: replay, SessionTimeout: sessionLife, Logger: o.Log,
	})
	single := sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		MaxRequestBodyBytes: maxRequest, Stateless: true, Logger: o.Log, PropagateRequestCancellation: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Mcp-Protocol-Version") >= sessionless:
			single.ServeHTTP(w, r)
		case r.Method != http.MethodPost, r.Header.Get("Mcp-Session-Id") != "":
			sessions.ServeHTTP(w, r)
		case !begins(w, r):
			single.ServeHTTP(w, r)
		case full(s):
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many sessions; end one, or use the protocol without them", http.StatusServiceUnavailable)
		default:
			sessions.ServeHTTP(w, r)
		}
	})
}

// begins says whether a request wants to begin a session. It leaves the body as
// it was.
func begins(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err})) // for the next reader to report
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var m struct{ Method string }
	return json.Unmarshal(body, &m) == nil && m.Method == "initialize"
}

// broken is the end of a body that could not be read.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// full says whether there are as many sessions as are kept at once.
func full(s *sdk.Server) bool {
	n := 0
	for range s.Sessions() {
		n++
	}
	return n >= maxSessions
}

// bearer asks for the token, if there is one.
func bearer(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}
