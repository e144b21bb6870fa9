// Package session tells what happened at the table: a recap of one evening, a
// summary with who was there and where, and a search through the campaign's whole
// history.
//
// Everything is told through the eyes of the caller: an NPC's recap holds what
// that NPC heard, and an evening it was not there for is one it knows nothing of.
// Every line told is a line that was said; nothing is made up, and no model is
// asked. Answers are JSON, of at most 15 lines with 400 bytes each.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
)

const (
	// maxSessions is how far back a session is looked for by its date: a weekly
	// table's ten years.
	maxSessions = 500
	// maxNames bounds the speakers and scenes of a summary.
	maxNames = 20
	maxText  = 400 // bytes of one line
)

// Errors that tell a model what to do instead.
var (
	ErrNoSession = errors.New("there is no such session; \"last\" and \"current\" are understood, and dates such as 2026-03-01")
	ErrNoEarlier = errors.New("there is no earlier session")
	errNoneRuns  = errors.New("no session is running")
)

// Find resolves what models and people call a session: its id, "current", "last",
// or the day it began (2026-03-01).
func Find(ctx context.Context, store memory.Store, who mcp.Caller, name string) (memory.Session, error) {
	all, err := store.Sessions(ctx, who.Campaign, maxSessions)
	if err != nil {
		return memory.Session{}, unreachable(err)
	}
	for _, s := range all { // newest first
		switch {
		case s.ID == name,
			name == "current" && s.ID == who.Session,
			name == "last" && s.ID != who.Session,
			dayOf(s.Started) == name:
			return s, nil
		}
	}
	switch name {
	case "last":
		return memory.Session{}, ErrNoEarlier
	case "current":
		return memory.Session{}, errNoneRuns
	}
	return memory.Session{}, ErrNoSession
}

// heard is a session as its viewer knows it: the lines that the viewer heard.
func heard(ctx context.Context, store memory.Store, who mcp.Caller, name string) (memory.Session, []memory.Line, error) {
	s, err := Find(ctx, store, who, name)
	if err != nil {
		return s, nil, err
	}
	lines, err := memory.Transcript(ctx, store, viewer(who), s.ID)
	if err != nil {
		return s, nil, unreachable(err)
	}
	return s, lines, nil
}

// Summarize tells what a session was about: when, who spoke, where, and the lines
// that mattered most. It answers the tool get_summary.
func Summarize(ctx context.Context, store memory.Store, who mcp.Caller, name string) (string, error) {
	s, lines, err := heard(ctx, store, who, name)
	if err != nil {
		return "", err
	}
	type speaker struct {
		Name  string `json:"name"`
		Lines int    `json:"lines"`
	}
	out := struct {
		Session  string    `json:"session"`
		Title    string    `json:"title,omitempty"`
		Date     string    `json:"date"`
		Running  bool      `json:"running,omitempty"`
		Minutes  int       `json:"minutes"`
		Speakers []speaker `json:"speakers"`
		Scenes   []string  `json:"scenes,omitempty"`
		Lines    []said    `json:"lines"`
	}{
		Session: s.ID, Title: s.Title, Date: dayOf(s.Started), Running: s.ID == who.Session,
		Speakers: []speaker{}, Lines: tell(memory.Retell(lines, memory.Short)),
	}
	if n := len(lines); n > 0 {
		out.Minutes = int(lines[n-1].At.Sub(lines[0].At).Round(time.Minute).Minutes())
	}
	at, seen := map[string]int{}, map[string]bool{}
	for _, l := range lines {
		i, known := at[l.Speaker.Name]
		switch {
		case known:
			out.Speakers[i].Lines++
		case len(out.Speakers) < maxNames:
			at[l.Speaker.Name] = len(out.Speakers)
			out.Speakers = append(out.Speakers, speaker{l.Speaker.Name, 1})
		}
		if l.Scene != "" && !seen[l.Scene] && len(out.Scenes) < maxNames {
			seen[l.Scene] = true
			out.Scenes = append(out.Scenes, l.Scene)
		}
	}
	return encode(out)
}

// dayOf is the day on the table's clock, which is this machine's.
func dayOf(t time.Time) string { return t.Local().Format(time.DateOnly) }

// viewer is whose memory a caller may read.
func viewer(who mcp.Caller) memory.Viewer {
	return memory.Viewer{Campaign: who.Campaign, Entity: who.NPC}
}

// said is a line as it is told.
type said struct {
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
	At      string `json:"at"`
	// Told names who passed it on when the viewer was not there.
	Told string `json:"told_by,omitempty"`
	id   string
}

func tell(lines []memory.Line) []said {
	out := []said{}
	for _, l := range lines {
		out = append(out, one(l))
	}
	return out
}

func one(l memory.Line) said {
	return said{Speaker: l.Speaker.Name, Text: shorten(l.Text), At: l.At.Local().Format("15:04"), id: l.ID}
}

func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// unreachable says that memory did not answer, without the store's inner life.
func unreachable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("memory did not answer in time: %w", err)
	}
	return fmt.Errorf("memory is out of reach at the moment: %w", err)
}

// shorten cuts a text to what is shown of it, at a whole character.
func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " …"
}
