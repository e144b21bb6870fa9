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

	"github.com/glyphoxa/glyphoxa/mcp/jail"
)

func main() {
	jail.Main() // does not return in the copies of this program that watch over tool servers
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}
