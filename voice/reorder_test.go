package voice

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var t0 = time.Unix(1_800_000_000, 0)

// drain pops everything that can be popped at now; lost packets are -1.
func drain(q *queue, now time.Time) (got []int) {
	for {
		switch v, a, _ := q.pop(now); v {
		case nothing:
			return got
		case packet:
			got = append(got, int(a.sequence))
		case lost:
			got = append(got, -1)
		}
	}
}

func TestPacketsInOrderAreNotHeldBack(t *testing.T) {
	var q queue
	for n := range 300 {
		seq := uint16(65400 + n) // over the wrap
		q.push(seq, uint32(n*960), []byte{1}, t0)
		if got := drain(&q, t0); !slices.Equal(got, []int{int(seq)}) {
			t.Fatalf("packet %d gave %v at once", seq, got)
		}
	}
}

func TestGapIsWaitedForAndThenLost(t *testing.T) {
	var q queue
	q.push(1, 0, []byte{1}, t0)
	q.push(3, 1920, []byte{3}, t0)
	if got := drain(&q, t0); !slices.Equal(got, []int{1}) {
		t.Errorf("got %v at once, want only the first packet", got)
	}
	_, _, wake := q.pop(t0)
	if want := t0.Add(gapWait); !wake.Equal(want) {
		t.Errorf("wakes at %v, want %v", wake, want)
	}
	if got := drain(&q, wake); !slices.Equal(got, []int{-1, 3}) {
		t.Errorf("after the wait got %v, want a loss and packet 3", got)
	}
	if ok, _ := q.push(2, 960, []byte{2}, wake); ok {
		t.Error("a packet that was given up was taken")
	}
}

func TestThreeLaterPacketsEndTheWait(t *testing.T) {
	var q queue
	q.push(1, 0, []byte{1}, t0)
	for _, n := range []uint16{3, 4, 5} {
		q.push(n, 0, []byte{1}, t0)
	}
	if got := drain(&q, t0); !slices.Equal(got, []int{1, -1, 3, 4, 5}) {
		t.Errorf("got %v, want the gap given up at once", got)
	}
}

func TestSwappedPacketsComeInOrder(t *testing.T) {
	var q queue
	q.push(1, 0, []byte{1}, t0)
	q.push(3, 0, []byte{3}, t0)
	q.push(2, 0, []byte{2}, t0.Add(5*time.Millisecond))
	if got := drain(&q, t0.Add(5*time.Millisecond)); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("got %v, want 1 2 3", got)
	}
}

func TestStreamThatJumpsStartsAfresh(t *testing.T) {
	var q queue
	q.push(1, 0, []byte{1}, t0)
	drain(&q, t0)
	if _, restarted := q.push(30000, 0, []byte{1}, t0); !restarted {
		t.Error("a jump over half the numbers did not restart the stream")
	}
	if got := drain(&q, t0); !slices.Equal(got, []int{30000}) {
		t.Errorf("got %v, want the new stream at once", got)
	}
}

// TestEachPacketComesAtMostOnceAndInOrder feeds any order of numbers.
func TestEachPacketComesAtMostOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		start := rapid.Uint16().Draw(t, "start")
		now, last := t0, -1
		for range 200 {
			n := rapid.IntRange(0, 60).Draw(t, "n")
			now = now.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "ms")) * time.Millisecond)
			q.push(start+uint16(n), 0, []byte{byte(n)}, now)
			for {
				v, a, _ := q.pop(now)
				if v == nothing {
					break
				}
				if v == packet {
					if got := int(a.frame[0]); got <= last {
						t.Fatalf("packet %d came after %d", got, last)
					} else {
						last = got
					}
				}
			}
			if q.waiting > ringSize {
				t.Fatalf("%d packets wait", q.waiting)
			}
		}
	})
}
