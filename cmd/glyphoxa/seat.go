package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/observe"
	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/audit"
	"github.com/glyphoxa/glyphoxa/mcp/tools/dice"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/embedding"
	"github.com/glyphoxa/glyphoxa/memory/postgres"
	"github.com/glyphoxa/glyphoxa/memory/relational"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
	"github.com/glyphoxa/glyphoxa/npc"
)

// setting is how a table is to be set.
type setting struct {
	cfg config
	log *slog.Logger
	// path is the configuration's file, whose tool servers the table follows.
	path string
	// shared is the folder with the registry of tool servers and with what was
	// agreed to of them; "" is the table's own.
	shared string

	offline bool // use no server, even if there is one
	silent  bool // write answers without speaking them
	unpaced bool // sound goes to a file
	// forgetful tables store no line
	forgetful bool
	// feedback is a file for what people say about the bot; recordings is where
	// sound is kept, nil for nowhere
	feedback   string
	recordings *bot.Recordings
	// watcher is told what happens at the table, under its name; nil for nobody.
	watcher *observe.Observer
	name    string
	// tell is how the game master hears of trouble; nil before there is one.
	tell func(bot.Alert)
}

// alert tells the game master, if there is one yet.
func (o setting) alert(a bot.Alert) {
	if o.tell != nil {
		o.tell(a)
	}
}

// seat is a table with everything it stands on.
type seat struct {
	table *bot.Table
	store memory.Store
	// digester embeds what is said; nil without a model for it.
	digester *memory.Digester
	// keeper tends what is remembered; nil at tables that remember nothing.
	keeper atomic.Pointer[memory.Keeper]
	host   *toolbox
	// closeMusic closes the folder that music comes from; nil before it is open.
	closeMusic func() error
	audit      *audit.Log
	dice       *dice.Fair
	// campaign is the id of the one in play.
	campaign string
	cfg      config
	log      *slog.Logger
	roster   *roster

	unwatch context.CancelFunc // nil before there is anything to follow
	tasks   sync.WaitGroup
}

// set puts a table together as the configuration says.
func set(ctx context.Context, o setting) (s *seat, err error) {
	s = &seat{cfg: o.cfg, log: o.log, dice: dice.NewFair()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(context.WithoutCancel(ctx)))
		}
	}()
	c, err := loadCampaign(o.cfg)
	if err != nil {
		return s, err
	}
	cast(c, o.cfg.TTS)
	s.campaign = c.ID
	dir, err := o.cfg.dataDir()
	if err != nil {
		return s, err
	}
	if s.store, err = openMemory(ctx, o.cfg.Memory, dir); err != nil {
		return s, err
	}
	if e, ok := embedder(o.cfg.Memory); ok {
		s.digester = memory.NewDigester(s.store, e, func(err error) {
			if err != nil {
				o.log.Warn("what is said now is searched by words alone", "model", e.Name, "err", err)
				return
			}
			o.log.Info("what is said is searched by meaning again", "model", e.Name)
		})
	}
	if s.audit, err = audit.Open(filepath.Join(dir, auditFile), o.cfg.MCP.LogArguments); err != nil {
		return s, fmt.Errorf("open the log of tool calls: %w", err)
	}
	if s.host, err = openTools(c, s.store, o, dir, s.dice.Roller, s.audit.Append); err != nil {
		return s, err
	}
	var left error // what is told when there is somebody to tell
	if s.roster, left = openRoster(ctx, o.cfg, o.path, cmp.Or(o.shared, dir)); left != nil {
		o.log.Warn("some tool servers are left out", "err", left)
	}
	servers, err := s.roster.servers(ctx)
	if err != nil {
		left = errors.Join(left, err)
		o.log.Warn("some tool servers are left out", "err", err)
	}
	if err := s.host.Connect(ctx, servers); err != nil {
		return s, err
	}

	table := &s.host.stage.table // nil until there is one to tell
	ready := make(chan struct{}) // closed when there is, or will not be
	defer close(ready)
	o.tell = func(a bot.Alert) {
		s.tasks.Go(func() { // it may be the table that asks
			<-ready
			if t := table.Load(); t != nil {
				t.Tell(a)
			}
		})
	}
	parts, err := findParts(ctx, o)
	if err != nil {
		return s, err
	}
	fell := func(m engine.Model, err error) {
		next := "The improviser speaks"
		if len(o.cfg.LLMFallback) > 0 {
			next = "The next model, or in the end the improviser, speaks"
		}
		o.alert(bot.Alert{Text: fmt.Sprintf("%s does not answer (%v). %s for the NPCs until it does.", m.Name(), err, next), Bad: true})
	}
	opts := bot.Options{
		Campaign: c, Memory: s.store, Spool: filepath.Join(dir, "waiting-lines"), Tools: s.host.Host,
		Ear: parts.ear, Synth: parts.synth, Unpaced: o.unpaced, Forgetful: o.forgetful, Log: o.log,
		Additions: filepath.Join(dir, "additions-"+c.ID+".json"), Feedback: cmp.Or(o.feedback, filepath.Join(dir, feedbackFile)), Recordings: o.recordings,
		Budget: o.cfg.Budget.budget(),
		Brain: func(ch npc.Character, p improviser.Persona) engine.Model {
			alone := improviser.New(p, seedOf(ch.ID))
			if parts.model == nil {
				return alone
			}
			rungs := append(append([]engine.Model{parts.model}, parts.more...), alone)
			return engine.NewLadder(firstWord, fell, rungs...)
		},
	}
	opts.About = parts.about
	if opts.Music, s.closeMusic, err = openMusic(o.cfg.Campaign); err != nil {
		return s, err
	}
	if opts.Performer, err = performers(o); err != nil {
		return s, fmt.Errorf("s2s: %w", err)
	}
	if opts.Fast, err = fastModel(ctx, o); err != nil {
		return s, err
	}
	opts.Cascade = o.cfg.SentenceCascade
	opts.Patience, opts.PatienceOf = o.cfg.Hearing.Patience, o.cfg.Hearing.Players
	opts.Execute = o.cfg.Tools.AllowExecute
	if opts.Rules, err = ruleNames(dir); err != nil {
		return s, fmt.Errorf("read the rules: %w", err)
	}
	if opts.Routing, err = routing(o.cfg.Routing); err != nil {
		return s, err
	}
	if o.cfg.Tools.AllowWrite {
		opts.Writes = mcp.WriteAsk // leave to ask the game master, each time
	}
	opts.SceneEnded = func(session string) {
		if k := s.keeper.Load(); k != nil {
			k.SceneEnded(session)
		}
	}
	if s.table, err = bot.Open(ctx, opts); err != nil {
		return s, err
	}
	table.Store(s.table)
	if !o.forgetful {
		s.keep(o.cfg.Memory.Retention, parts.model, opts.Recordings)
	}
	s.table.Tell(bot.Alert{Text: "The dice are sealed: " + s.dice.Commitment() + ". Their seed is shown at the end, and anybody can roll the evening again."})
	if left != nil {
		s.table.Tell(bot.Alert{Text: "Some tool servers are left out: " + left.Error(), Bad: true})
	}
	ctx, s.unwatch = context.WithCancel(context.WithoutCancel(ctx))
	s.watch(ctx)
	if o.watcher != nil {
		s.tasks.Go(func() { o.watcher.Follow(ctx, s.table, o.name) })
	}
	s.tasks.Go(func() { s.followRoster(ctx) })
	return s, nil
}

// watch has the table follow the campaign's folder: a good change is played at
// once, a broken one is told and changes nothing.
func (s *seat) watch(ctx context.Context) {
	if !isFolder(s.cfg.Campaign) {
		return
	}
	s.tasks.Go(func() {
		first := true
		for c, err := range campaigns.Watch(ctx, s.cfg.Campaign, campaignOptions(s.cfg)) {
			if err == nil && !first {
				cast(c, s.cfg.TTS)
				err = s.table.Reload(ctx, c)
			}
			first = false
			if err != nil && ctx.Err() == nil {
				s.table.Tell(bot.Alert{Text: "The changed campaign is not used: " + err.Error(), Bad: true})
			}
		}
	})
}

// close ends the table and then what it stood on.
func (s *seat) close(ctx context.Context) error {
	var errs []error
	if s.unwatch != nil {
		s.unwatch()
		s.tasks.Wait()
	}
	if s.table != nil {
		errs = append(errs, s.table.Close(ctx))
		s.tasks.Wait()
	}
	if s.host != nil {
		errs = append(errs, s.host.Close())
	}
	if s.closeMusic != nil {
		errs = append(errs, s.closeMusic())
	}
	if s.roster != nil {
		errs = append(errs, s.roster.close())
	}
	if s.audit != nil {
		errs = append(errs, s.audit.Err(), s.audit.Close())
	}
	if k := s.keeper.Load(); k != nil { // after the table, whose session has ended now
		k.Close()
	}
	if s.digester != nil {
		s.digester.Close()
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	return errors.Join(errs...)
}

// openMemory opens the store that the configuration names, with searches by
// meaning if it names a model for them.
func openMemory(ctx context.Context, cfg memoryConfig, dir string) (memory.Store, error) {
	store, err := openPlainMemory(ctx, cfg, dir)
	if err != nil {
		return nil, err
	}
	if e, ok := embedder(cfg); ok {
		return memory.WithEmbeddings(store, e), nil
	}
	return store, nil
}

// embedder is the model that the configuration names, if it does.
func embedder(cfg memoryConfig) (embedding.Client, bool) {
	e := cfg.Embeddings
	return embedding.Client{Base: e.URL, Key: e.Key.Reveal(), Name: e.Model}, e.URL != ""
}

func openPlainMemory(ctx context.Context, cfg memoryConfig, dir string) (memory.Store, error) {
	var s *relational.Store
	var err error
	switch {
	case cfg.Store != "postgres":
		s, err = sqlite.Open(ctx, filepath.Join(dir, "memory.db"))
	case cfg.DSN.IsZero():
		err = errors.New("memory.store is postgres, and memory.dsn does not say where")
	default:
		s, err = postgres.Open(ctx, cfg.DSN.Reveal())
	}
	if err != nil {
		return nil, err // not s: a nil store in an interface is not nil
	}
	return s, nil
}

// tablesOf is the dice tools' form of a campaign's tables.
func tablesOf(tables []campaigns.Table) []dice.Table {
	out := make([]dice.Table, len(tables))
	for i, t := range tables {
		out[i] = dice.Table{Name: t.ID, About: t.Name}
		for _, r := range t.Rows {
			row := dice.Row{Text: r.Text, Weight: r.Weight}
			if r.Table != "" {
				row.Text += " [[@" + r.Table + "]]"
			}
			out[i].Rows = append(out[i].Rows, row)
		}
	}
	return out
}
