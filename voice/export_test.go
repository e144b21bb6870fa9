package voice

import (
	"net"
	"net/netip"
	"time"
)

// OnNetwork lets a call open its UDP sockets by dial, and pace itself by the time
// of a bubble: the returned pacer is to be closed behind the call.
func (o *Options) OnNetwork(dial func(to netip.AddrPort) (net.Conn, error)) *Pacer {
	o.dial = dial
	o.Pacer = newVirtualPacer()
	return o.Pacer
}

// newVirtualPacer sleeps as the rest of a bubble does: a thread of its own would
// sleep in real time, which does not pass there.
func newVirtualPacer() *Pacer {
	p := newPacer(func(until time.Time) { time.Sleep(time.Until(until)) })
	p.done.Go(p.run)
	return p
}
