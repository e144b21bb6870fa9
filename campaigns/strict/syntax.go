package strict

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// badCharacter finds what YAML forbids anywhere in a file. The parser would
// refuse it too, but without saying where.
func badCharacter(data []byte) (line, column int, what string) {
	line, column = 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			return line, column, "this is not UTF-8 text: save the file as UTF-8"
		case r == '\n':
			line, column = line+1, 0
		case r < ' ' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			return line, column, "there is an invisible control character here: delete it"
		}
		if r == '\ufeff' && i == 0 {
			column-- // a byte order mark is not seen
		}
		i += size
		column++
	}
	return 0, 0, ""
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// plainWords translates what the parser says into what a person can act on. The
// first that is contained in the parser's message is taken.
var plainWords = []struct{ parser, plain string }{
	{"mapping values are not allowed in this context", "a colon followed by a space is not allowed inside this value: put the value in quotes, or check the indentation"},
	{"could not find expected ':'", "a key without a colon: write `key: value`, or put a text of several lines in quotes"},
	{"found character that cannot start any token", "this character cannot start a value: tabs must be spaces, and text that begins with @, ` or % must be in quotes"},
	{"found a tab character that violates indentation", "a tab in the indentation: use spaces"},
	{"did not find expected key", "the indentation does not fit, or a quoted text goes on after its closing quote"},
	{"did not find expected '-' indicator", "the indentation of this list does not fit its other entries"},
	{"did not find expected ',' or ']'", "the list that was opened with [ is not closed, or a comma is missing"},
	{"did not find expected ',' or '}'", "the mapping that was opened with { is not closed, or a comma is missing"},
	{"found unexpected end of stream", "the quoted text that begins here is never closed"},
	{"found unknown escape character", `an unknown escape: in double quotes a backslash is written \\; single quotes take it as it is`},
	{"unknown anchor", "an alias (*name) without an anchor (&name) before it: text that begins with * must be in quotes"},
	{"did not find expected alphabetic or numeric character", "text that begins with * or & must be in quotes"},
	{"block sequence entries are not allowed in this context", "a list entry (- ...) cannot begin here: put it on a line of its own"},
	{"anchor '", "an anchor must not contain itself"},
	{"exceeded max depth", "this is nested more deeply than can be read: is a bracket repeated by mistake?"},
	{"did not find expected node content", "a value is missing here, or text that begins with a special character must be in quotes"},
}

// explain turns a parser's error into a position and plain words. The parser
// tells a line, often the wrong one, and no column; but it reads from left to
// right, so the mistake stands where the shortest beginning of the file that
// already has the same error ends.
func explain(data []byte, err error) (line, column int, text string) {
	told, message := toldLine(err)
	text = message
	for _, w := range plainWords {
		if strings.Contains(message, w.parser) {
			text = w.plain
			break
		}
	}
	if strings.Contains(message, "found unexpected end of stream") {
		line, column = openQuote(data, told)
		return line, column, text
	}
	from, ok := entry(data, told, message)
	if !ok {
		return told, 1, text
	}
	lines := bytes.SplitAfter(data[from:], []byte("\n"))
	ends := make([]int, 0, len(lines)) // where each line ends
	for end, i := from, 0; i < len(lines); i++ {
		end += len(lines[i])
		ends = append(ends, end)
	}
	i := sort.Search(len(ends)-1, func(i int) bool { return fails(data[from:ends[i]], message) })
	start := ends[i] - len(lines[i])
	n := sort.Search(len(lines[i]), func(n int) bool { return fails(data[from:start+n], message) })
	before := data[:start+n]
	switch {
	case strings.Contains(message, "or ']'"):
		before = toOpening(before, '[', ']')
	case strings.Contains(message, "or '}'"):
		before = toOpening(before, '{', '}')
	case strings.Contains(message, "unknown anchor"):
		before = before[:bytes.LastIndexByte(before, '*')+1]
	}
	line, column = end(before)
	return line, column, text
}

// maxSearched bounds what is parsed again and again to find a mistake. It is the
// size of a large campaign.yaml; in what is larger, the parser's line has to do.
const maxSearched = 64 << 10

// entry is where the part of a file begins that has to be looked at: the entry
// at the left margin around the told line if that has the mistake by itself,
// else the whole file. ok is false if that is too much.
func entry(data []byte, told int, message string) (from int, ok bool) {
	var margins []int // where entries begin, up to the line behind the told one
	for at, line := 0, 1; at < len(data) && line <= told+1; line++ {
		if c := data[at]; c != ' ' && c != '\n' && c != '#' && c != '\r' {
			margins = append(margins, at)
		}
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	for range min(3, len(margins)) {
		from = margins[len(margins)-1]
		margins = margins[:len(margins)-1]
		part := data[from:min(len(data), from+maxSearched)]
		if fails(part, message) {
			return from, true
		}
	}
	return 0, len(data) <= maxSearched
}

// toOpening cuts data after the last bracket that is not closed again. Brackets
// in quotes are counted too: this only has to be near.
func toOpening(data []byte, opening, closing byte) []byte {
	closed := 0
	for i := len(data) - 1; i >= 0; i-- {
		switch data[i] {
		case closing:
			closed++
		case opening:
			if closed == 0 {
				return data[:i+1]
			}
			closed--
		}
	}
	return data
}

// end is the position of the last character of data.
func end(data []byte) (line, column int) {
	data = bytes.TrimSuffix(data, []byte("\n"))
	start := bytes.LastIndexByte(data, '\n') + 1
	return bytes.Count(data, []byte("\n")) + 1, max(1, utf8.RuneCount(data[start:]))
}

// toldLine splits the parser's own line from its message.
func toldLine(err error) (line int, message string) {
	m := yamlLine.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	line, _ = strconv.Atoi(m[1]) // no number leaves 0
	return max(line, 1), m[2]
}

// fails reports whether parsing data ends with the given message.
func fails(data []byte, message string) bool {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		if err := dec.Decode(&n); err != nil {
			_, m := toldLine(err)
			return !isEOF(err) && m == message
		}
	}
}

// openQuote is the last quote on the told line, or on the last line before it
// that has one.
func openQuote(data []byte, told int) (line, column int) {
	lines := strings.Split(string(data), "\n")
	for i := min(told, len(lines)) - 1; i >= 0; i-- {
		if at := strings.IndexAny(lines[i], `"'`); at >= 0 {
			return i + 1, utf8.RuneCountInString(lines[i][:at]) + 1
		}
	}
	return told, 1
}
