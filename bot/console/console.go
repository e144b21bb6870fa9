// Package console is the table in a browser: the page on which a game master
// watches and steers a running game, and on which the same game is played with a
// microphone or a keyboard where there is no voice call.
//
// One page shows the scene, its cast, the talk as it happens, the tools that
// were used and where the time of the last answer went. It is kept current by
// one stream of numbered events, so a browser that lost its connection goes on
// where it stopped. Sound travels over two WebSockets, one each way.
//
// # Who may do what
//
// Nobody gets in without a link from [Console.Link], which works once and turns
// into a cookie. A [DM] sees and does everything, a [Player] talks and sees what
// players may see, a [Spectator] only watches. Everybody may play the X-card.
// The [Table] checks every action again.
//
// # Limits
//
// Ten people may be logged in; each may hold six event streams, four sound
// sockets and one microphone. A line has at most 2,000 characters; twenty
// actions may come at once and five a second after that. A microphone may not
// send faster than sound. Whatever is refused is refused with a sentence that
// the page shows.
//
// # Safety
//
// Requests for any host but a loopback name and the configured ones are refused,
// so that no foreign name can be rebound to this server. Pages may load nothing
// from elsewhere and run no inline script. All text is escaped by the templates.
package console

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
)

// errClosed is why everything ends when the console does.
var errClosed = errors.New("the table was closed")

// Options say how a console is served. The zero value serves loopback only.
type Options struct {
	// Log receives logins, refusals and broken connections. Nil discards them.
	Log *slog.Logger
	// Hosts are names beside the loopback ones under which the page may be
	// asked for, such as "gm-laptop.local". Without a port.
	Hosts []string
	// Archive opens the pages Knowledge, Recap and Privacy. Nil leaves them out.
	Archive *bot.Archive
	// Workshop opens the page Tools. Nil leaves it out.
	Workshop *bot.Workshop
	// Manuscript opens the page Campaign and serves portraits. Nil leaves both out.
	Manuscript *bot.Manuscript
	// DM is who the game master is until another name is typed. A zero Person is
	// called "DM".
	DM bot.Person
}

// A Console serves one table. It is an [http.Handler] for a whole server: its
// paths begin at the root.
type Console struct {
	table      Table
	archive    *bot.Archive
	workshop   *bot.Workshop
	manuscript *bot.Manuscript
	log        *slog.Logger
	hosts      []string
	dm         bot.Person
	serve      http.Handler

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // open streams and sockets

	door   door
	tints  tints
	opened time.Time
}

// New makes a console for t.
func New(t Table, o Options) *Console {
	c := &Console{table: t, archive: o.Archive, workshop: o.Workshop, manuscript: o.Manuscript, log: o.Log, hosts: append([]string(nil), o.Hosts...), dm: o.DM, opened: time.Now()}
	c.log = cmp.Or(c.log, slog.New(slog.DiscardHandler))
	c.dm.ID, c.dm.Name, c.dm.DM = cmp.Or(c.dm.ID, "dm"), cmp.Or(c.dm.Name, "DM"), true
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.serve = c.guard(c.routes())
	return c
}

// ServeHTTP answers one request of a browser.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.serve.ServeHTTP(w, r) }

// Close ends every stream and socket and returns once they are gone. Call it
// before [http.Server.Shutdown], which waits for them.
func (c *Console) Close() {
	c.cancel(errClosed)
	c.tasks.Wait()
}

func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", c.login)
	mux.Handle("GET /assets/", assets())
	mux.Handle("GET /{$}", c.only(Spectator, c.tablePage))
	mux.Handle("GET /events", c.only(Spectator, c.events))
	mux.Handle("GET /pictures/{id}", c.only(Spectator, c.pictureFile))
	mux.Handle("GET /sound", c.only(Spectator, c.sound))
	mux.Handle("GET /microphone", c.only(Player, c.microphone))
	mux.Handle("GET /turns", c.look(c.turnsPage))
	if c.archive != nil {
		mux.Handle("GET /knowledge", c.look(c.knowledgePage))
		mux.Handle("GET /recap", c.look(c.recapPage))
		mux.Handle("GET /privacy", c.look(c.privacyPage))
		mux.Handle("GET /export", c.only(DM, c.export))
	}
	if c.workshop != nil {
		mux.Handle("GET /tools", c.look(c.toolsPage))
	}
	if c.manuscript != nil {
		mux.Handle("GET /campaign", c.look(c.campaignPage))
		mux.Handle("GET /portraits/{name...}", c.only(Spectator, c.portrait))
	}
	mux.Handle("POST /do/{action}", c.only(Spectator, c.act))
	return mux
}

// during ties a request to the console: its context ends with either, and Close
// waits for the function that was returned to be called.
func (c *Console) during(r *http.Request) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(r.Context())
	c.tasks.Add(1)
	stop := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	return ctx, func() { stop(); cancel(nil); c.tasks.Done() }
}
