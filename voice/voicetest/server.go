package voicetest

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

// Options say how a server behaves. The zero value behaves like Discord's.
type Options struct {
	// Log receives a line per message at debug level. Nil discards them.
	Log *slog.Logger
	// Modes are the ciphers it offers. Nil means both of package rtp.
	Modes []string
	// Heartbeat is how often clients are to send one. Zero means 13.75 s.
	Heartbeat time.Duration
	// Plain describes calls without end-to-end encryption.
	Plain bool
	// Network is where the server is to be reached; nil means loopback.
	Network *Network
	// LateSpeaking holds back the news of who speaks, so that the first packets
	// come from an unknown source.
	LateSpeaking bool
}

const (
	defaultHeartbeat = 13750 * time.Millisecond
	// resumeWindow is how long a lost client may take to come back.
	resumeWindow = time.Minute
	// executeAfter is how long members may take to be ready for new keys.
	executeAfter = 2 * time.Second
	maxMembers   = 100
	readLimit    = 1 << 20
)

// A Server is a voice server on loopback.
type Server struct {
	opts     Options
	log      *slog.Logger
	pem      []byte
	client   *http.Client
	endpoint string
	http     *http.Server
	udp      packetConn
	cancel   context.CancelFunc
	ctx      context.Context
	tasks    sync.WaitGroup

	mu      sync.Mutex // guards all below, and all of calls and members
	tickets map[string]ticket
	calls   map[uint64]*call
	bySSRC  map[uint32]*member
	byAddr  map[netip.AddrPort]*member
	faults  Faults
	cutting bool          // the next socket that is sent cutAt
	cutAt   uint8         // an opcode
	delay   time.Duration // of the execution of transitions, negative for never
	weather weather
	silent  bool
	// unsealed counts packets that anybody on the way could hear.
	unsealed uint64
	closed   bool
}

// A Ticket lets one user join a call once or more: what the main gateway would
// hand out.
type Ticket struct {
	Session, Token, Endpoint string
}

type ticket struct {
	token                string
	guild, channel, user uint64
}

// NewServer starts a server. Nil options mean the zero ones.
func NewServer(o *Options) (*Server, error) {
	s := &Server{
		tickets: map[string]ticket{}, calls: map[uint64]*call{},
		bySSRC: map[uint32]*member{}, byAddr: map[netip.AddrPort]*member{}, weather: newWeather(),
	}
	if o != nil {
		s.opts = *o
	}
	if s.log = s.opts.Log; s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.opts.Modes == nil {
		s.opts.Modes = rtp.Modes[:]
	}
	if s.opts.Heartbeat == 0 {
		s.opts.Heartbeat = defaultHeartbeat
	}
	listener, err := s.listen()
	if err != nil {
		return nil, err
	}
	s.endpoint = listener.Addr().String()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.accept),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.tasks.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("voicetest: serve", "error", err)
		}
	})
	s.tasks.Go(s.relay)
	s.tasks.Go(s.sendDelayed)
	return s, nil
}

// listen opens the server's ports and makes the client that reaches them.
func (s *Server) listen() (net.Listener, error) {
	if n := s.opts.Network; n != nil {
		s.client = n.HTTP()
		var l net.Listener
		l, s.udp = n.open()
		return l, nil
	}
	certificate, text, err := newCertificate()
	if err != nil {
		return nil, err
	}
	s.pem = text
	s.client = Trust(s)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	_ = udp.SetReadBuffer(1 << 20) // a wish
	s.udp = udp
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}), nil
}

// Close ends all calls and returns when nothing of the server is left.
func (s *Server) Close() error {
	s.cancel()
	err := errors.Join(s.http.Close(), s.udp.Close())
	s.mu.Lock()
	s.closed = true
	for _, c := range s.calls {
		for _, m := range c.members {
			m.stopTimers()
			if m.ws != nil {
				m.ws.CloseNow()
			}
		}
		for _, w := range c.waiting {
			w.timer.Stop()
		}
	}
	s.mu.Unlock()
	s.client.CloseIdleConnections()
	s.tasks.Wait()
	return err
}

// Endpoint is the server's host and port, as a voice server update has it.
func (s *Server) Endpoint() string { return s.endpoint }

// Network is where the server is, nil for loopback.
func (s *Server) Network() *Network { return s.opts.Network }

// HTTP is a client that trusts the server's certificate.
func (s *Server) HTTP() *http.Client { return s.client }

// Certificate is that certificate, in PEM form: for NODE_EXTRA_CA_CERTS. On a
// [Network] there is none.
func (s *Server) Certificate() []byte { return s.pem }

// Trust is a client that trusts the certificates of several servers.
func Trust(servers ...*Server) *http.Client {
	pool := x509.NewCertPool()
	for _, s := range servers {
		pool.AppendCertsFromPEM(s.pem)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
}

// Admit lets a user join a channel.
func (s *Server) Admit(guild, channel, user uint64) Ticket {
	t := Ticket{Session: rand.Text(), Token: rand.Text(), Endpoint: s.endpoint}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[t.Session] = ticket{t.Token, guild, channel, user}
	return t
}

// accept serves one WebSocket.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.tasks.Add(1)
	s.mu.Unlock()
	defer s.tasks.Done()
	if v := r.URL.Query().Get("v"); v != "8" {
		http.Error(w, "voice gateway version 8 only", http.StatusBadRequest)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(readLimit)
	k := &socket{server: s, ws: ws, out: make(chan outgoing, 256)}
	k.serve(s.ctx)
}

// deliver sends what a group wants to be sent.
func (s *Server) deliver(c *call, list []Delivery) {
	for _, d := range list {
		m := c.members[d.To]
		if m == nil {
			continue
		}
		if d.Binary != nil {
			b := d.Binary
			if d.Op == m.spoil || d.Op == c.spoil {
				m.spoil, c.spoil = 0, 0
				b = append([]byte(nil), b...)
				b[len(b)-40] ^= 1
			}
			m.binary(d.Op, b)
			continue
		}
		switch d.Op {
		case dave.OpPrepareEpoch:
			m.numbered(d.Op, map[string]any{"protocol_version": d.Version, "epoch": d.Epoch})
		case dave.OpPrepareTransition:
			m.numbered(d.Op, map[string]any{"protocol_version": d.Version, "transition_id": d.Transition})
		default:
			m.numbered(d.Op, map[string]any{"transition_id": d.Transition})
		}
	}
}
