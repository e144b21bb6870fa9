package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/glyphoxa/glyphoxa/bot"
)

const (
	// pingEvery shows a quiet page that it is still connected; proxies and
	// browsers give up on silence only after half a minute.
	pingEvery = 10 * time.Second
	// gather is how long events are collected before they are sent together. It
	// holds a speaking NPC's growing line to ten updates a second, and the
	// first event after a pause goes out at once.
	gather = 100 * time.Millisecond
	// batchSize is how many things are told about at once. A browser that is cut
	// off in the middle of a batch gets all of it again, so it must stay small
	// for bad connections to get through a long backlog.
	batchSize = 16
	// sendLimit ends the stream of a browser that stopped reading.
	sendLimit = 10 * time.Second
)

// events is the page's one stream. A browser that comes back says what it saw
// last and gets what it missed; if that is gone it is told to load afresh.
func (c *Console) events(w http.ResponseWriter, r *http.Request) {
	s := who(r)
	release, ok := s.hold("events", maxStreams)
	if !ok {
		c.refuse(w, r, http.StatusTooManyRequests, fmt.Errorf("this browser has %d tables open: close a tab", maxStreams))
		return
	}
	defer release()
	ctx, done := c.during(r)
	defer done()

	after := seenBefore(r)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no") // or a proxy holds events back
	if r.Method == http.MethodHead {
		return // what is sent to nobody is never found unread
	}
	out := &stream{w: w, control: http.NewResponseController(w)}
	// The first bytes tell the browser that it is connected; retry is how soon
	// it comes back.
	if out.send("retry: 1000\n\n") != nil {
		return
	}
	if after > c.table.State().Event {
		_ = out.send("event: reload\ndata: another run of the table\n\n")
		return
	}
	err := c.follow(ctx, s, after, out)
	if errors.Is(context.Cause(ctx), errClosed) {
		_ = out.send("event: closed\ndata: bye\n\n")
	}
	if err != nil && ctx.Err() == nil {
		c.log.Info("event stream ended", "name", s.person.Name, "err", err)
	}
}

// seenBefore is the number of the last event that the browser has: what it had
// when the page was made, or later.
func seenBefore(r *http.Request) uint64 {
	page, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	resumed, _ := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64)
	return max(page, resumed)
}

// follow sends events until ctx ends or the browser is gone.
func (c *Console) follow(ctx context.Context, s *session, after uint64, out *stream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Unbuffered: what waits, waits in the table's log, where it is bounded.
	events := make(chan bot.Event)
	c.tasks.Go(func() {
		for e := range c.table.Events(ctx, after) {
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	})
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	state := c.table.State()
	v := c.viewer(s, state.NPCs)
	out.stopped = state.Stopped
	var batch batch
	var due <-chan time.Time // set while events are being gathered
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-events:
			if e.ID > after+1 {
				return out.send("event: reload\ndata: too much was missed\n\n")
			}
			after = e.ID
			batch.add(e)
			if due != nil && len(batch.events) < batchSize {
				continue
			}
		case <-due:
			if len(batch.events) == 0 { // nothing came: the next event goes at once
				due = nil
				continue
			}
		case <-ping.C:
			s.touch(time.Now())
			if err := out.send("event: ping\ndata:\n\n"); err != nil {
				return err
			}
			continue
		}
		if err := c.write(ctx, v, batch.events, after, out); err != nil {
			return err
		}
		batch.clear()
		due = time.After(gather)
	}
}

// A batch is what is sent together: the newest event about each thing, at the
// place of the first, so that lines stay in the order in which they were begun.
type batch struct {
	events []bot.Event
	at     map[string]int // by subject
}

func (b *batch) add(e bot.Event) {
	key := subject(e)
	if i, ok := b.at[key]; ok && key != "" {
		b.events[i] = e
		return
	}
	if b.at == nil {
		b.at = map[string]int{}
	}
	b.at[key] = len(b.events)
	b.events = append(b.events, e)
}

func (b *batch) clear() {
	clear(b.at)
	b.events = b.events[:0]
}

// subject is what an event replaces the last news of; "" for nothing.
func subject(e bot.Event) string {
	switch {
	case e.Line != nil:
		return "line " + e.Line.ID
	case e.NPC != nil:
		return "npc " + e.NPC.ID
	case e.Turn != nil:
		return fmt.Sprint("turn ", e.Turn.ID)
	case e.Tool != nil:
		return "tool " + toolID(*e.Tool)
	case e.Scene != nil:
		return "scene"
	case e.Question != nil:
		return "question " + e.Question.ID
	}
	return ""
}

// write sends a batch in one piece. Only its end carries the number, so that a
// connection lost in the middle brings all of it again.
func (c *Console) write(ctx context.Context, v viewer, batch []bot.Event, last uint64, out *stream) error {
	var b bytes.Buffer
	for _, e := range batch {
		v.meet(e)
		name, view := news(v, e)
		if view == nil {
			continue
		}
		var piece strings.Builder
		if err := view.Render(ctx, &piece); err != nil {
			return err
		}
		appendEvent(&b, name, piece.String())
		if name == "turn" && e.Turn.Done {
			piece.Reset()
			if err := pace(c.table.State()).Render(ctx, &piece); err != nil {
				return err
			}
			appendEvent(&b, "pace", piece.String())
		}
	}
	if slices.ContainsFunc(batch, mayStop) {
		if err := c.writeStopped(ctx, v, &b, out); err != nil {
			return err
		}
	}
	fmt.Fprintf(&b, "id: %d\n", last)
	appendEvent(&b, "seen", fmt.Sprint(last))
	return out.send(b.String())
}

// mayStop reports events that come with play being stopped or taken up again.
func mayStop(e bot.Event) bool { return e.NPC != nil || e.Alert != nil || e.Scene != nil }

// writeStopped tells the page that play has stopped or goes on.
func (c *Console) writeStopped(ctx context.Context, v viewer, b *bytes.Buffer, out *stream) error {
	s := c.table.State()
	if s.Stopped == out.stopped {
		return nil
	}
	out.stopped = s.Stopped
	var piece strings.Builder
	if err := stoppedNote(v, s.Stopped, s.Why).Render(ctx, &piece); err != nil {
		return err
	}
	appendEvent(b, "stopped", piece.String())
	return nil
}

// news is what an event looks like to somebody: its name on the stream and its
// piece of the page, or nil if it is not for them.
func news(v viewer, e bot.Event) (string, templ.Component) {
	switch {
	case e.Line != nil && e.Line.Private && !v.DM():
		return "", nil // between a player and an NPC
	case e.Line != nil:
		return "line", line(v, *e.Line)
	case e.Picture != nil:
		return "line", painting(v, *e.Picture)
	case e.NPC != nil:
		return "npc", npcCard(v, *e.NPC)
	case e.Scene != nil:
		return "scene", sceneHead(*e.Scene)
	case e.Tool != nil && v.DM():
		return "tool", toolCall(v, *e.Tool)
	case e.Turn != nil && v.DM():
		return "turn", turnCard(v, *e.Turn)
	case e.Card != nil:
		return "line", card(*e.Card)
	case e.Question != nil && v.DM():
		return "question", question(v, *e.Question)
	case e.Alert != nil && v.DM():
		return "alert", alert(*e.Alert)
	}
	return "", nil
}

// appendEvent writes one event of the stream. Every line of a piece of page gets
// a field of its own, so that no text can begin an event.
func appendEvent(b *bytes.Buffer, name, data string) {
	fmt.Fprintf(b, "event: %s\n", name)
	if data == "" {
		b.WriteString("data:\n") // without any the browser drops the event
	}
	for text := range strings.Lines(lineEnds.Replace(data)) {
		fmt.Fprintf(b, "data: %s\n", strings.TrimSuffix(text, "\n"))
	}
	b.WriteByte('\n')
}

// lineEnds are what the stream format takes for one.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// stream writes to one browser and gives up on one that does not read.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	// stopped is what the page knows of the X-card.
	stopped bool
}

func (s *stream) send(text string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(sendLimit)); err != nil {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}
