package improviser

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/glyphoxa/glyphoxa/engine"
)

// An errand is something that a line asks for and only a tool can do.
type errand struct {
	want intent
	tool string
	// wish is what the rest of the line means to the tool.
	wish string
}

// errands in the order in which they are looked for: the more particular first.
var errands = []errand{
	{"stopping music", "stop_music", ""},
	{"music", "play_track", "track"},
	{"picture", "generate_image", "prompt"},
	{"page", "fetch_page", "url"},
	{"web", "search", "query"},
	{"noting", "write_file", "content"},
	{"reading notes", "read_file", "path"},
	{"history", "search_history", "query"},
}

// notebook is the file that an NPC writes to if nobody names another.
const notebook = "notes.md"

// run looks for an errand in the line. It is none without the tool for it, so that
// "play us a song" stays talk for an NPC that has no music.
func (t *turn) run(u understanding) []engine.Call {
	for _, e := range errands {
		phrases := t.tongue.wants[e.want]
		if t.offered(e.tool) < 0 || !has(u.plain, phrases) {
			continue
		}
		w := wishes{}
		rest, _ := after(u.plain, phrases)
		if e.wish != "" && rest == "" {
			rest = t.asked(u)
		}
		switch e.wish {
		case "": // nothing more to say
		case "url":
			i := strings.Index(t.heard, "http")
			if i < 0 {
				continue
			}
			rest, _, _ = strings.Cut(t.heard[i:], " ")
			w["url"] = strings.TrimRight(rest, ".,!?\"")
		case "path":
			w["path"] = file(t.heard)
		case "content":
			w["content"], w["path"] = sentenceCase(rest), file(t.heard)
		default:
			w[e.wish] = rest
		}
		if calls := t.call(e.tool, w); calls != nil {
			return t.adding(calls)
		}
	}
	return nil
}

// adding has a note put behind those before it, where the tool can: whoever keeps
// no model's memory would write over everything else.
func (t *turn) adding(calls []engine.Call) []engine.Call {
	var p parameters
	i := t.offered("write_file")
	if calls[0].Name != "write_file" || json.Unmarshal(t.request.Tools[i].Schema, &p) != nil || p.Properties["append"].Type != "boolean" {
		return calls
	}
	var args map[string]any
	if json.Unmarshal(calls[0].Args, &args) != nil {
		return calls
	}
	args["append"] = true
	args["content"] = fmt.Sprint(args["content"], "\n")
	if b, err := json.Marshal(args); err == nil {
		calls[0].Args = b
	}
	return calls
}

// file is the name of a file in a line, or the NPC's notebook.
func file(line string) string {
	for w := range strings.FieldsSeq(line) {
		w = strings.Trim(w, `"'.,!?`)
		if i := strings.LastIndexByte(w, '.'); i > 0 && i < len(w)-1 && len(w)-i <= 6 && !strings.Contains(w, "://") {
			return w
		}
	}
	return notebook
}

// done says that an errand is done, with what the tool said if that can be spoken.
func (t *turn) done(tool string, v any, raw string) string {
	switch tool {
	case "generate_image":
		return t.line("picture", nil)
	case "play_track":
		return t.line("music", nil)
	case "stop_music":
		return t.line("music_off", nil)
	case "write_file":
		return t.line("noted", nil)
	}
	return t.anything(v, raw)
}
