// Package music lets NPCs start and stop the table's music: a bard who is asked
// for a song, a storyteller who wants it dark.
//
// It chooses nothing and decodes nothing: who plays is the caller's, and what
// there is to play lies in the campaign's folder.
package music

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// maxMood is longer than any mood that a piece could be found by.
const maxMood = 100

// A Player plays the table's music.
type Player interface {
	// PlayMusic fades to the piece that fits a mood best and says which it is. Its
	// error says what there is instead. by is the NPC who asked, or "".
	PlayMusic(ctx context.Context, by, mood string) (piece string, err error)
	// StopMusic fades out what plays, if anything does, and says which piece that
	// was.
	StopMusic(ctx context.Context, by string) (piece string, err error)
}

// Tools are play_track and stop_music.
func Tools(p Player) []mcp.Builtin {
	// Opening a file takes milliseconds; what is declared leaves room for a slow
	// disk. Playing what plays already changes nothing.
	declare := func(name, title, description, schema string) mcp.Tool {
		return mcp.Tool{
			Name: name, Title: title, Description: description, Schema: json.RawMessage(schema), Category: mcp.Core,
			Estimated: 50 * time.Millisecond, Max: 400 * time.Millisecond, Idempotent: true,
		}
	}
	return []mcp.Builtin{{
		Tool: declare("play_track", "Play music", "Play background music for a mood, looped, until it is stopped: tavern, calm, dark, battle or whatever the campaign has.",
			fmt.Sprintf(`{"type":"object","properties":{"mood":{"type":"string","minLength":1,"maxLength":%d,"description":"the mood, in a few words"}},"required":["mood"],"additionalProperties":false}`, maxMood)),
		Call: func(ctx context.Context, who mcp.Caller, args json.RawMessage) (string, error) {
			var in struct {
				Mood string `json:"mood"`
			}
			if err := json.Unmarshal(args, &in); err != nil {
				return "", fmt.Errorf("play_track: arguments: %w", err)
			}
			in.Mood = strings.Join(strings.Fields(in.Mood), " ")
			switch {
			case in.Mood == "":
				return "", errors.New("play_track: the mood is empty: say what the music should be like")
			case len(in.Mood) > maxMood:
				return "", fmt.Errorf("play_track: the mood has %d bytes; %d are allowed", len(in.Mood), maxMood)
			}
			piece, err := p.PlayMusic(ctx, who.NPC, in.Mood)
			if err != nil {
				return "", fmt.Errorf("play_track: %w", err)
			}
			return encode(map[string]string{"playing": piece, "mood": in.Mood})
		},
	}, {
		Tool: declare("stop_music", "Stop the music", "Let the background music fade out.", `{"type":"object","properties":{},"additionalProperties":false}`),
		Call: func(ctx context.Context, who mcp.Caller, _ json.RawMessage) (string, error) {
			piece, err := p.StopMusic(ctx, who.NPC)
			if err != nil {
				return "", fmt.Errorf("stop_music: %w", err)
			}
			if piece == "" {
				return encode(map[string]string{"stopped": "nothing", "note": "no music was playing"})
			}
			return encode(map[string]string{"stopped": piece})
		},
	}}
}

func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
