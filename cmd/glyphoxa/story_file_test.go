package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what the stories expect")

// A story is an evening as a file: what is said and done at the table, what the
// room hears, what the game master is told, and what memory keeps of it.
//
//	Bartok is asked for a room.
//
//	campaign: gilded-flagon
//
//	-- table --
//	00:00 Mira: Bartok, have you got a room?
//	00:09 * mute bartok
//	-- heard --
//	...
//	-- told --
//	...
//	-- memory --
//	...
//
// A line with a star is something that the game master does. A section "model"
// holds what a scripted model answers instead of the improviser: a part of what it
// is asked, and its words.
type story struct {
	path, intro  string
	head         map[string]string
	moves, model []string
	want         map[string]string // heard, told and memory
}

func readStory(t *testing.T, path string) *story {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{path: path, head: map[string]string{}, want: map[string]string{}}
	section := ""
	for line := range strings.Lines(string(data)) {
		text := strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(text, "-- "); ok && strings.HasSuffix(name, " --") {
			section = strings.TrimSuffix(name, " --")
			continue
		}
		switch section {
		case "":
			s.intro += line
			if k, v, ok := strings.Cut(text, ": "); ok && !strings.Contains(k, " ") {
				s.head[k] = strings.TrimSpace(v)
			}
		case "table":
			if text != "" {
				s.moves = append(s.moves, text)
			}
		case "model":
			if text != "" {
				s.model = append(s.model, text)
			}
		default:
			s.want[section] += line
		}
	}
	return s
}

// write puts what happened in the place of what was expected.
func (s *story) write(t *testing.T, got map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(s.intro)
	if len(s.model) > 0 {
		b.WriteString("-- model --\n" + strings.Join(s.model, "\n") + "\n")
	}
	b.WriteString("-- table --\n" + strings.Join(s.moves, "\n") + "\n")
	for _, section := range []string{"heard", "told", "memory"} {
		b.WriteString("-- " + section + " --\n" + got[section])
	}
	if err := os.WriteFile(s.path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
