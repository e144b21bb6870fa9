package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// maxFeedback bounds the file of what people say about the bot: tens of thousands
// of notes. A flood fills no disk.
const maxFeedback = 16 << 20

// A Note is what somebody said about the bot, and what was going on.
type Note struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	// By is who said it; "" if they did not want to be named.
	By string `json:"by,omitempty"`
	// Session, Line and Turn are the table's last ones, if there is one.
	Session string `json:"session,omitempty"`
	Line    string `json:"line,omitempty"`
	Turn    *Turn  `json:"turn,omitempty"`
}

// Feedback keeps what somebody says about the bot, together with the last line
// and turn, so that the operator can see what they meant.
func (t *Table) Feedback(ctx context.Context, who Person, text string) error {
	n := Note{Text: text, By: who.Name}
	if err := t.do(ctx, func() error {
		n.Session = t.session
		if len(t.lines) > 0 {
			n.Line = t.lines[len(t.lines)-1].ID
		}
		if len(t.turns) > 0 {
			turn := t.turns[len(t.turns)-1]
			n.Turn = &turn
		}
		return nil
	}); err != nil {
		return err
	}
	return n.Keep(t.o.Feedback)
}

// Keep appends the note to a file of JSON lines.
func (n Note) Keep(path string) error {
	text, err := written(n.Text)
	if err != nil {
		return err
	}
	if path == "" {
		return Refuse("feedback is not kept here")
	}
	n.Text, n.At = text, time.Now().UTC()
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep feedback: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxFeedback {
		return errors.Join(Refuse("the operator has more feedback than the file may hold: please tell them directly"), err)
	}
	if _, err := f.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("keep feedback: %w", err)
	}
	return nil
}
