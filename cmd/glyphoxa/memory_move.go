package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/glyphoxa/glyphoxa/memory"
)

func exportMemory(ctx context.Context, m *memoryDesk, args []string) error {
	player := m.flags.String("player", "", "only what the player with this `ID` said, and what rests on it")
	words, err := m.parse(args, 0, 1)
	if err != nil {
		return err
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	path := ""
	if len(words) > 0 {
		path = words[0]
	}
	return m.output(path, func(w io.Writer) error { return m.store.Export(ctx, w, m.campaign, *player) })
}

func forgetPlayer(ctx context.Context, m *memoryDesk, args []string) error {
	words, err := m.parse(args, 1, 1)
	if err != nil {
		return err
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	gone, err := m.store.Forget(ctx, m.campaign, words[0])
	if err != nil {
		return err
	}
	if m.json {
		return m.write(gone)
	}
	fmt.Fprintf(m.io.out, "%d lines and %d claims erased; backups made before still have them\n", gone.Lines, gone.Claims)
	return nil
}

// exportAll writes every campaign of a store.
func exportAll(ctx context.Context, s memory.Store, w io.Writer) error {
	names, err := s.Campaigns(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.Export(ctx, w, name, ""); err != nil {
			return err
		}
	}
	return nil
}

func backupMemory(ctx context.Context, m *memoryDesk, args []string) error {
	words, err := m.parse(args, 1, 1)
	if err != nil {
		return err
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	return m.output(words[0], func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(exportAll(ctx, m.store, z), z.Close())
	})
}

func restoreMemory(ctx context.Context, m *memoryDesk, args []string) error {
	words, err := m.parse(args, 1, 1)
	if err != nil {
		return err
	}
	f, err := os.Open(words[0])
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s is not a backup: %w", words[0], err)
	}
	// The whole file is checked before anything is written, so that half a
	// backup is not restored as if it were one.
	if _, err := io.Copy(io.Discard, z); err != nil {
		return fmt.Errorf("%s is damaged: %w", words[0], err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := z.Reset(f); err != nil {
		return err
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	return m.store.Import(ctx, z)
}

func copyMemory(ctx context.Context, m *memoryDesk, args []string) error {
	words, err := m.parse(args, 2, 2)
	if err != nil {
		return err
	}
	if m.store, err = openStore(ctx, words[0]); err != nil {
		return err
	}
	to, err := openStore(ctx, words[1])
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	done := make(chan error, 1) // one result; nobody is left behind if Import fails first
	go func() {
		err := exportAll(ctx, m.store, w)
		w.CloseWithError(err)
		done <- err
	}()
	err = to.Import(ctx, r)
	r.CloseWithError(err)
	return errors.Join(err, <-done, to.Close())
}
