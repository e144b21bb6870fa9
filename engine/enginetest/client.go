package enginetest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
)

// Client is an HTTP client whose every request goes to h, in memory: no port, no
// network, and under synctest no real time.
func Client(h http.Handler) *http.Client { return &http.Client{Transport: memory{h}} }

type memory struct{ h http.Handler }

// RoundTrip runs the handler in a goroutine that ends with it. A handler that
// waits for its client's end has to watch the request's context, as on a network.
func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &answer{header: http.Header{}, body: pw, ready: make(chan struct{}), socket: make(chan net.Conn, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			// An aborted handler is a closed connection; anything else is a fault of
			// the server's own and must be seen.
			if p := recover(); p != nil {
				if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
					panic(p)
				}
				pw.CloseWithError(io.ErrUnexpectedEOF)
				w.abort()
				return
			}
			w.WriteHeader(http.StatusOK)
			_ = pw.Close() // a pipe's always succeeds
		}()
		server := r.Clone(r.Context())
		server.RequestURI = r.URL.RequestURI()
		m.h.ServeHTTP(w, server)
	}()
	select {
	case <-w.ready:
	case <-r.Context().Done():
		pr.CloseWithError(r.Context().Err())
		<-ended
		return nil, r.Context().Err()
	}
	if w.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if w.status == http.StatusSwitchingProtocols {
		return &http.Response{
			Status: "101 Switching Protocols", StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: w.header, Body: <-w.socket, Request: r,
		}, nil
	}
	// Like a network's, the body ends with its request's context.
	stop := make(chan struct{})
	go func() {
		select {
		case <-r.Context().Done():
			pr.CloseWithError(r.Context().Err())
		case <-stop:
		}
	}()
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: &body{PipeReader: pr, ctx: r.Context(), stop: stop}, ContentLength: -1, Request: r,
	}, nil
}

// body closes the pipe and ends the goroutine that watches the context.
type body struct {
	*io.PipeReader
	ctx  context.Context
	stop chan struct{}
	once sync.Once
}

// Read says of an ended request that it has ended, whichever end saw it first.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.PipeReader.Read(p)
	if err != nil && b.ctx.Err() != nil {
		err = b.ctx.Err()
	}
	return n, err
}

func (b *body) Close() error {
	b.once.Do(func() { close(b.stop) })
	return b.CloseWithError(errors.New("the client has gone"))
}

// answer is a response on its way into a pipe.
type answer struct {
	header http.Header
	status int
	body   *io.PipeWriter
	ready  chan struct{} // closed with the header, or when there will be none
	once   sync.Once
	socket chan net.Conn // the client's end, for the one who hijacks; never full
}

// Hijack makes the connection a pipe, for WebSockets.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	client, server := net.Pipe()
	a.socket <- client
	return server, bufio.NewReadWriter(bufio.NewReader(server), bufio.NewWriter(server)), nil
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	a.once.Do(func() {
		a.status, a.header = status, a.header.Clone()
		close(a.ready)
	})
}

func (a *answer) abort() { a.once.Do(func() { close(a.ready) }) }

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// Flush is there because a streaming server asks for it; a pipe holds nothing back.
func (a *answer) Flush() {}
