package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

const (
	// maxTranscriptLine is above the longest line memory keeps, in JSON.
	maxTranscriptLine = 8 * memory.MaxText
	// importBatch is how many lines share a transaction.
	importBatch = 1000
	// idMark stands between a session and a line's own id: transcripts number
	// their lines anew in every session, memory wants one id a campaign.
	idMark = "#"
)

// A transcriptLine is one line of a transcript. Other fields are ignored.
type transcriptLine struct {
	Session  text     `json:"session"`
	ID       text     `json:"id"`
	At       any      `json:"at"`
	Speaker  text     `json:"speaker"`
	Text     string   `json:"text"`
	Scene    text     `json:"scene"`
	Kind     string   `json:"kind"`
	Audience []string `json:"audience"`
}

// text is a string that some programs write as a number.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	if string(b) != "null" {
		*t = text(b)
	}
	return nil
}

func importTranscript(ctx context.Context, m *memoryDesk, args []string) error {
	everyone := m.flags.Bool("heard-by-everyone", false, "let every NPC know the lines; without it, only the game master does")
	words, err := m.parse(args, 1, 1)
	if err != nil {
		return err
	}
	in := m.io.in
	if words[0] != "-" {
		f, err := os.Open(words[0])
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	t := transcript{desk: m, clock: map[string]time.Time{}}
	if *everyone {
		t.audience = memory.Audience{memory.Everyone}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxTranscriptLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := t.add(ctx, n, lines.Bytes()); err != nil {
			return fmt.Errorf("%s:%d: %w", words[0], n, err)
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line is longer than %d bytes", maxTranscriptLine)
		}
		return fmt.Errorf("%s: %w", words[0], err)
	}
	if err := t.flush(ctx); err != nil {
		return err
	}
	if m.json {
		return m.write(map[string]any{"campaign": m.campaign, "lines": t.total, "sessions": len(t.clock), "undated": t.undated})
	}
	fmt.Fprintf(m.io.out, "%d lines in %d sessions of campaign %s\n", t.total, len(t.clock), m.campaign)
	if t.undated > 0 {
		fmt.Fprintf(m.io.out, "%d of them had no time that could be read; they follow the line before\n", t.undated)
	}
	return nil
}

// A transcript is being imported.
type transcript struct {
	desk     *memoryDesk
	audience memory.Audience
	waiting  []memory.Line
	clock    map[string]time.Time // the time of the last line of each session
	total    int
	undated  int
}

func (t *transcript) add(ctx context.Context, n int, b []byte) error {
	var in transcriptLine
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("want a JSON object with session, id, at, speaker and text: %w", err)
	}
	if in.Text == "" {
		return nil // a pause, or a picture without words
	}
	if in.Session == "" {
		in.Session = "imported"
	}
	if in.ID == "" {
		in.ID = text(fmt.Sprintf("line-%d", n))
	}
	at, ok := readTime(in.At)
	if !ok {
		t.undated++
		at = t.clock[string(in.Session)].Add(time.Second)
		if at.Year() < 1970 {
			at = time.Unix(1, 0).UTC()
		}
	}
	t.clock[string(in.Session)] = at
	audience := t.audience
	if in.Audience != nil {
		audience = in.Audience
	}
	kind := memory.PlayerSpeaker
	switch k := memory.SpeakerKind(in.Kind); k {
	case memory.NPCSpeaker, memory.DMSpeaker:
		kind = k
	}
	t.waiting = append(t.waiting, memory.Line{
		ID: string(in.Session) + idMark + string(in.ID), Campaign: t.desk.campaign, Session: string(in.Session), Scene: string(in.Scene),
		Speaker: memory.Speaker{ID: slug(string(in.Speaker)), Name: string(in.Speaker), Kind: kind},
		At:      at, Text: in.Text, Audience: audience,
	})
	t.total++
	if len(t.waiting) == importBatch {
		return t.flush(ctx)
	}
	return nil
}

func (t *transcript) flush(ctx context.Context) error {
	err := t.desk.store.Append(ctx, t.waiting...)
	t.waiting = t.waiting[:0]
	return err
}

// ownID is the id that a line had in the transcript it came from.
func ownID(l memory.Line) string {
	return strings.TrimPrefix(l.ID, l.Session+idMark)
}

// slug makes an id of a name.
func slug(name string) string {
	return strings.ReplaceAll(memory.FoldName(name), " ", "-")
}

// timeLayouts are how transcripts write when something was said.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", time.DateOnly,
	"3:04 pm on 2 January, 2006", "3:04 PM on 2 January, 2006", "2 January 2006", "January 2, 2006", time.RFC1123Z, time.RFC1123,
	"2006/01/02 (Mon) 15:04", "2006/01/02 15:04",
}

// readTime reads a moment as text, or as seconds or milliseconds since 1970.
func readTime(at any) (time.Time, bool) {
	switch at := at.(type) {
	case float64:
		switch {
		case at <= 0 || at > 1e14:
			return time.Time{}, false
		case at > 1e11: // seconds would be in the year 5138
			return time.UnixMilli(int64(at)).UTC(), true
		}
		return time.UnixMicro(int64(at * 1e6)).UTC(), true
	case string:
		for _, layout := range timeLayouts {
			if t, err := time.Parse(layout, strings.TrimSpace(at)); err == nil && t.Year() > 0 {
				return t.UTC(), true
			}
		}
	}
	return time.Time{}, false
}
