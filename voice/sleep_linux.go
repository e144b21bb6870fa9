package voice

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleepUntil sleeps on the calling thread: the runtime's timers wake up to a
// millisecond late, a thread of one's own a tenth of that.
func sleepUntil(t time.Time) {
	for d := time.Until(t); d > 0; d = time.Until(t) {
		ts := unix.NsecToTimespec(d.Nanoseconds())
		if unix.Nanosleep(&ts, nil) == nil {
			return
		}
	}
}

// raisePriority asks for the calling thread to be woken before others. Without
// the privilege nothing changes.
func raisePriority() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -10) }
