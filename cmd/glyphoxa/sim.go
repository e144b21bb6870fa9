package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/bot/discord"
	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice"
	"github.com/glyphoxa/glyphoxa/voice/voicetest"
)

// simToken is what the bot logs in with; nobody else is asked.
const simToken = "sim"

const simHelp = `Each line is one thing that happens:
  join NAME             somebody enters the voice channel          leave NAME
  as NAME               who uses the commands that follow ("lead" is an administrator)
  /COMMAND KEY=VALUE    a slash command, such as /session start    press ID, complete /COMMAND KEY=VALUE
  say NAME FILE.wav     NAME says what is in the file              hear NAME FILE.wav (records the NPCs from now on)
  admit NAME            prints, as JSON, how another program can join the call as NAME
  login NAME            prints, as JSON, how another program can log in to this Discord as NAME
  loss N, duplicate N   percent of packets                         jitter DURATION, dress, clear
  cut NAME              breaks NAME's socket ("bot" is the bot)    close NAME CODE, heartbeats NAME, spoil NAME 29|30
  garbage NAME N        sends NAME N bad datagrams                 silence on|off, tell
  status, commands, posted, wait DURATION, quit
`

// sim plays on a Discord of this machine's own.
func sim(ctx context.Context, args []string, io stdio) int {
	var p playFlags
	var o voicetest.Options
	fs := flag.NewFlagSet("glyphoxa sim", flag.ContinueOnError)
	fs.SetOutput(io.err)
	p.define(fs)
	fs.BoolVar(&o.Plain, "plain", false, "calls without end-to-end encryption, which the bot must refuse")
	fs.BoolVar(&o.LateSpeaking, "late", false, "do not say who speaks until told to")
	fs.Usage = func() {
		fmt.Fprint(io.err, "glyphoxa sim [flags]\n\nPlays on a Discord of this machine's own: real protocols, no account, and faults on request.\n\n"+simHelp+"\n")
		fs.PrintDefaults()
	}
	if code, done := parse(fs, args, io); done {
		return code
	}
	return fail(io, "sim", p.simulate(ctx, &o, io))
}

func (p *playFlags) simulate(ctx context.Context, o *voicetest.Options, io stdio) (err error) {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	if p.data == "" { // what is played here is nobody's memory
		if cfg.Data, err = os.MkdirTemp("", "glyphoxa-sim-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(cfg.Data)) }()
	}
	log := slog.New(slog.DiscardHandler)
	if p.verbose {
		log = slog.New(slog.NewTextHandler(io.err, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	o.Log = log
	calls, err := voicetest.NewServer(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, calls.Close()) }()
	d := discordtest.NewServer(simToken, calls)
	defer d.Close()

	desk, err := newDesk(cfg, cfg.Data, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, desk.host.Close()) }()
	options := p.application(cfg, cfg.Data, log, desk, nil)
	options.Token, options.Guild, options.HTTP = secret.New(simToken), discordtest.Guild, d.Client()
	app, err := discord.New(options)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1) // room for the one end there is
	go func() { ended <- app.Run(running) }()
	s := &simulation{
		calls: calls, discord: d, io: io, ids: map[string]string{"bot": discordtest.Bot, "lead": discordtest.Admin},
		who: "lead", next: 900000000000000020, players: map[string]*simPlayer{}, data: cfg.Data,
	}
	err = s.play(running, ended)
	s.close()
	stop()
	return errors.Join(err, <-ended)
}

// A simulation is the world around the bot, moved by lines.
type simulation struct {
	calls   *voicetest.Server
	discord *discordtest.Server
	io      stdio
	data    string
	ids     map[string]string // users by name
	who     string
	next    uint64
	faults  voicetest.Faults
	players map[string]*simPlayer
}

// A simPlayer is a player's own client in the call.
type simPlayer struct {
	conn *voice.Conn
	stop context.CancelFunc
	done sync.WaitGroup
}

// play handles lines until there are no more.
func (s *simulation) play(ctx context.Context, ended chan error) error {
	for !s.discord.Ready() {
		select {
		case err := <-ended:
			ended <- err
			return nil
		case <-ctx.Done():
			return nil
		case <-time.After(10 * time.Millisecond):
		}
	}
	s.discord.Enter(discordtest.Admin)
	fmt.Fprintf(s.io.out, "A Discord of this machine's own is up, its voice server on %s.\n'help' lists what can happen in it; /session start brings the NPCs.\n", s.calls.Endpoint())
	lines := make(chan string)
	// The reader cannot be interrupted: it ends with its input or the program.
	go func() {
		defer close(lines)
		in := bufio.NewScanner(s.io.in)
		in.Buffer(nil, 64<<10)
		for in.Scan() {
			lines <- in.Text()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			ended <- err
			return nil
		case line, ok := <-lines:
			if line = strings.TrimSpace(line); !ok || line == "quit" {
				return nil
			}
			if err := s.happen(ctx, line); err != nil {
				fmt.Fprintln(s.io.out, "!", err)
			}
		}
	}
}

// happen does what one line says.
func (s *simulation) happen(ctx context.Context, line string) error {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if strings.HasPrefix(line, "/") {
		return s.slash(ctx, line[1:], s.discord.Slash)
	}
	verbs := s.verbs()
	i := slices.IndexFunc(verbs, func(v simVerb) bool { return v.name == words[0] })
	if i < 0 {
		return fmt.Errorf("nothing called %q can happen; 'help' lists what can", words[0])
	}
	if got := len(words) - 1; got < verbs[i].least {
		return fmt.Errorf("%s wants %d words more; 'help' shows them", words[0], verbs[i].least-got)
	}
	return verbs[i].do(ctx, append(words[1:], "", "")[:max(2, len(words)-1)])
}

type simVerb struct {
	name  string
	least int // words that must follow
	do    func(ctx context.Context, w []string) error
}

func (s *simulation) verbs() []simVerb {
	return slices.Concat([]simVerb{
		{"help", 0, func(context.Context, []string) error { fmt.Fprint(s.io.out, simHelp); return nil }},
		{"as", 1, func(_ context.Context, w []string) error { s.id(w[0]); s.who = w[0]; return nil }},
		{"join", 1, func(_ context.Context, w []string) error { s.discord.Enter(s.id(w[0])); return nil }},
		{"leave", 1, func(_ context.Context, w []string) error { s.discord.Leave(s.id(w[0])); return s.part(w[0]) }},
		{"press", 1, func(ctx context.Context, w []string) error {
			return s.show(s.discord.Press(ctx, s.id(s.who), w[0]))
		}},
		{"complete", 1, func(ctx context.Context, w []string) error {
			return s.slash(ctx, strings.TrimPrefix(strings.Join(w, " "), "/"), s.discord.Complete)
		}},
		{"elsewhere", 1, func(ctx context.Context, w []string) error {
			return s.show(s.discord.SlashElsewhere(ctx, s.id(s.who), strings.TrimPrefix(strings.TrimSpace(strings.Join(w, " ")), "/")))
		}},
		{"commands", 0, func(context.Context, []string) error {
			fmt.Fprintln(s.io.out, "/"+strings.Join(s.discord.Commands(), ", /"))
			return nil
		}},
		{"posted", 0, func(context.Context, []string) error {
			for _, r := range s.discord.Posted() {
				fmt.Fprintln(s.io.out, ">", r.Content)
			}
			return nil
		}},
		{"wait", 1, func(ctx context.Context, w []string) error {
			d, err := time.ParseDuration(w[0])
			if err == nil {
				select {
				case <-time.After(d):
				case <-ctx.Done():
				}
			}
			return err
		}},
		{"status", 0, func(context.Context, []string) error { s.status(); return nil }},
		{"admit", 1, func(_ context.Context, w []string) error { return s.admit(w[0]) }},
		{"login", 1, func(_ context.Context, w []string) error { return s.login(w[0]) }},
		{"say", 2, func(ctx context.Context, w []string) error { return s.say(ctx, w[0], w[1]) }},
		{"hear", 2, func(ctx context.Context, w []string) error { return s.hear(ctx, w[0], w[1]) }},
	}, s.faultVerbs())
}

// faultVerbs are what goes wrong on request.
func (s *simulation) faultVerbs() []simVerb {
	channel := simNumber(discordtest.Channel)
	user := func(name string) uint64 { return simNumber(s.id(name)) }
	set := func(change func(f *voicetest.Faults, w string) error) func(context.Context, []string) error {
		return func(_ context.Context, w []string) error {
			err := change(&s.faults, w[0])
			s.calls.SetFaults(s.faults)
			return err
		}
	}
	return []simVerb{
		{"loss", 1, set(func(f *voicetest.Faults, w string) (err error) { f.Loss, err = percent(w); return err })},
		{"duplicate", 1, set(func(f *voicetest.Faults, w string) (err error) { f.Duplicate, err = percent(w); return err })},
		{"jitter", 1, set(func(f *voicetest.Faults, w string) (err error) { f.Jitter, err = time.ParseDuration(w); return err })},
		{"dress", 0, set(func(f *voicetest.Faults, _ string) error { f.Dress = true; return nil })},
		{"clear", 0, set(func(f *voicetest.Faults, _ string) error { *f = voicetest.Faults{}; return nil })},
		{"cut", 1, func(_ context.Context, w []string) error { s.calls.Cut(channel, user(w[0])); return nil }},
		{"heartbeats", 1, func(_ context.Context, w []string) error { s.calls.ForgetHeartbeats(channel, user(w[0])); return nil }},
		{"close", 2, func(_ context.Context, w []string) error {
			code, err := strconv.Atoi(w[1])
			if err != nil || code < 1000 || code > 4999 {
				return fmt.Errorf("close code %q, want 1000 to 4999", w[1])
			}
			s.calls.CloseWith(channel, user(w[0]), code)
			return nil
		}},
		{"spoil", 2, func(_ context.Context, w []string) error {
			op, err := strconv.ParseUint(w[1], 10, 8)
			if err != nil {
				return fmt.Errorf("opcode %q, want 29 (a commit) or 30 (a welcome)", w[1])
			}
			if w[0] == "next" {
				s.calls.SpoilNext(channel, uint8(op))
			} else {
				s.calls.Spoil(channel, user(w[0]), uint8(op))
			}
			return nil
		}},
		{"garbage", 2, func(_ context.Context, w []string) error {
			n, err := strconv.Atoi(w[1])
			if err != nil || n < 0 || n > 1_000_000 {
				return fmt.Errorf("%q datagrams, want up to 1000000", w[1])
			}
			s.calls.Garbage(channel, user(w[0]), n)
			return nil
		}},
		{"silence", 1, func(_ context.Context, w []string) error { s.calls.SilenceUDP(w[0] == "on"); return nil }},
		{"tell", 0, func(context.Context, []string) error { s.calls.Tell(channel); return nil }},
	}
}

func percent(w string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(w, "%"), 64)
	if err != nil || v < 0 || v > 100 {
		return 0, fmt.Errorf("%q, want a percentage", w)
	}
	return v / 100, nil
}

// id is a user's id. Who is named for the first time becomes a member.
func (s *simulation) id(name string) string {
	if id, ok := s.ids[name]; ok {
		return id
	}
	s.next++
	id := strconv.FormatUint(s.next, 10)
	s.ids[name] = id
	s.discord.Join(id, name, discordtest.Everyone)
	return id
}

// simNumber is an id as a number; ids here are ours.
func simNumber(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// slash finds the command that a line begins with, and its options.
func (s *simulation) slash(ctx context.Context, line string, use func(ctx context.Context, user, name string, options ...string) (discordtest.Reply, error)) error {
	names := s.discord.Commands()
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, name := range names {
		rest, ok := strings.CutPrefix(line+" ", name+" ")
		if !ok {
			continue
		}
		// KEY=VALUE, where a value goes on until the next key.
		var options []string
		for word := range strings.FieldsSeq(rest) {
			if key, value, ok := strings.Cut(word, "="); ok {
				options = append(options, key, value)
			} else if len(options) > 0 {
				options[len(options)-1] += " " + word
			}
		}
		return s.show(use(ctx, s.id(s.who), name, options...))
	}
	return fmt.Errorf("the bot has no command /%s; 'commands' lists them", line)
}

func (s *simulation) show(r discordtest.Reply, err error) error {
	if err != nil {
		return err
	}
	kind := ">"
	if r.Private {
		kind = "> (only you)"
	}
	fmt.Fprintln(s.io.out, kind, r.Content)
	for _, c := range slices.Concat(r.Buttons, r.Choices) {
		fmt.Fprintln(s.io.out, "  -", c)
	}
	return nil
}

func (s *simulation) status() {
	members := s.calls.Members(simNumber(discordtest.Channel))
	fmt.Fprintf(s.io.out, "epoch %d, %d in the call, %d logins\n",
		s.calls.Epoch(simNumber(discordtest.Channel)), len(members), s.discord.Logins())
	for name, id := range s.ids {
		if packets, ok := members[simNumber(id)]; ok {
			fmt.Fprintf(s.io.out, "  %s sent %d packets\n", name, packets)
		}
	}
}

// close lets all players leave.
func (s *simulation) close() {
	for name := range s.players {
		_ = s.part(name) // the call may be over already
	}
}

func (s *simulation) part(name string) error {
	p := s.players[name]
	if p == nil {
		return nil
	}
	delete(s.players, name)
	p.stop()
	p.done.Wait()
	return p.conn.Close()
}
