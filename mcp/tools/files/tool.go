package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// page is how much of a file is returned at once, in bytes: what a model is shown
// of a result (8 KiB) with room for escapes.
const page = 6000

// Tools are read_file and write_file on a sandbox.
func Tools(s *Sandbox) []mcp.Builtin {
	return []mcp.Builtin{{
		Tool: mcp.Tool{
			Name: "read_file", Title: "Read a note",
			Description: "Read a text file of your own notes, such as notes/guests.md. The path \".\" or a folder's lists what is there.",
			Schema: fmt.Appendf(nil, `{"type":"object","properties":{`+
				`"path":{"type":"string","minLength":1,"maxLength":%d,"description":"the file, such as notes/guests.md, or a folder"},`+
				`"offset":{"type":"integer","minimum":0,"maximum":%d,"description":"from which byte on; next_offset of the last answer"}},`+
				`"required":["path"],"additionalProperties":false}`, MaxPath, MaxFile),
			Category: mcp.System, Estimated: 20 * time.Millisecond, Max: 250 * time.Millisecond,
			ReadOnly: true, Idempotent: true,
		},
		Call: s.readFile,
	}, {
		Tool: mcp.Tool{
			Name: "write_file", Title: "Write a note",
			Description: "Write a text file of your own notes, such as notes/guests.md, whole; or add to its end with append.",
			Schema: fmt.Appendf(nil, `{"type":"object","properties":{`+
				`"path":{"type":"string","minLength":1,"maxLength":%d,"description":"the file, such as notes/guests.md"},`+
				`"content":{"type":"string","maxLength":%d,"description":"the text"},`+
				`"append":{"type":"boolean","description":"add to the end instead of replacing"}},`+
				`"required":["path","content"],"additionalProperties":false}`, MaxPath, MaxFile),
			Category: mcp.System, Estimated: 50 * time.Millisecond, Max: 400 * time.Millisecond,
			Destructive: true, Writes: true,
		},
		Call: s.writeFile,
	}}
}

func (s *Sandbox) readFile(_ context.Context, _ mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		Path   string `json:"path"`
		Offset int    `json:"offset"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("read_file: arguments: %w", err)
	}
	in.Path = strings.TrimSuffix(in.Path, "/")
	if in.Path == "." {
		return s.listing(in.Path)
	}
	if err := checkPath(in.Path); err != nil {
		return "", fmt.Errorf("read_file: %w", err)
	}
	text, err := s.read(in.Path)
	if errors.Is(err, ErrNotPlain) {
		if listed, failed := s.listing(in.Path); failed == nil {
			return listed, nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("read_file: %w", err)
	}
	if in.Offset < 0 || in.Offset > len(text) {
		return "", fmt.Errorf("read_file: offset %d: the file has %d bytes", in.Offset, len(text))
	}
	out := struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		Bytes   int    `json:"bytes"`
		// Next is where to read on; left out at the end.
		Next int `json:"next_offset,omitempty"`
	}{Path: in.Path, Content: piece(text[in.Offset:]), Bytes: len(text)}
	if end := in.Offset + len(out.Content); end < len(text) {
		out.Next = end
	}
	out.Content = strings.ToValidUTF8(out.Content, "") // an offset may stand inside a character
	return encode(out)
}

// piece is as much of a text as is returned at once, whole characters only.
func piece(s string) string {
	if len(s) <= page {
		return s
	}
	n := page
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func (s *Sandbox) listing(folder string) (string, error) {
	list, more, err := s.list(folder)
	if err != nil {
		return "", fmt.Errorf("read_file: %w", err)
	}
	return encode(struct {
		Files []entry `json:"files"`
		More  bool    `json:"more,omitempty"`
	}{list, more})
}

func (s *Sandbox) writeFile(_ context.Context, _ mcp.Caller, args json.RawMessage) (string, error) {
	var in struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		Append  bool   `json:"append"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("write_file: arguments: %w", err)
	}
	if err := checkPath(in.Path); err != nil {
		return "", fmt.Errorf("write_file: %w", err)
	}
	if !utf8.ValidString(in.Content) || strings.ContainsRune(in.Content, 0) {
		return "", fmt.Errorf("write_file: %w", ErrNoText)
	}
	n, err := s.write(in.Path, in.Content, in.Append)
	if err != nil {
		return "", fmt.Errorf("write_file: %w", err)
	}
	return encode(struct {
		Path  string `json:"path"`
		Bytes int    `json:"bytes"`
	}{in.Path, n})
}

func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
