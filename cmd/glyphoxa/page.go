package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/console"
	"github.com/glyphoxa/glyphoxa/campaigns"
)

// page is a table's console, served on loopback.
type page struct {
	*console.Console
	hosts    []string
	listener net.Listener
	server   *http.Server
	text     func()     // closes the campaign's files
	done     chan error // why serving ended
}

// openPage serves the console of a table, at the configured address or, if that is
// taken, at a free port.
func openPage(s *seat) (*page, error) {
	l, err := listen(s.cfg.Listen)
	if err != nil {
		return nil, err
	}
	text, closeText, err := manuscript(s.cfg)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	p := &page{
		Console: console.New(s.table, console.Options{
			Log: s.log, Hosts: s.cfg.Hosts, Manuscript: text, Archive: bot.NewArchive(s.store, s.campaign), Workshop: bot.NewWorkshop(s.host.Host),
		}),
		hosts: s.cfg.Hosts, listener: l, text: closeText, done: make(chan error, 1),
	}
	p.server = &http.Server{
		Handler: p.Console, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
	}
	go func() { p.done <- p.server.Serve(l) }()
	return p, nil
}

// link lets the game master in, once.
func (p *page) link(name string) string {
	base := "http://" + p.listener.Addr().String()
	if len(p.hosts) > 0 {
		base = "https://" + p.hosts[0] // a proxy that is not ours, which has to speak TLS
	}
	return p.Link(base, console.DM, name)
}

// close ends the page; whoever listens to the table should have heard its end.
func (p *page) close(ctx context.Context) error {
	p.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err := p.server.Shutdown(grace)
	if err != nil {
		err = p.server.Close()
	}
	p.text()
	if served := <-p.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// manuscript opens the campaign's files for the page: to change if they are a
// folder, to read if the campaign is part of the program.
func manuscript(cfg config) (m *bot.Manuscript, done func(), err error) {
	if !isFolder(cfg.Campaign) {
		folder, err := campaigns.ShippedFolder(cfg.Campaign)
		return bot.NewManuscript(folder, nil, campaignOptions(cfg)), func() {}, err
	}
	root, err := os.OpenRoot(cfg.Campaign)
	if err != nil {
		return nil, nil, fmt.Errorf("open the campaign: %w", err)
	}
	return bot.NewManuscript(root.FS(), root, campaignOptions(cfg)), func() { root.Close() }, nil
}

// listen opens the page's address, which must be on loopback. If it is taken, the
// system chooses a free port.
func listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w; want an address like 127.0.0.1:8420", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen %s: the page is only served on this machine; use 127.0.0.1 and an SSH tunnel or a reverse proxy with TLS", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l, nil
	}
	if l, free := net.Listen("tcp", net.JoinHostPort(host, "0")); free == nil {
		return l, nil
	}
	return nil, fmt.Errorf("listen: %w", err)
}
