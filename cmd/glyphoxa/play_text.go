package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/glyphoxa/glyphoxa/bot"
)

// textHelp is shown when a game in the terminal starts.
const textHelp = `Write a line and press Enter. Say whom you mean: "Bartok, what's in the pot tonight?"
  /as NAME      speak as somebody else       /dm          speak as the game master
  /who          who is here                  /quit        leave (or Ctrl-D)
  /help         what the game master may write here
`

// playText is the table in a terminal. Answers are printed as they are spoken.
func playText(ctx context.Context, t *bot.Table, desk stdio) error {
	st := t.State()
	fmt.Fprintf(desk.out, "%s: %s\n%s\n\n%s\n", st.Campaign, st.Scene.Name, st.Scene.Text, textHelp)
	printPart(desk, "Brain", st.Brain)
	printPart(desk, "Voice", st.Mouth)
	fmt.Fprintln(desk.out)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		printEvents(ctx, t, st.Event, desk)
	}()
	defer func() { cancel(); <-printed }()

	lines := make(chan string)
	// The reader cannot be interrupted: it ends with its input or the program.
	go func() {
		defer close(lines)
		in := bufio.NewScanner(desk.in)
		in.Buffer(nil, 64<<10)
		for in.Scan() {
			lines <- in.Text()
		}
	}()
	who := bot.Person{ID: "player", Name: "Player"}
	for {
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			if !ok || strings.TrimSpace(line) == "/quit" {
				return t.Settle(ctx)
			}
			if err := typed(ctx, t, &who, line, desk); err != nil {
				fmt.Fprintln(desk.out, "  !", err)
			}
			// A script does not wait for answers as people do: without this its
			// next line would interrupt the answer to the last one.
			if !person(desk.in) {
				if err := t.Settle(ctx); err != nil {
					return err
				}
			}
		}
	}
}

// person reports whether somebody sits at the other end, and not a file or a pipe.
func person(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// typed handles one line from the terminal.
func typed(ctx context.Context, t *bot.Table, who *bot.Person, line string, desk stdio) error {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case word == "":
		return nil
	case word == "/as" && rest != "":
		*who = bot.Person{ID: "player-" + strings.ToLower(rest), Name: rest}
		return nil
	case word == "/dm":
		*who = bot.Person{ID: "dm", Name: "DM", DM: true}
		return nil
	case word == "/who":
		for _, c := range t.State().NPCs {
			fmt.Fprintf(desk.out, "  %s (%s): %s\n", c.Name, c.Role, c.State)
		}
		return nil
	case strings.HasPrefix(word, "/"):
		return steer(ctx, t, *who, word, rest, desk)
	}
	return t.Say(ctx, *who, line)
}

// printEvents prints what happens until ctx ends.
func printEvents(ctx context.Context, t *bot.Table, after uint64, desk stdio) {
	for e := range t.Events(ctx, after) {
		switch {
		case e.Line != nil && e.Line.Final && e.Line.Speaker.NPC && e.Line.Text != "":
			cut := ""
			if e.Line.Cut {
				cut = " —"
			}
			fmt.Fprintf(desk.out, "%s: %s%s\n", e.Line.Speaker.Name, e.Line.Text, cut)
		case e.Line != nil && e.Line.Final && len(e.Line.To) == 0:
			fmt.Fprintf(desk.out, "  (nobody answers: %s)\n", e.Line.Why)
		case e.Tool != nil && e.Tool.Done:
			fmt.Fprintf(desk.out, "  [%s %s %v, %s tier]\n", e.Tool.Name, e.Tool.Args, e.Tool.Took.Round(10_000), e.Tool.Tier)
		case e.Music != nil && e.Music.Piece != "":
			fmt.Fprintf(desk.out, "  [music: %s]\n", e.Music.Piece)
		case e.Music != nil:
			fmt.Fprintln(desk.out, "  [the music fades]")
		case e.Picture != nil:
			fmt.Fprintf(desk.out, "  [a picture: %s]\n", e.Picture.Prompt)
		case e.Card != nil:
			fmt.Fprintf(desk.out, "  [%s: %s]\n", e.Card.Title, e.Card.Text)
		case e.Question != nil && !e.Question.Decided:
			fmt.Fprintf(desk.out, "  ? may %s use %s with %s (%.0f %% sure: %s)? The game master writes /allow or /deny.\n",
				e.Question.NPC, e.Question.Tool, e.Question.Args, 100*e.Question.Confidence, e.Question.Reason)
		case e.Alert != nil:
			fmt.Fprintln(desk.out, "  !", e.Alert.Text)
		}
	}
}

func printPart(desk stdio, what string, p bot.Part) {
	fmt.Fprintf(desk.out, "%s: %s", what, p.Name)
	if p.Note != "" {
		fmt.Fprintf(desk.out, ". %s", p.Note)
	}
	fmt.Fprintln(desk.out)
}
