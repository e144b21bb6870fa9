package discord

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice"
)

// Errors that end [App.Run]. Their text says what to do.
var (
	ErrNoToken  = errors.New("discord: no token: set discord.token in glyphoxa.yaml to ${DISCORD_TOKEN} and that variable to your bot's token")
	ErrBadToken = errors.New("discord: Discord refuses the token: copy it anew from the application's Bot page, https://discord.com/developers/applications")
)

// Options say which application to run and how.
type Options struct {
	Token secret.Text
	// Guild registers the commands in one server only, where they show at once.
	// "" registers them everywhere.
	Guild string
	// DMRoles and DMUsers are ids of who may steer, besides administrators.
	DMRoles, DMUsers []string
	// Consent is what is done with what players say, once they agreed.
	Consent Consent
	// Data is the folder for consents and the login budget.
	Data string
	// Open sets a table for a session on one server.
	Open func(ctx context.Context, p Place) (*Seat, error)
	// Shelf opens what a server's campaign remembers while no table is set.
	Shelf func(ctx context.Context, p Place) (Shelf, error)
	// Library is where campaigns are.
	Library Library
	// Roll answers /roll while no session runs, Rule answers /rule.
	Roll func(ctx context.Context, r Roll) (string, error)
	Rule func(ctx context.Context, question string) (string, error)
	// Health is what the doctor finds about this machine and its providers, for
	// /setup. Nil finds nothing.
	Health func(ctx context.Context) []Finding
	// Processors are who gets what players say, for /privacy.
	Processors func() []Processor
	// Log receives what an operator would want to know. Nil discards it.
	Log *slog.Logger
	// HTTP is for REST and the voice gateway, TLS for the main gateway. Nil means
	// the usual ones; tests point them at a Discord of their own.
	HTTP *http.Client
	TLS  *tls.Config
}

// App is the running application.
type App struct {
	o       Options
	log     *slog.Logger
	session *discordgo.Session
	pacer   *voice.Pacer
	consent *consents
	// settings are what servers chose; running is which sessions there are.
	settings *settings
	running  *sittings
	feedback string // a file
	self     string // our user id
	// panelEvery and soon are the constants of those names; tests are in more of a
	// hurry, or in less.
	panelEvery, soon time.Duration
	door             *door
	logins           int // owned by the event goroutine
	// patience is how long heartbeats may stay unanswered.
	patience time.Duration
	lost     chan struct{} // a token when the main gateway's connection ended

	// events runs the gateway's events in order; 256 are more than a busy server
	// makes in a second. The gateway waits when it is full.
	events chan func()
	tasks  sync.WaitGroup

	games map[string]*game // by guild; owned by the event goroutine
}

// New prepares an application; nothing is sent before [App.Run].
func New(o Options) (*App, error) {
	if o.Token.IsZero() {
		return nil, ErrNoToken
	}
	s, err := discordgo.New("Bot " + o.Token.Reveal())
	if err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	s.Identify.Intents = discordgo.IntentsGuilds | discordgo.IntentsGuildVoiceStates
	s.SyncEvents = true
	s.UserAgent = "DiscordBot (https://github.com/glyphoxa/glyphoxa, 1)"
	if o.HTTP != nil {
		s.Client = o.HTTP
	}
	// Coming back is ours to do: discordgo would try for ever, whatever Discord said.
	s.ShouldReconnectOnError = false
	c, err := loadConsents(filepath.Join(o.Data, "consent.json"))
	if err != nil {
		return nil, err
	}
	set, err := loadSettings(filepath.Join(o.Data, "servers.json"))
	if err != nil {
		return nil, err
	}
	log := cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	ran, err := loadSittings(filepath.Join(o.Data, "sessions.json"), log)
	if err != nil {
		return nil, err
	}
	// discordgo would print that it cannot read modals; [App.raw] can.
	s.LogLevel = discordgo.LogError - 1
	a := &App{
		o: o, log: log, session: s, consent: c, settings: set, running: ran, feedback: filepath.Join(o.Data, "feedback.jsonl"),
		panelEvery: panelEvery, soon: soon, events: make(chan func(), 256), games: map[string]*game{}, lost: make(chan struct{}, 1),
	}
	a.door = &door{
		budget: &budget{path: filepath.Join(o.Data, "logins.json")}, tls: o.TLS, dial: (&net.Dialer{}).DialContext, pause: randomPause,
	}
	a.patience = unheard
	s.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) {
		select {
		case a.lost <- struct{}{}:
		default: // known already
		}
	})
	s.AddHandler(func(*discordgo.Session, *discordgo.Ready) { a.post(a.again) })
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.VoiceStateUpdate) { a.post(func() { a.voiceState(e) }) })
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.VoiceServerUpdate) { a.post(func() { a.voiceServer(e) }) })
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.InteractionCreate) {
		a.post(func() { a.interaction(e.Interaction) })
	})
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.GuildCreate) { a.post(func() { a.resume(e) }) })
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) { a.raw(e) })
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.GuildDelete) { a.post(func() { a.left(e) }) })
	return a, nil
}

// post hands an event to the goroutine that owns the games.
func (a *App) post(f func()) { a.events <- f }

// Run logs in and serves until ctx ends. Then every session is ended: the NPCs
// finish their sentence, and what was heard is kept.
func (a *App) Run(ctx context.Context) error {
	a.door.life = ctx
	a.session.Dialer = a.door.dialer()
	a.pacer = voice.NewPacer()
	defer a.pacer.Close()
	me, err := a.session.User("@me")
	if err != nil {
		return explain(err)
	}
	a.self = me.ID
	if err := a.login(ctx); err != nil {
		return err
	}
	a.log.Info("logged in", "as", me.Username)
	if _, err := a.session.ApplicationCommandBulkOverwrite(me.ID, a.o.Guild, definitions()); err != nil {
		return errors.Join(fmt.Errorf("discord: register the commands: %w", explain(err)), a.session.Close())
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.tasks.Go(func() { cancel(a.stay(ctx)) })
	for {
		select {
		case f := <-a.events:
			f()
		case <-ctx.Done():
			err := a.close()
			if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
				err = errors.Join(cause, err)
			}
			return err
		}
	}
}

// login opens the main gateway for the first time. Who may not come in is told so at
// once; a bad network is tried again.
func (a *App) login(ctx context.Context) error {
	stop := context.AfterFunc(ctx, a.door.slam)
	err := a.session.Open()
	stop()
	switch {
	case err == nil:
		return nil
	case a.door.refusal() != nil:
		return a.door.refusal()
	case hopeless(err) != nil:
		return hopeless(err)
	}
	return cmp.Or(a.reopen(ctx), context.Cause(ctx))
}

// close ends every session and logs out. Events that still come are dropped.
func (a *App) close() error {
	var errs []error
	var ended sync.WaitGroup
	var mu sync.Mutex // guards errs
	for _, g := range a.games {
		a.running.keep(g)
		ended.Go(func() {
			if g.isReady() {
				a.tell(g.text, g.l.say("The bot is going down. If it is back within half an hour, the session goes on; what was said is kept."))
			}
			err := g.end()
			mu.Lock()
			errs = append(errs, err)
			mu.Unlock()
		})
	}
	stop := make(chan struct{})
	var drained sync.WaitGroup
	drained.Go(func() {
		for {
			select {
			case <-a.events:
			case <-stop:
				return
			}
		}
	})
	ended.Wait()
	a.tasks.Wait()
	a.door.leaving.Store(true)
	errs = append(errs, a.session.Close())
	close(stop)
	drained.Wait()
	return errors.Join(errs...)
}

// left forgets a server that removed us.
func (a *App) left(e *discordgo.GuildDelete) {
	if g := a.games[e.ID]; g != nil && !e.Unavailable {
		a.drop(g, "")
	}
}

// explain turns Discord's refusals into sentences that name the fix.
func explain(err error) error {
	var rest *discordgo.RESTError
	if sentence := hopeless(err); sentence != nil {
		return sentence
	}
	switch {
	case errors.As(err, &rest) && rest.Response != nil && rest.Response.StatusCode == http.StatusUnauthorized:
		return ErrBadToken
	case errors.As(err, &rest) && rest.Message != nil && rest.Message.Code == discordgo.ErrCodeMissingAccess:
		return fmt.Errorf("discord: the bot is not in that server, or was invited without 'applications.commands': %w", err)
	}
	return fmt.Errorf("discord: %w", err)
}
