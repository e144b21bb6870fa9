package llm

import "strings"

// Local models print what they think between these. It must never be spoken.
const (
	thinkBegin = "<think>"
	thinkEnd   = "</think>"
)

// thoughts takes a model's text in pieces and gives back what may be spoken. What
// could be the beginning of a mark is held back until more has come.
type thoughts struct {
	held   string
	inside bool
	spoken bool
}

// take returns the part of piece that is speech, as far as that is known.
func (t *thoughts) take(piece string) string {
	text := t.held + piece
	t.held = ""
	var out strings.Builder
	for text != "" {
		mark := thinkBegin
		if t.inside {
			mark = thinkEnd
		}
		before, after, found := strings.Cut(text, mark)
		if !found {
			keep := partial(text, mark)
			// A template may have opened the thought before the model's first
			// word, so that only its end is seen.
			if !t.inside {
				keep = max(keep, partial(text, thinkEnd))
			}
			before, t.held = text[:len(text)-keep], text[len(text)-keep:]
		}
		if !t.inside {
			out.WriteString(strings.ReplaceAll(before, thinkEnd, ""))
		}
		if !found {
			break
		}
		t.inside = !t.inside
		text = after
	}
	return t.trim(out.String())
}

// end returns what was held back: half a mark is no mark.
func (t *thoughts) end() string {
	held := t.held
	t.held = ""
	if t.inside {
		return ""
	}
	return t.trim(held)
}

// trim drops the empty lines between a thought and the first word.
func (t *thoughts) trim(text string) string {
	if !t.spoken {
		text = strings.TrimLeft(text, " \n\r\t")
		t.spoken = text != ""
	}
	return text
}

// partial is how many bytes at the end of text may begin mark.
func partial(text, mark string) int {
	for n := min(len(text), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(text, mark[:n]) {
			return n
		}
	}
	return 0
}
