package dave

// A window remembers which of the last 1,024 frames of a speaker were here, by
// their count. DAVE, "Nonce Handling", asks receivers for it.
type window struct {
	newest uint64
	seen   [windowSize / 64]uint64 // one bit a frame, at its count modulo windowSize
}

// windowSize is 20 s of sound: ten more than keys outlive their epoch.
const windowSize = 1024

// fresh says whether a frame of this count may still come.
func (w *window) fresh(count uint64) bool {
	if count > w.newest {
		return true
	}
	return w.newest-count < windowSize && w.seen[count%windowSize/64]&(1<<(count%64)) == 0
}

// mark remembers that it came.
func (w *window) mark(count uint64) {
	if count > w.newest {
		if count-w.newest >= windowSize {
			clear(w.seen[:])
		} else {
			for c := w.newest + 1; c < count; c++ {
				w.seen[c%windowSize/64] &^= 1 << (c % 64)
			}
		}
		w.newest = count
	}
	w.seen[count%windowSize/64] |= 1 << (count % 64)
}
