package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/registry"
	"github.com/glyphoxa/glyphoxa/mcp/trust"
)

// listedServer is one line of glyphoxa tools list.
type listedServer struct {
	Name      string       `json:"name"`
	Category  mcp.Category `json:"category"`
	Transport string       `json:"transport"`
	Enabled   bool         `json:"enabled"`
	Source    string       `json:"source"` // "program", "configuration" or "registry"
	Target    string       `json:"target,omitempty"`
	State     string       `json:"state,omitempty"`
	Error     string       `json:"error,omitempty"`
	Tools     []listedTool `json:"tools,omitempty"`
}

type listedTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Blocked     string `json:"blocked,omitempty"`
}

// coreServer stands for the tools of this program in lists.
const coreServer = "core"

func listServers(ctx context.Context, d *toolsDesk, args []string) error {
	connect := d.flags.Bool("connect", false, "connect to the servers and show their tools")
	if _, err := d.parse(args, 0, 0); err != nil {
		return err
	}
	servers, leftOut := toolServers(ctx, d.cfg, d.dir)
	if leftOut != nil {
		fmt.Fprintf(d.io.err, "left out: %v\n", leftOut)
	}
	configured := serversOf(d.cfg.MCP)
	own, err := d.ownTools()
	if err != nil {
		return err
	}
	list := []listedServer{{Name: coreServer, Category: mcp.Core, Transport: "built in", Enabled: true, Source: "program", Tools: own}}
	for _, s := range servers {
		l := listedServer{Name: s.Name, Category: s.Category, Transport: s.Transport, Enabled: !s.Disabled, Source: "registry", Target: s.URL}
		if slices.ContainsFunc(configured, func(c mcp.ServerConfig) bool { return c.Name == s.Name }) {
			l.Source = "configuration"
		}
		if s.Transport == mcp.Stdio {
			l.Target = strings.Join(s.Command, " ")
		}
		if l.Category == "" {
			l.Category = mcp.External
			if s.Transport == mcp.Stdio {
				l.Category = mcp.System
			}
		}
		list = append(list, l)
	}
	if leftOut != nil {
		if list, err = d.withLeftOut(ctx, list); err != nil {
			return err
		}
	}
	if *connect {
		if err := d.connected(ctx, list); err != nil {
			return err
		}
	}
	if d.json {
		return writeJSON(d.io.out, list)
	}
	var rows []string
	for _, l := range list {
		on := "on"
		if !l.Enabled {
			on = "off"
		}
		state := l.State
		if state == "" {
			state = on
		}
		rows = append(rows, strings.Join([]string{l.Name, string(l.Category), l.Transport, state, l.Source, l.Target}, "\t"))
	}
	if err := d.table("NAME\tCATEGORY\tTRANSPORT\tSTATE\tFROM\tCOMMAND OR URL", rows); err != nil {
		return err
	}
	for _, l := range list {
		if l.Error != "" {
			fmt.Fprintf(d.io.out, "\n%s: %s\n", l.Name, l.Error)
		}
		if len(l.Tools) > 0 {
			fmt.Fprintf(d.io.out, "\n%s, %s:\n", l.Name, count(len(l.Tools), "tool"))
			d.printTools(l.Tools)
		}
	}
	return nil
}

// ownTools lists the tools of this program, with what they miss.
func (d *toolsDesk) ownTools() ([]listedTool, error) {
	c, err := loadCampaign(d.cfg)
	if err != nil {
		return nil, err
	}
	tools, err := builtins(belongings{campaign: c, cfg: d.cfg})
	if err != nil {
		return nil, err
	}
	var list []listedTool
	for _, t := range tools {
		list = append(list, listedTool{Name: t.Name, Description: firstLine(t.Description), Blocked: t.Missing})
	}
	slices.SortFunc(list, func(a, b listedTool) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// withLeftOut adds the registered servers whose secrets cannot be opened: they are
// there, if of no use.
func (d *toolsDesk) withLeftOut(ctx context.Context, list []listedServer) ([]listedServer, error) {
	err := d.change(ctx, func(b *registry.Book) error {
		all, err := b.List(ctx)
		for _, s := range all {
			if slices.ContainsFunc(list, func(l listedServer) bool { return l.Name == s.Name }) {
				continue
			}
			target := s.URL
			if s.Command != "" {
				target = strings.Join(append([]string{s.Command}, s.Args...), " ")
			}
			list = append(list, listedServer{
				Name: s.Name, Category: s.Category, Transport: s.Transport, Enabled: s.Enabled, Source: "registry",
				Target: target, State: "left out",
			})
		}
		return err
	})
	return list, err
}

// connected fills in what is only known of servers that are connected.
func (d *toolsDesk) connected(ctx context.Context, list []listedServer) error {
	w, err := d.workshop(ctx, func(string) bool { return true })
	if err != nil {
		return err
	}
	d.await(ctx, w)
	hidden := w.host.Belt(mcp.Grant{Allow: w.everything(), Tier: mcp.Deep}).Hidden()
	for i := range list {
		l := &list[i]
		name := l.Name
		if name == coreServer { // listed already
			l.State = string(mcp.Up)
			continue
		}
		for _, s := range w.host.Servers() {
			if s.Name == l.Name {
				l.State, l.Error = string(s.State), s.Error
			}
		}
		for _, t := range w.host.Tools() {
			if t.Server == name {
				l.Tools = append(l.Tools, listedTool{Name: t.Name, Description: firstLine(t.Description)})
			}
		}
		for _, h := range hidden {
			if strings.HasPrefix(h.Name, l.Name+"__") && !strings.HasSuffix(h.Name, "*") {
				l.Tools = append(l.Tools, listedTool{Name: h.Name, Blocked: h.Reason})
			}
		}
	}
	return w.close()
}

// await gives servers the time that people wait for.
func (d *toolsDesk) await(ctx context.Context, w *workshop) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := w.host.Ready(ctx); err != nil {
		fmt.Fprintf(d.io.err, "not waited for any longer: %v\n", err)
	}
}

func (d *toolsDesk) printTools(tools []listedTool) {
	for _, t := range tools {
		if t.Blocked != "" {
			fmt.Fprintf(d.io.out, "  %-40s off: %s\n", t.Name, t.Blocked)
		} else {
			fmt.Fprintf(d.io.out, "  %-40s %s\n", t.Name, t.Description)
		}
	}
}

// count is "1 tool" or "2 tools".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// firstLine is what fits on a line of a terminal.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 100 {
		return string(r[:99]) + "…"
	}
	return s
}

// pairs is a flag of NAME=VALUE that may be given several times.
type pairs map[string]string

func (p pairs) String() string { return "" }

func (p pairs) Set(s string) error {
	k, v, ok := strings.Cut(s, "=")
	if !ok || k == "" {
		return fmt.Errorf("want NAME=VALUE, not %q", s)
	}
	p[k] = v
	return nil
}

// several is a flag that may be given several times.
type several []string

func (v *several) String() string { return strings.Join(*v, ",") }

func (v *several) Set(s string) error {
	*v = append(*v, s)
	return nil
}

func addServer(ctx context.Context, d *toolsDesk, args []string) error {
	s := registry.Server{Env: map[string]string{}, Enabled: true}
	var env pairs = s.Env
	var read, write, scopes several
	d.flags.StringVar(&s.URL, "url", "", "the `URL` of a server over HTTP")
	d.flags.StringVar(&s.Transport, "transport", "", "`stdio`, streamable-http or sse (default: by command or url)")
	category := d.flags.String("category", "", "`system`, network or external (default: by transport)")
	command := d.flags.String("command", "", "the command as one `LINE`, split as a shell would; or give it after --")
	d.flags.Var(env, "env", "`NAME=VALUE` for the command; VALUE may be ${NAME} or file:PATH (repeatable)")
	d.flags.Var(&read, "read", "a `PATH` the command may read (repeatable)")
	d.flags.Var(&write, "write", "a `PATH` the command may read and write (repeatable)")
	d.flags.Var(&scopes, "scope", "an OAuth `SCOPE` (repeatable)")
	d.flags.BoolVar(&s.Network, "network", false, "let the command connect")
	d.flags.BoolVar(&s.Open, "open", false, "let the command use files and network as you may")
	d.flags.BoolVar(&s.Trusted, "trusted", false, "believe what the server says about its tools")
	d.flags.BoolVar(&s.Calibrate, "calibrate", false, "measure tools declared harmless when the server connects")
	d.flags.BoolVar(&s.Insecure, "insecure", false, "allow http to another machine")
	d.flags.StringVar(&s.Token, "token", "", "a bearer token as `${NAME}` or file:PATH")
	d.flags.StringVar(&s.ClientID, "client-id", "", "OAuth client `ID`")
	d.flags.StringVar(&s.ClientSecret, "client-secret", "", "OAuth client secret as `${NAME}` or file:PATH")
	d.flags.StringVar(&s.PrivateKey, "private-key", "", "OAuth private key as `file:PATH`")
	d.flags.StringVar(&s.TokenURL, "token-url", "", "OAuth token `URL` (default: discovered)")
	words, err := d.parse(args, 1, 256)
	if err != nil {
		return err
	}
	s.Name, s.Category, s.Read, s.Write, s.Scopes = words[0], mcp.Category(*category), read, write, scopes
	argv := words[1:]
	if *command != "" {
		if len(argv) > 0 {
			return fmt.Errorf("%w: --command and a command after --", errUsage)
		}
		if argv, err = mcp.SplitCommand(*command); err != nil {
			return err
		}
	}
	if len(argv) > 0 {
		s.Command, s.Args = argv[0], argv[1:]
	}
	if s.Transport == "" {
		switch {
		case s.Command != "" && s.URL == "":
			s.Transport = mcp.Stdio
		case s.URL != "" && s.Command == "":
			s.Transport = mcp.StreamableHTTP
		default:
			return fmt.Errorf("%w: want either --url or a command", errUsage)
		}
	}
	if s.Name == coreServer {
		return errors.New("core is the name of the program's own tools")
	}
	return d.change(ctx, func(b *registry.Book) error {
		if err := b.Add(ctx, s); err != nil {
			return err
		}
		fmt.Fprintf(d.io.out, "added %s; 'glyphoxa tools test %s' tries it\n", s.Name, s.Name)
		return nil
	})
}

// change opens the registry for one change.
func (d *toolsDesk) change(ctx context.Context, f func(b *registry.Book) error) error {
	b, end, err := openRegistry(ctx, d.cfg, d.dir)
	if err != nil {
		return err
	}
	return errors.Join(f(b), end())
}

func enableServer(ctx context.Context, d *toolsDesk, args []string) error {
	return switchServer(ctx, d, args, true)
}

func disableServer(ctx context.Context, d *toolsDesk, args []string) error {
	return switchServer(ctx, d, args, false)
}

func switchServer(ctx context.Context, d *toolsDesk, args []string, on bool) error {
	words, err := d.parse(args, 1, 1)
	if err != nil {
		return err
	}
	if err := d.registered(words[0]); err != nil {
		return err
	}
	return d.change(ctx, func(b *registry.Book) error {
		if err := b.Enable(ctx, words[0], on); err != nil {
			return fmt.Errorf("%s: %w", words[0], err)
		}
		fmt.Fprintf(d.io.out, "%s is %s\n", words[0], map[bool]string{true: "on", false: "off"}[on])
		return nil
	})
}

// registered refuses names that the registry does not decide about.
func (d *toolsDesk) registered(name string) error {
	if name == coreServer {
		return errors.New("the program's own tools are always there; what an NPC may use is its tools: list")
	}
	if slices.ContainsFunc(d.cfg.MCP.Servers, func(s serverConfig) bool { return s.Name == name }) {
		return fmt.Errorf("%s is in the configuration file, which wins; change it there", name)
	}
	return nil
}

func removeServer(ctx context.Context, d *toolsDesk, args []string) error {
	words, err := d.parse(args, 1, 1)
	if err != nil {
		return err
	}
	if err := d.registered(words[0]); err != nil {
		return err
	}
	return d.change(ctx, func(b *registry.Book) error {
		if err := b.Remove(ctx, words[0]); err != nil {
			return fmt.Errorf("%s: %w", words[0], err)
		}
		pins, err := d.pins()
		if err == nil {
			err = pins.Forget(words[0]) // a server of that name is a new one
		}
		fmt.Fprintf(d.io.out, "removed %s\n", words[0])
		return err
	})
}

// pins opens the book of approved definitions.
func (d *toolsDesk) pins() (*trust.Book, error) { return trust.Open(mcp.PinsFile(d.toolsDir())) }

func testServer(ctx context.Context, d *toolsDesk, args []string) error {
	words, err := d.parse(args, 1, 1)
	if err != nil {
		return err
	}
	began := time.Now()
	w, err := d.workshop(ctx, func(name string) bool { return name == words[0] })
	if err != nil {
		return err
	}
	if len(w.servers) == 0 {
		return errors.Join(fmt.Errorf("no server %q; 'glyphoxa tools list' shows them", words[0]), w.close())
	}
	if w.servers[0].Disabled {
		w.servers[0].Disabled = false
		if err := w.host.Connect(ctx, w.servers); err != nil {
			return errors.Join(err, w.close())
		}
	}
	d.await(ctx, w)
	took := time.Since(began)
	s := w.host.Servers()[0]
	l := listedServer{Name: s.Name, Category: s.Category, Transport: s.Transport, Enabled: true, State: string(s.State), Error: s.Error}
	for _, t := range w.host.Tools() {
		if t.Server == s.Name {
			l.Tools = append(l.Tools, listedTool{Name: t.Name, Description: firstLine(t.Description)})
		}
	}
	for _, h := range w.host.Belt(mcp.Grant{Allow: w.everything(), Tier: mcp.Deep}).Hidden() {
		if strings.HasPrefix(h.Name, s.Name+"__") && !strings.HasSuffix(h.Name, "*") {
			l.Tools = append(l.Tools, listedTool{Name: h.Name, Blocked: h.Reason})
		}
	}
	if err := w.close(); err != nil {
		return err
	}
	if d.json {
		if err := writeJSON(d.io.out, l); err != nil {
			return err
		}
	} else if s.State == mcp.Up {
		fmt.Fprintf(d.io.out, "%s is up after %v: %s, protocol %s\n", s.Name, took.Round(time.Millisecond), strings.TrimSpace(s.Version), s.Protocol)
		if s.Confinement != "" {
			fmt.Fprintf(d.io.out, "held by: %s\n", s.Confinement)
		}
		if !s.Trusted {
			fmt.Fprintln(d.io.out, "not trusted: all its tools count as writing, and do nothing in a dry run")
		}
		fmt.Fprintf(d.io.out, "%s:\n", count(len(l.Tools), "tool"))
		d.printTools(l.Tools)
	}
	if s.State != mcp.Up {
		if !d.json {
			fmt.Fprintf(d.io.err, "%s is %s: %s\n", s.Name, s.State, s.Error)
		}
		return errSaid
	}
	return nil
}
