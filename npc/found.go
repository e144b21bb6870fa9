package npc

// maxFound is the most names that are looked at in one utterance.
const maxFound = 12

// A found is somebody's name in a line.
type found struct {
	lo, hi int
	form   *form
	// who is an index in Cast.npcs, or -1 for a human or a title that several
	// share.
	who int
	// alike is 1, or how much it sounds like the name.
	alike float32
	// poss is set for "Bartok's".
	poss bool
}

// founds are the names of a line, in its order.
type founds struct {
	list [maxFound]found
	n    int
}

func (fs *founds) add(f found) {
	if fs.n == maxFound {
		return
	}
	// Kept in the order in which they were said.
	i := fs.n
	for i > 0 && fs.list[i-1].lo > f.lo {
		fs.list[i] = fs.list[i-1]
		i--
	}
	fs.list[i] = f
	fs.n++
}

// at is the name that covers word i, or nil.
func (fs *founds) at(i int) *found {
	for k := range fs.n {
		if f := &fs.list[k]; f.lo <= i && i < f.hi {
			return f
		}
	}
	return nil
}

// find looks for all names in the line. last is the NPC with whom the speaker
// was in exchange, or -1; it decides between two of the same title.
func (c *Cast) find(l *line, fs *founds, last int) {
	for i := 0; i < l.n; {
		f, poss, ok := c.match(l, i)
		if !ok {
			i++
			continue
		}
		hi := i + len(f.words)
		if f.by != byHuman && hi-i < 3 && l.covered(i, hi) {
			i = hi
			continue // "oh my lord"
		}
		fs.add(found{lo: i, hi: hi, form: f, who: c.only(f, last), alike: 1, poss: poss})
		i = hi
	}
}

// match is the longest form that begins at word i.
func (c *Cast) match(l *line, i int) (f *form, poss, ok bool) {
	list := c.forms[string(l.str(i))]
	own := l.words[i].base != l.words[i].hi
	if len(list) == 0 {
		// "bartoks wife": English without its apostrophe, or plain German.
		w := l.str(i)
		if len(w) < 5 || w[len(w)-1] != 's' || l.words[i].known {
			return nil, false, false
		}
		list = c.forms[string(w[:len(w)-1])]
		for k := range list {
			if len(list[k].words) == 1 && list[k].by == byName {
				return &list[k], true, true
			}
		}
		return nil, false, false
	}
next:
	for k := range list {
		f := &list[k]
		if i+len(f.words) > l.n {
			continue
		}
		for j, w := range f.words[1:] {
			if string(l.str(i+1+j)) != w || l.words[i+j].stop != 0 {
				continue next
			}
		}
		if len(f.words) > 1 {
			end := i + len(f.words) - 1
			own = l.words[end].base != l.words[end].hi
		}
		return f, own, true
	}
	return nil, false, false
}

// only is the one NPC that a form means here, or -1.
func (c *Cast) only(f *form, last int) int {
	if f.by == byHuman {
		return -1
	}
	if len(f.who) == 1 {
		return int(f.who[0])
	}
	who := -1
	for _, w := range f.who {
		if int(w) == last {
			return last
		}
		if c.npcs[w].present {
			if who >= 0 {
				return -1 // two of them are here
			}
			who = int(w)
		}
	}
	return who
}

// guess looks for a misheard name in the window of words from lo to hi.
func (c *Cast) guess(l *line, lo, hi int) (f found, ok bool) {
	if hi > l.n || lo < 0 || lo >= hi {
		return f, false
	}
	// Words that hold a sentence together are no names, alone or in a row.
	holds := 0
	known := true
	letters := 0
	for i := lo; i < hi; i++ {
		w := &l.words[i]
		if w.die || i < hi-1 && w.stop != 0 {
			return f, false
		}
		if w.means.any(holding) {
			holds++
		}
		known = known && w.known
		letters += int(w.base - w.lo)
	}
	if holds == hi-lo || letters < 3 || letters > 24 {
		return f, false
	}
	var s sounding
	switch hi - lo {
	case 1:
		s.sound(l.str(lo))
	case 2:
		s.sound(l.str(lo), l.str(lo+1))
	default:
		s.sound(l.str(lo), l.str(lo+1), l.str(lo+2))
	}
	if s.n < 2 {
		return f, false
	}
	best := float32(0)
	for k := range c.heard {
		h := &c.heard[k]
		least := h.least
		if known && hi-lo == 1 {
			least = max(least, 0.93) // a word of its own that says something else
		} else if holds > 0 {
			least = max(least, 0.8)
		}
		if a := s.alike(&h.sounding, least); a >= least && a > best {
			best = a
			end := hi - 1
			f = found{lo: lo, hi: hi, form: h.form, who: int(h.form.who[0]), alike: a, poss: l.words[end].base != l.words[end].hi}
		}
	}
	return f, best > 0
}

// holding are the meanings of words that hold a sentence together.
const holding = 1<<opener | 1<<you | 1<<third | 1<<me | 1<<we | 1<<other | 1<<ask | 1<<aux | 1<<det | 1<<that | 1<<prep | 1<<conj | 1<<order | 1<<polite | 1<<number | 1<<answer
