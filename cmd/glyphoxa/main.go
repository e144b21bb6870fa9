// Command glyphoxa plays the non-player characters of a tabletop game by voice.
//
//	glyphoxa play     the table on this machine, in a browser or a terminal
//	glyphoxa run      the table in a Discord voice channel
//	glyphoxa help     everything else
//
// Every command reads the same configuration, glyphoxa.yaml, and works without
// one: then the shipped campaign is played with what this machine has.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}
