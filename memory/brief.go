package memory

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// briefWithin is how long a brief may take. What is not there by then is
	// left out: an NPC that has forgotten something is better than one that
	// makes everybody wait.
	briefWithin = 40 * time.Millisecond
	// maxMentioned bounds the entities looked up because they were mentioned.
	maxMentioned = 4
	// maxGuesses bounds the viewers for whom a recall is kept ready: the NPCs of
	// one scene.
	maxGuesses = 16
	// guessFits is the share of words in which a guess and what was then really
	// said must agree.
	guessFits = 0.8
)

// A Moment is what an NPC is about to answer.
type Moment struct {
	Session, Scene string
	// Said is what it was told or asked.
	Said string
	// Lines is how many of the last lines are wanted; zero means 12. Recalled is
	// how many older ones; zero means 5.
	Lines, Recalled int
}

// A Brief is what an NPC has in mind when it answers. Every part is what its
// viewer knows, and nothing else.
type Brief struct {
	// Self is who it is, with what it knows of itself.
	Self Entity
	// Recent are the last lines it heard, oldest first.
	Recent []Line
	// Recalled are older lines that what was said reminds it of.
	Recalled []Hit
	// Known are claims that what was said reminds it of.
	Known []Claim
	// Mentioned are the people, places and things that what was said names.
	Mentioned []Entity
	// Missing says which parts are not there, and why.
	Missing map[string]error
}

// A Recaller makes briefs from a store. It is safe for concurrent use.
type Recaller struct {
	store Store
	tasks sync.WaitGroup
	stop  context.CancelFunc
	life  context.Context

	mu      sync.Mutex // guards all below
	guesses map[Viewer]*guess
	order   []Viewer // of guesses, oldest first
}

// A guess is a search for what somebody has not finished saying.
type guess struct {
	terms []string
	hits  []Hit
	err   error
	done  chan struct{} // closed when hits and err are set
	stop  context.CancelFunc
}

// NewRecaller makes briefs from store until Close.
func NewRecaller(store Store) *Recaller {
	// Searches for guesses outlive the calls that begin them; Close ends them.
	life, stop := context.WithCancel(context.Background())
	return &Recaller{store: store, life: life, stop: stop, guesses: map[Viewer]*guess{}}
}

// Close ends every search and returns when all have ended.
func (r *Recaller) Close() {
	r.stop()
	r.tasks.Wait()
}

// Anticipate begins to recall for a viewer before the sentence is finished. It
// never waits. A later guess for the same viewer replaces an earlier one.
func (r *Recaller) Anticipate(v Viewer, partial string) {
	terms := Ask(partial).Terms
	if len(terms) < 2 || !slices.ContainsFunc(words(partial), content) {
		return // too little to go by
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life.Err() != nil {
		return
	}
	if old, ok := r.guesses[v]; ok {
		if agree(old.terms, terms) == 1 {
			return
		}
		old.stop()
	} else {
		if len(r.order) == maxGuesses {
			r.guesses[r.order[0]].stop()
			delete(r.guesses, r.order[0])
			r.order = r.order[1:]
		}
		r.order = append(r.order, v)
	}
	ctx, stop := context.WithCancel(r.life)
	g := &guess{terms: terms, done: make(chan struct{}), stop: stop}
	r.guesses[v] = g
	r.tasks.Go(func() {
		defer stop()
		defer close(g.done)
		g.hits, g.err = r.store.Search(ctx, v, Query{Text: partial, Limit: 20})
	})
}

// agree is the share of two lists of terms that they have in common.
func agree(a, b []string) float64 {
	both := 0
	for _, t := range a {
		if slices.Contains(b, t) {
			both++
		}
	}
	return float64(both) / float64(max(len(a), len(b), 1))
}

// Brief puts together what v has in mind. Its parts are read side by side; those
// that fail or are late are missing, and the brief says so. It returns within 40
// milliseconds, or when ctx ends if that is sooner.
func (r *Recaller) Brief(ctx context.Context, v Viewer, m Moment) Brief {
	if m.Lines <= 0 {
		m.Lines = 12
	}
	if m.Recalled <= 0 {
		m.Recalled = 5
	}
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(ctx, briefWithin, late)
	defer cancel()
	// Each part is read into a brief of its own, which nobody touches any more
	// once it has been left behind.
	type part struct {
		name string
		err  error
		set  func(*Brief)
	}
	read := map[string]func() (func(*Brief), error){
		"self": func() (func(*Brief), error) {
			e, err := r.store.Entity(ctx, v, v.Entity)
			return func(b *Brief) { b.Self = e }, err
		},
		"recent": func() (func(*Brief), error) {
			lines, err := r.store.Recent(ctx, v, Window{Session: m.Session, Limit: m.Lines})
			return func(b *Brief) { b.Recent = lines }, err
		},
		"recalled": func() (func(*Brief), error) {
			hits, err := r.recall(ctx, v, m)
			return func(b *Brief) { b.Recalled = hits }, err
		},
		"known": func() (func(*Brief), error) {
			claims, err := r.known(ctx, v, m)
			return func(b *Brief) { b.Known = claims }, err
		},
		"mentioned": func() (func(*Brief), error) {
			es, err := r.mentioned(ctx, v, m.Said)
			return func(b *Brief) { b.Mentioned = es }, err
		},
	}
	if v.Entity == "" {
		delete(read, "self")
	}
	parts := make(chan part, len(read)) // room for all: nobody is left waiting to send
	b := Brief{Missing: map[string]error{}}
	for name, f := range read {
		b.Missing[name] = late
		r.tasks.Go(func() {
			set, err := f()
			parts <- part{name, err, set}
		})
	}
	for range len(read) {
		select {
		case p := <-parts:
			if p.err != nil {
				b.Missing[p.name] = p.err
				continue
			}
			delete(b.Missing, p.name)
			p.set(&b)
		case <-ctx.Done():
			return b.tidy(m)
		}
	}
	return b.tidy(m)
}

// tidy leaves out of what is recalled what was said only just now.
func (b Brief) tidy(m Moment) Brief {
	b.Recalled = slices.DeleteFunc(b.Recalled, func(h Hit) bool {
		return slices.ContainsFunc(b.Recent, func(l Line) bool { return l.ID == h.ID })
	})
	b.Recalled = b.Recalled[:min(len(b.Recalled), m.Recalled)]
	return b
}

// recall searches for what was said, unless it was guessed.
func (r *Recaller) recall(ctx context.Context, v Viewer, m Moment) ([]Hit, error) {
	q := Ask(m.Said)
	if q.Empty() {
		return nil, nil
	}
	r.mu.Lock()
	g := r.guesses[v]
	r.mu.Unlock()
	if g != nil && agree(g.terms, q.Terms) >= guessFits {
		select {
		case <-g.done:
			if g.err == nil {
				return slices.Clone(g.hits), nil
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	// More than are wanted, because some will be among the recent lines.
	return r.store.Search(ctx, v, Query{Text: m.Said, Limit: m.Recalled + m.Lines})
}

func (r *Recaller) known(ctx context.Context, v Viewer, m Moment) ([]Claim, error) {
	if Ask(m.Said).Empty() {
		return nil, nil
	}
	return r.store.Claims(ctx, v, ClaimQuery{Text: m.Said, Limit: m.Recalled})
}

// mentioned finds the entities that a text names. Capitals show names where
// there are any; recognisers without capitals leave it to the search in claims.
func (r *Recaller) mentioned(ctx context.Context, v Viewer, text string) ([]Entity, error) {
	var out []Entity
	seen := map[string]bool{}
	for _, name := range properNames(text) {
		found, err := r.store.FindEntities(ctx, v, name, "", 1)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if !seen[e.ID] && e.ID != v.Entity {
				seen[e.ID] = true
				out = append(out, e)
			}
		}
		if len(out) == maxMentioned {
			break
		}
	}
	return out, nil
}

// properNames are the runs of capitalised words of a text that are no ordinary
// words, at most eight of them.
func properNames(text string) []string {
	var names []string
	var run []string
	flush := func() {
		if len(run) > 0 {
			names = append(names, strings.Join(run, " "))
			run = nil
		}
	}
	for f := range strings.FieldsSeq(text) {
		ws := words(f)
		capital := len(ws) > 0 && strings.ToLower(f[:1]) != f[:1]
		if capital && (content(ws[0]) && !ordinary([]byte(ws[0])) || len(run) > 0) {
			run = append(run, ws...)
		} else {
			flush()
		}
		if strings.ContainsAny(f[len(f)-1:], ".,!?;:") {
			flush()
		}
	}
	flush()
	return names[:min(len(names), 8)]
}
