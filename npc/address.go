// Package npc decides who is meant by what somebody says, and how long the answer
// may take.
//
// A [Cast] knows the NPCs of a scene by their names, aliases and titles, also as a
// recogniser mishears them. [Cast.Address] says who is meant by an [Utterance], or
// that nobody is, which at a real table is most of the time; [SelectTier] says what
// latency tier the answer deserves. Both are pure functions that ask no model.
// Package brief writes what a model is shown, package spoken checks what it wrote
// before it is said aloud.
//
// # Promises
//
//   - Unsure means silent: the game master is offered a likely NPC instead.
//   - Every decision says why, in words.
//   - Absent and muted NPCs are recognised and do not answer.
//   - A decision takes microseconds and, unless several NPCs are meant,
//     allocates nothing.
//
// English, German and Spanish are known; a campaign may add words of its own.
package npc

import "slices"

import "time"

// An Utterance is one line that somebody said, and what is known around it.
type Utterance struct {
	Text string
	// DM is set if the game master said it, by Discord's own identity.
	DM bool
	// Last is the id of the NPC with whom this speaker was last in exchange, and
	// Since is how long that is ago. "" is nobody.
	Last  string
	Since time.Duration
	// Asked is set if Last's words ended in a question.
	Asked bool
}

const (
	// sure is the score from which an NPC answers.
	sure = 0.55
	// perhaps is the score from which the game master is offered an answer.
	perhaps = 0.35
	// window is how long after an exchange a line may continue it; lines that
	// clearly ask are believed for longerWindow.
	window       = 10 * time.Second
	longerWindow = 12 * time.Second
	// pronounWindow is how long "I ask him" still means the last NPC.
	pronounWindow = 45 * time.Second
)

// A Decision says who is meant by an utterance, and why.
type Decision struct {
	// To are the ids of the NPCs who should answer, in order. Empty is nobody.
	// It may be shared and must not be changed.
	To []string
	// Everyone is set if all NPCs present were spoken to; To holds them.
	Everyone bool
	// Score is how sure the decision is, from 0 to 1: at least 0.55 where an NPC
	// answers.
	Score float32
	// Offer is the NPC whom the game master may let answer with one tap: the
	// likeliest one where it is unsure whether any was meant.
	Offer string
	// Command is what the game master ordered; its Kind is NoCommand otherwise.
	Command Command
	// Intent is what the utterance is about.
	Intent Intent
	// OutOfCharacter is how sure it is that the line is talk about the game and
	// not in it, from 0 to 1.
	OutOfCharacter float32
	// XCard is set if the line asks for the scene to stop. It counts from
	// anybody.
	XCard bool
	// TakeTime is set if an NPC is told to think long, or asked for what only
	// slow tools can give.
	TakeTime bool
	// Sincere is set if an NPC is asked whether software plays it.
	Sincere bool

	why  why
	name string // of the NPC whom why speaks of
}

// Reason says in words why the decision was taken.
func (d Decision) Reason() string { return d.why.words(d.name) }

// call is one NPC, or several named in one breath, and how the line speaks of
// them.
type call struct {
	lo, hi int
	score  float32
	why    why
	alike  float32
}

// Address says who is meant by u. It asks no model, reads no clock and, unless
// several NPCs are meant at once, allocates nothing.
func (c *Cast) Address(u Utterance) Decision {
	var l line
	l.read(c.lang, u.Text)
	d := c.address(&l, u)
	d.Intent = l.intent(&d)
	// Among players "take your time" is said often; without a name it is only
	// for the NPC if there is something to think about.
	d.TakeTime = len(d.To) > 0 && l.asksTime() && (d.why != whyContinues && d.why != whyAnswers || l.question())
	return d
}

func (c *Cast) address(l *line, u Utterance) Decision {
	d := Decision{why: whyNobody}
	d.XCard = l.has.has(xcard)
	if l.empty() {
		d.why = whyNoise
		d.OutOfCharacter = 1
		return d
	}
	d.OutOfCharacter = l.outOfCharacter()
	last := c.index(u.Last)
	if last >= 0 && u.Since > pronounWindow {
		last = -1
	}
	if u.DM {
		if cmd, who := c.command(u.Text); cmd.Kind != NoCommand {
			d.Command, d.Score, d.why = cmd, 1, whyCommand
			if who >= 0 {
				d.name = c.npcs[who].name
			}
			return d
		}
	}
	var fs founds
	c.find(l, &fs, last)
	named, offer := c.called(l, &fs, &d, u, last)
	if named {
		d.Sincere = l.has.has(software)
		return d
	}
	if c.calledAll(l, &fs, &d, u) {
		return d
	}
	best := call{why: d.why}
	if offer.score > best.score {
		best = offer
	}
	if last >= 0 && c.npcs[last].present {
		k := c.continues(l, &fs, u, last, d.OutOfCharacter)
		if c.npcs[last].muted && k.score >= sure {
			d.why, d.name, d.Score = whyMuted, c.npcs[last].name, k.score
			return d
		}
		if k.score >= sure {
			d.To, d.Score, d.why, d.name = c.npcs[last].self, k.score, k.why, c.npcs[last].name
			d.Sincere = l.has.has(software)
			return d
		}
		if k.score > best.score {
			best = k
			best.lo = -last - 1 // no words of the line: the last NPC
		}
	}
	d.Score = best.score
	if best.why != whyNobody {
		d.why = best.why
	}
	if best.score >= perhaps && best.hi != 0 || best.lo < 0 && best.score >= perhaps {
		who := -1
		if best.lo < 0 {
			who = -best.lo - 1
		} else if f := fs.at(best.lo); f != nil {
			who = f.who
		}
		if who >= 0 {
			d.name = c.npcs[who].name
			if c.npcs[who].answers() {
				d.Offer = c.npcs[who].id
			}
		}
	}
	return d
}

// called finds the NPCs whom the line speaks to by name or title. It fills d in
// and reports true if that settles the matter. Otherwise it returns the most
// likely of the calls that were not enough.
func (c *Cast) called(l *line, fs *founds, d *Decision, u Utterance, last int) (bool, call) {
	var calls [maxFound]call
	n := 0
	exact := false
	for k := 0; k < fs.n; {
		g := c.group(l, fs, k)
		k = g.next
		if !g.npc {
			continue
		}
		p := c.place(l, fs, g.lo, g.hi, u)
		p.lo, p.hi, p.alike = g.lo, g.hi, 1
		calls[n] = p
		n++
		exact = exact || p.score >= sure
	}
	if !exact {
		if p, f, ok := c.misheard(l, fs, u); ok {
			fs.add(f)
			calls[n] = p
			n++
		}
	}
	// Of several, the ones spoken to win over those spoken of.
	top := float32(0)
	for i := range n {
		top = max(top, calls[i].score)
	}
	if top < sure {
		best := call{}
		for i := range n {
			if calls[i].score > best.score || best.why == 0 {
				best = calls[i]
			}
		}
		return false, best
	}
	var who [maxFound]int
	m := 0
	d.Score, d.why = top, whyNobody
	for i := range n {
		p := &calls[i]
		if p.score < sure || p.score < top-0.3 {
			continue
		}
		for k := range fs.n {
			f := &fs.list[k]
			if f.lo < p.lo || f.lo >= p.hi || f.who < 0 || f.form.by == byHuman {
				continue
			}
			if d.why == whyNobody {
				d.why, d.name = p.why, c.npcs[f.who].name
			}
			if i := seen(who[:m], f.who); !i {
				who[m] = f.who
				m++
			}
		}
	}
	if m == 0 {
		// A title that several share: nobody can tell which.
		d.why, d.Score = whyAmbiguous, 0.4
		return true, call{}
	}
	c.choose(d, who[:m])
	return true, call{}
}

func seen(list []int, w int) bool {
	return slices.Contains(list, w)
}

// choose sets who answers, of those who were spoken to.
func (c *Cast) choose(d *Decision, who []int) {
	able := 0
	first := -1
	for _, w := range who {
		if c.npcs[w].answers() {
			able++
			if first < 0 {
				first = w
			}
		}
	}
	switch able {
	case 0:
		d.name = c.npcs[who[0]].name
		d.why = whyAbsent
		if c.npcs[who[0]].present {
			d.why = whyMuted
		}
	case 1:
		d.To, d.name = c.npcs[first].self, c.npcs[first].name
	default:
		d.To = make([]string, 0, able)
		for _, w := range who {
			if c.npcs[w].answers() {
				d.To = append(d.To, c.npcs[w].id)
			}
		}
	}
}

// A group is several names in one breath: "Bartok and Greymantle".
type group struct {
	lo, hi, next int
	npc          bool // an NPC is among them
}

// group joins the names from k on that follow each other.
func (c *Cast) group(l *line, fs *founds, k int) group {
	f := &fs.list[k]
	g := group{lo: f.lo, hi: f.hi, next: k + 1, npc: f.form.by != byHuman}
	for g.next < fs.n {
		f := &fs.list[g.next]
		i := g.hi
		if l.words[i-1].end() || fs.list[g.next-1].poss {
			break
		}
		joined := l.words[i-1].stop == ','
		if l.is(i, conj) && i < f.lo {
			joined = true
			i++
		}
		if i != f.lo || !joined {
			break
		}
		if before := &fs.list[g.next-1]; before.form.by == byTitle && l.is(before.lo-1, det) {
			break // "you heard the lady, Bartok": she is spoken of
		}
		if f.form.by == byHuman && i == g.hi && f.hi < l.n && l.words[f.hi-1].stop == 0 && !l.is(f.hi, conj) {
			break // "Bartok, Mira here wants a room": a new clause
		}
		if i == g.hi && f.hi < l.n && l.words[f.hi-1].stop == 0 && f.form.by != byHuman {
			if s := l.sentence(f.hi, fs); f.poss || l.predicate(&s, f.hi) && !l.inverted(&s, fs, f.hi) {
				break // "Bartok, Pip told us": so is this
			}
		}
		g.hi = f.hi
		g.npc = g.npc || f.form.by != byHuman
		g.next++
	}
	return g
}

// calledAll finds lines to everybody in the room.
func (c *Cast) calledAll(l *line, fs *founds, d *Decision, u Utterance) bool {
	if c.present > 0 && l.asksRound() && d.OutOfCharacter < 0.3 && fs.n == 0 && !u.DM {
		d.Everyone, d.To, d.Score, d.why = true, c.all, 0.7, whyEveryone
		return true
	}
	if c.present == 0 || !l.has.has(everyone) || l.has.any(set(party, dmask, action)) || d.OutOfCharacter >= 0.3 {
		return false
	}
	for k := range fs.n {
		if fs.list[k].form.by == byHuman {
			return false
		}
	}
	for lo := range l.n {
		if !l.is(lo, everyone) || l.is(lo-1, everyone) {
			continue
		}
		hi := lo + 1
		for l.is(hi, everyone) && !l.words[hi-1].end() {
			hi++
		}
		p := c.place(l, fs, lo, hi, u)
		s := l.sentence(lo, fs)
		switch {
		case p.score < 0.7:
			continue
		case !s.asks && !s.you && !s.orders && !l.has.any(set(formal, deal, polite)):
			continue // "hey everyone": the people at the table greet each other so
		case u.DM && !s.asks:
			continue
		}
		d.Everyone, d.To, d.Score, d.why = true, c.all, p.score, whyEveryone
		return true
	}
	return false
}

// asksRound reports whether the line asks the people of the place, not those of
// the table: "does anyone here know the way to the crypt?"
func (l *line) asksRound() bool {
	for i := range l.n - 1 {
		if !anybody(l, i) {
			continue
		}
		switch string(l.full(i + 1)) {
		case "here", "hier", "aqui":
			return (l.is(i-1, aux) || l.is(i+2, aux) || l.isAny(i+2, set(verb, clause))) && i+2 < l.n && !l.isAny(i+2, set(me, we))
		}
	}
	return false
}
