package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// stdio is where a command reads and writes; tests give it buffers.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// A command is one word after glyphoxa. run returns the exit code: 0 for
// success, 1 for a failure that has been explained on io.err, 2 for wrong usage.
type command struct {
	name  string
	args  string // as shown in the help
	short string // one line: what it does for the user
	run   func(ctx context.Context, args []string, io stdio) int
}

// commands lists what glyphoxa can do, in the order of the help. It is a
// function because help itself is one of them.
func commands() []command {
	return []command{
		{"play", "[flags]", "play a campaign on this machine, in a browser or a terminal", play},
		{"run", "[flags]", "play on Discord, in voice channels", runBot},
		{"sim", "[flags]", "play on a Discord of this machine's own, with faults on request", sim},
		{"say", "[flags] TEXT", "say one thing to an NPC and hear its answer", say},
		{"check", "[CAMPAIGN...]", "tell everything that is wrong in configuration and campaigns", check},
		{"doctor", "[flags]", "look for whatever would go wrong later", doctor},
		{"campaign", "COMMAND", "import people and worlds from other programs, and export them", runCampaign},
		{"schema", "", "print the JSON Schema of campaign files, for editors", schema},
		{"roll", "EXPR", "roll dice, as written or as said", roll},
		{"memory", "COMMAND", "search, show, move and erase what is remembered", runMemory},
		{"explain", "[flags] \"LINE\"", "say who is meant by a line, and why", explain},
		{"rules", "QUESTION", "look a rule up, as a player would ask", searchRules},
		{"tools", "COMMAND", "tool servers: add, test, approve, serve; calls and their statistics", runTools},
		{"help", "[COMMAND]", "show this list, or a command's flags", help},
	}
}

// run finds the command and runs it.
func run(ctx context.Context, args []string, io stdio) int {
	if len(args) == 0 {
		return help(ctx, nil, io)
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	}
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		fmt.Fprintf(io.err, "glyphoxa: no command %q; 'glyphoxa help' lists them\n", name)
		return 2
	}
	return all[i].run(ctx, args[1:], io)
}

// help prints the list of commands, or one command's own help.
func help(ctx context.Context, args []string, io stdio) int {
	if len(args) > 0 && args[0] != "help" {
		return run(ctx, []string{args[0], "-h"}, io)
	}
	fmt.Fprint(io.out, "Glyphoxa plays the non-player characters of your game by voice.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(io.out, "  %-28s %s\n", strings.TrimSpace("glyphoxa "+c.name+" "+c.args), c.short)
	}
	fmt.Fprint(io.out, "\n'glyphoxa COMMAND -h' shows a command's flags.\n")
	return 0
}
