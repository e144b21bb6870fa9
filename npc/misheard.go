package npc

// misheard looks for a name that the recogniser did not know, where a name
// would stand if somebody were spoken to.
func (c *Cast) misheard(l *line, fs *founds, u Utterance) (best call, who found, ok bool) {
	if len(c.heard) == 0 {
		return best, who, false
	}
	try := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if i < 0 || i >= l.n || fs.at(i) != nil {
				return
			}
		}
		f, found := c.guess(l, lo, hi)
		if !found {
			return
		}
		with := *fs
		with.add(f)
		p := c.place(l, &with, lo, hi, u)
		if f.form.common && len(f.form.words) == 1 && p.score < 0.85 {
			return // an ordinary word is a name only where a name must stand
		}
		// What sounds less alike needs a clearer place.
		p.score -= (1 - f.alike) * 0.5
		if p.score > best.score && p.score >= sure || ok && p.score >= sure && f.alike > who.alike+0.08 && p.score > best.score-0.1 {
			p.lo, p.hi, p.alike = lo, hi, f.alike
			if p.why == whyCalled || p.why == whyGreeted {
				p.why = whyMisheard
			}
			best, who, ok = p, f, true
		}
	}
	for i := range l.n {
		opens := i == 0 || l.words[i-1].stop != 0 || l.isAny(i-1, set(opener, greeting, asking, honor, sayto))
		for n := 1; n <= 3 && i+n <= l.n; n++ {
			closes := i+n == l.n || l.words[i+n-1].stop != 0
			if opens && (closes || n <= 3) || closes && n <= 3 && i > 0 {
				try(i, i+n)
			}
			if l.words[i+n-1].stop != 0 {
				break
			}
		}
	}
	return best, who, ok
}
