package music

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// jukebox is a player with one piece.
type jukebox struct{ playing, by string }

func (j *jukebox) PlayMusic(_ context.Context, by, mood string) (string, error) {
	if mood != "a calm evening" {
		return "", errors.New("there is no such music; there is hearth")
	}
	j.playing, j.by = "hearth", by
	return j.playing, nil
}

func (j *jukebox) StopMusic(_ context.Context, by string) (was string, err error) {
	was, j.playing, j.by = j.playing, "", by
	return was, nil
}

func TestMusicStartsAndStopsForWhoAsked(t *testing.T) {
	var j jukebox
	tools := Tools(&j)
	who := mcp.Caller{NPC: "bard"}
	for i, c := range []struct {
		tool      int
		args      string
		want, now string
	}{
		{0, `{"mood":" a calm  evening "}`, `{"mood":"a calm evening","playing":"hearth"}`, "hearth"},
		{0, `{"mood":"polka"}`, "there is hearth", "hearth"},
		{0, `{"mood":"  "}`, "empty", "hearth"},
		{0, `{"mood":"` + strings.Repeat("very ", 30) + `"}`, "allowed", "hearth"},
		{0, `{"mood":3}`, "arguments", "hearth"},
		{1, `{}`, `{"stopped":"hearth"}`, ""},
		{1, `{}`, "no music was playing", ""},
	} {
		out, err := tools[c.tool].Call(t.Context(), who, json.RawMessage(c.args))
		if err != nil {
			out = err.Error()
		}
		if !strings.Contains(out, c.want) || j.playing != c.now || j.by != "bard" {
			t.Errorf("%d: %s(%s): got %s with %+v, want %q and %q playing", i, tools[c.tool].Name, c.args, out, j, c.want, c.now)
		}
	}
}

func TestHostRefusesWhatTheSchemaDoes(t *testing.T) {
	host, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	}()
	var j jukebox
	if err := host.Add(Tools(&j)...); err != nil {
		t.Fatal(err)
	}
	belt := host.Belt(mcp.Grant{Allow: []string{"play_track", "stop_music"}, Tier: mcp.Fast})
	if len(belt.Tools()) != 2 {
		t.Errorf("the fast tier has %d of the tools, want both", len(belt.Tools()))
	}
	for tool, args := range map[string]string{"play_track": `{"mood":"calm","volume":11}`, "stop_music": `{"now":true}`} {
		if r := belt.Call(t.Context(), tool, json.RawMessage(args)); r.Err == nil {
			t.Errorf("%s took %s", tool, args)
		}
	}
}
