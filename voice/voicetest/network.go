package voicetest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"
)

// inFlight datagrams wait to be read, as many as a kernel's buffer of 1 MiB holds
// of them; more are lost.
const inFlight = 4096

// A Network is an internet in the memory of this process: servers that are given
// one open no port, and are reached only through it. In a bubble of
// testing/synctest its time is virtual, so that an hour's call takes seconds and
// a busy machine changes nothing.
type Network struct {
	mu      sync.Mutex // guards what follows
	hosts   int
	streams map[string]*streamListener
	sockets map[netip.AddrPort]*socketUDP
}

// NewNetwork is a network without any server.
func NewNetwork() *Network {
	return &Network{streams: map[string]*streamListener{}, sockets: map[netip.AddrPort]*socketUDP{}}
}

// host makes an address that nobody has yet, from those kept for documentation.
func (n *Network) host() netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts++
	return netip.AddrFrom4([4]byte{198, 51, byte(100 + n.hosts>>8), byte(n.hosts)})
}

// HTTP is a client for everything on the network. Encryption of its connections
// is left out: nobody else is on the line.
func (n *Network) HTTP() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: n.Dial, DialTLSContext: n.Dial}}
}

// Dial opens a stream to an address of the network.
func (n *Network) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.streams[address]
	n.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("voicetest: nobody listens on %s", address)
	}
	ours, theirs := net.Pipe()
	select {
	case l.incoming <- theirs:
		return ours, nil
	case <-l.closed:
	case <-ctx.Done():
	}
	return nil, fmt.Errorf("voicetest: %s does not answer", address)
}

// DialUDP opens a socket that exchanges datagrams with one address only.
func (n *Network) DialUDP(to netip.AddrPort) (net.Conn, error) {
	return n.socket(netip.AddrPortFrom(n.host(), 50000), to), nil
}

// Listen opens a port for streams on a host of its own.
func (n *Network) Listen() net.Listener { return n.listen(n.host()) }

// open opens a voice server's two ports.
func (n *Network) open() (net.Listener, *socketUDP) {
	at := n.host()
	return n.listen(at), n.socket(netip.AddrPortFrom(at, 50000), netip.AddrPort{})
}

func (n *Network) listen(at netip.Addr) net.Listener {
	l := &streamListener{
		address: netip.AddrPortFrom(at, 443), network: n,
		incoming: make(chan net.Conn), closed: make(chan struct{}),
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams[l.address.String()] = l
	return l
}

func (n *Network) socket(at, to netip.AddrPort) *socketUDP {
	s := &socketUDP{network: n, at: at, to: to, in: make(chan datagram, inFlight), closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sockets[at] = s
	return s
}

// streamListener is a net.Listener for connections of the network.
type streamListener struct {
	address  netip.AddrPort
	network  *Network
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

// Accept is net.Listener's.
func (l *streamListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.incoming:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close is net.Listener's.
func (l *streamListener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.streams, l.address.String())
		l.network.mu.Unlock()
		close(l.closed)
	})
	return nil
}

// Addr is net.Listener's.
func (l *streamListener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.address) }

// A packetConn is what a server needs of a UDP socket.
type packetConn interface {
	ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	LocalAddr() net.Addr
	Close() error
}

type datagram struct {
	from netip.AddrPort
	b    []byte
}

// socketUDP is a UDP socket of the network: a server's, or a client's that
// knows only one address.
type socketUDP struct {
	network *Network
	at, to  netip.AddrPort
	in      chan datagram // inFlight of them; what does not fit is lost
	closed  chan struct{}
	once    sync.Once

	mu       sync.Mutex // guards deadline
	deadline time.Time
}

// ReadFromUDPAddrPort is net.UDPConn's.
func (s *socketUDP) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	s.mu.Lock()
	deadline := s.deadline
	s.mu.Unlock()
	var over <-chan time.Time
	if !deadline.IsZero() {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		over = t.C
	}
	for {
		select {
		case d := <-s.in:
			if s.to.IsValid() && d.from != s.to {
				continue
			}
			return copy(b, d.b), d.from, nil
		case <-over:
			return 0, netip.AddrPort{}, os.ErrDeadlineExceeded
		case <-s.closed:
			return 0, netip.AddrPort{}, net.ErrClosed
		}
	}
}

// WriteToUDPAddrPort is net.UDPConn's.
func (s *socketUDP) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	s.network.mu.Lock()
	there := s.network.sockets[to]
	s.network.mu.Unlock()
	if there != nil {
		select {
		case there.in <- datagram{s.at, append([]byte(nil), b...)}:
		default:
		}
	}
	return len(b), nil
}

// Read is net.Conn's.
func (s *socketUDP) Read(b []byte) (int, error) {
	n, _, err := s.ReadFromUDPAddrPort(b)
	return n, err
}

// Write is net.Conn's.
func (s *socketUDP) Write(b []byte) (int, error) { return s.WriteToUDPAddrPort(b, s.to) }

// Close is net.Conn's.
func (s *socketUDP) Close() error {
	s.once.Do(func() {
		s.network.mu.Lock()
		delete(s.network.sockets, s.at)
		s.network.mu.Unlock()
		close(s.closed)
	})
	return nil
}

// LocalAddr is net.Conn's.
func (s *socketUDP) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(s.at) }

// RemoteAddr is net.Conn's.
func (s *socketUDP) RemoteAddr() net.Addr { return net.UDPAddrFromAddrPort(s.to) }

// SetReadDeadline is net.Conn's. It holds for reads that begin later.
func (s *socketUDP) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = t
	return nil
}

// SetDeadline is net.Conn's; writes never wait.
func (s *socketUDP) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

// SetWriteDeadline is net.Conn's; writes never wait.
func (s *socketUDP) SetWriteDeadline(time.Time) error { return nil }
