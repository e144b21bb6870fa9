package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// keepEvery is how often what is kept for a time is looked through.
	keepEvery = 24 * time.Hour
	// settledAfter is how long after its start a session that nobody ended counts
	// as over: longer than anybody plays.
	settledAfter = 12 * time.Hour
	// lastSessions bounds how far back recaps are written that were missed.
	lastSessions = 5
	// keepWithin bounds one round, with a slow model and a long evening.
	keepWithin = 30 * time.Minute
	// partWithin is how long Close waits for what is being done.
	partWithin = 5 * time.Second
)

// KeeperOptions say how a campaign's memory is kept.
type KeeperOptions struct {
	Campaign string
	// Retention is how long things are kept.
	Retention Retention
	// Expire, if set, erases what is kept elsewhere, such as sound, from before a
	// time. Sound says how long that is kept; zero is for ever.
	Expire func(before time.Time) error
	Sound  time.Duration
	// Author writes recaps and finds facts; nil leaves both to rules.
	Author Author
	// Told hears, in a sentence for the game master, of what was done, and of
	// what failed; nil ignores it. It is called from the keeper's goroutine.
	Told func(text string, err error)
}

// A Keeper tends a campaign's memory in the background: it proposes as facts what
// a scene or a session stated, writes recaps of sessions that have ended, and
// erases what has been kept long enough, now and every day.
type Keeper struct {
	store  Store
	o      KeeperOptions
	stop   context.CancelFunc
	tasks  sync.WaitGroup
	scenes chan string // sessions with a scene that has ended; one waiting is enough
	done   map[string]string
}

// NewKeeper starts to tend a campaign, until Close.
func NewKeeper(store Store, o KeeperOptions) *Keeper {
	ctx, stop := context.WithCancel(context.Background()) // ended by Close
	k := &Keeper{store: store, o: o, stop: stop, scenes: make(chan string, 1), done: map[string]string{}}
	k.tasks.Go(func() { k.run(ctx) })
	return k
}

// Close ends the keeper within a few seconds. What it leaves undone is done next
// time.
func (k *Keeper) Close() {
	late := time.AfterFunc(partWithin, k.stop)
	defer late.Stop()
	close(k.scenes)
	k.tasks.Wait()
	k.stop()
}

// SceneEnded has what a session's lines state looked through for facts. It never
// waits, and must not be called after Close.
func (k *Keeper) SceneEnded(session string) {
	select {
	case k.scenes <- session:
	default: // the one that waits will find this scene's lines as well
	}
}

func (k *Keeper) run(ctx context.Context) {
	k.round(ctx)
	daily := time.NewTicker(keepEvery)
	defer daily.Stop()
	for {
		select {
		case session, open := <-k.scenes:
			if !open {
				k.round(ctx) // the session that has just ended
				return
			}
			k.tell(k.propose(ctx, session))
		case <-daily.C:
			k.round(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// tell passes on what was done. What was cut off by Close is no news.
func (k *Keeper) tell(text string, err error) {
	if k.o.Told != nil && (text != "" || err != nil) && !errors.Is(err, context.Canceled) {
		k.o.Told(text, err)
	}
}

// round does all that is due.
func (k *Keeper) round(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	k.tell(k.erase(ctx, time.Now()))
	sessions, err := k.store.Sessions(ctx, k.o.Campaign, lastSessions)
	if err != nil {
		k.tell("", err)
		return
	}
	for _, s := range sessions {
		if s.Lines == 0 || s.Ended.IsZero() && time.Since(s.Started) < settledAfter {
			continue
		}
		written, err := k.store.Recaps(ctx, Viewer{Campaign: k.o.Campaign}, s.ID)
		if err == nil && k.fresh(written) {
			continue
		}
		if err == nil {
			k.tell(k.propose(ctx, s.ID))
			err = k.retell(ctx, s)
		}
		k.tell("", err)
		if err != nil {
			return
		}
	}
}

// fresh says whether recaps need not be written again.
func (k *Keeper) fresh(written []Recap) bool {
	return len(written) == 2*len(Lengths) && (k.o.Author == nil || written[0].Author == k.o.Author.Model())
}

// erase enforces how long things are kept.
func (k *Keeper) erase(ctx context.Context, now time.Time) (string, error) {
	var sound error
	if k.o.Expire != nil && k.o.Sound > 0 {
		sound = k.o.Expire(now.Add(-k.o.Sound))
	}
	if k.o.Retention == (Retention{}) {
		return "", sound
	}
	gone, err := k.store.Retain(ctx, k.o.Campaign, k.o.Retention, now)
	text := ""
	if gone != (Forgotten{}) {
		text = fmt.Sprintf("%d lines and %d facts were erased: they have been kept as long as memory.retention says.", gone.Lines, gone.Claims)
	}
	return text, errors.Join(err, sound)
}

// propose looks through the lines of a session that were not looked through
// before.
func (k *Keeper) propose(ctx context.Context, session string) (string, error) {
	lines, err := Transcript(ctx, k.store, Viewer{Campaign: k.o.Campaign}, session)
	if err != nil || len(lines) == 0 {
		return "", err
	}
	last := lines[len(lines)-1].ID
	for i, l := range lines {
		if l.ID == k.done[session] {
			lines = lines[i+1:]
			break
		}
	}
	n, err := consolidate(ctx, k.store, k.o.Author, k.o.Campaign, lines)
	if err == nil {
		k.done[session] = last
	}
	if n == 0 {
		return "", err
	}
	return fmt.Sprintf("%d things that were said wait for you to make them facts, or not.", n), err
}

// retell writes the recaps of a session, for the game master and for the players.
func (k *Keeper) retell(ctx context.Context, s Session) error {
	all, err := Transcript(ctx, k.store, Viewer{Campaign: k.o.Campaign}, s.ID)
	if err != nil {
		return err
	}
	var out []Recap
	var failed error
	for _, players := range []bool{false, true} {
		lines := all
		if players {
			lines = PlayerSafe(all)
		}
		var model map[Length][]Sentence
		if k.o.Author != nil && failed == nil && len(Retell(lines, 1)) > 0 {
			model, failed = RetellWith(ctx, k.o.Author, lines)
		}
		for _, n := range Lengths {
			r := retold(lines, s.ID, n, players)
			if model != nil {
				r.Sentences, r.Author = model[n], k.o.Author.Model()
			}
			r.Lines, r.At = s.Lines, time.Now()
			out = append(out, r)
		}
	}
	// What a model did not write is told in lines, and tried again next time.
	return errors.Join(k.store.PutRecaps(ctx, k.o.Campaign, out...), failed)
}
