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

// playPage serves the table as a page on loopback until ctx ends.
func playPage(ctx context.Context, s *seat, io stdio) error {
	l, err := listen(s.cfg.Listen)
	if err != nil {
		return err
	}
	text, closeText, err := manuscript(s.cfg)
	if err != nil {
		return err
	}
	defer closeText()
	page := console.New(s.table, console.Options{
		Log: s.log, Hosts: s.cfg.Hosts, Manuscript: text, Archive: bot.NewArchive(s.store, s.campaign), Workshop: bot.NewWorkshop(s.host),
	})
	server := &http.Server{
		Handler: page, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
	}
	st := s.table.State()
	fmt.Fprintf(io.out, "%s is set: %s.\n", st.Campaign, st.Scene.Name)
	printPart(io, "Brain", st.Brain)
	printPart(io, "Ear", st.Ear)
	printPart(io, "Voice", st.Mouth)
	fmt.Fprintf(io.out, "\nOpen this page (the link lets you in once):\n\n  %s\n\nCtrl-C ends the game.\n",
		page.Link("http://"+l.Addr().String(), console.DM, "DM"))

	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err = <-done:
		page.Close()
		return err
	case <-ctx.Done():
	}
	fmt.Fprintln(io.out, "\nThe last sentence ends; see you.")
	// The table closes first, so that listeners hear the voice fade.
	err = s.table.Close(context.WithoutCancel(ctx))
	page.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if stop := server.Shutdown(grace); stop != nil {
		err = errors.Join(err, server.Close())
	}
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
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
