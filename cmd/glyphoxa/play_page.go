package main

import (
	"context"
	"errors"
	"fmt"
)

// playPage serves the table as a page on loopback until ctx ends.
func playPage(ctx context.Context, s *seat, io stdio) error {
	p, err := openPage(s)
	if err != nil {
		return err
	}
	st := s.table.State()
	fmt.Fprintf(io.out, "%s is set: %s.\n", st.Campaign, st.Scene.Name)
	printPart(io, "Brain", st.Brain)
	printPart(io, "Ear", st.Ear)
	printPart(io, "Voice", st.Mouth)
	fmt.Fprintf(io.out, "\nOpen this page (the link lets you in once):\n\n  %s\n\nCtrl-C ends the game.\n", p.link("DM"))

	select {
	case err = <-p.done:
		p.done <- err
		return errors.Join(err, p.close(ctx))
	case <-ctx.Done():
	}
	fmt.Fprintln(io.out, "\nThe last sentence ends; see you.")
	// The table closes first, so that listeners hear the voice fade.
	return errors.Join(s.table.Close(context.WithoutCancel(ctx)), p.close(ctx))
}
