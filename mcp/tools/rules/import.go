package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of an import. They fit every public data set with room to spare.
const (
	maxFiles      = 5000
	maxFileBytes  = 32 << 20
	maxTotalBytes = 128 << 20
	maxImported   = 20_000
	maxText       = 12_000 // characters of one entry; longer ones are cut
	maxName       = 120
)

// A Format is a kind of rules data that [Import] reads.
type Format string

// The formats: 5e-bits/5e-database and Open5e as JSON files, journals exported
// from Foundry, and folders of Markdown.
const (
	Format5eBits   Format = "5e-bits"
	FormatOpen5e   Format = "open5e"
	FormatFoundry  Format = "foundry-journal"
	FormatMarkdown Format = "markdown"
)

// readers turn one file into entries.
var readers = map[Format]func(*importing, string, []byte) error{
	Format5eBits: (*importing).bits, FormatOpen5e: (*importing).open5e,
	FormatFoundry: (*importing).foundry, FormatMarkdown: (*importing).markdown,
}

// extensions are the files that a format consists of.
var extensions = map[Format]string{
	Format5eBits: ".json", FormatOpen5e: ".json", FormatFoundry: ".json", FormatMarkdown: ".md",
}

// Formats lists the names of the formats.
func Formats() []string {
	var names []string
	for f := range readers {
		names = append(names, string(f))
	}
	slices.Sort(names)
	return names
}

// ImportOptions say what a data set does not.
type ImportOptions struct {
	Format Format
	// System is the game's id, for example pf2e or homebrew:mine. Data that
	// names its own game keeps it; otherwise empty means dnd5e for 5e-bits and
	// Open5e, and homebrew for the others.
	System string
	// License and Source are shown with every entry that does not bring its
	// own.
	License, Source string
}

// systemID is what a game may be called.
var systemID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*(:[a-z0-9-]+)?$`)

// Import reads all files of a format below dir. What cannot be read is in
// skipped, with the reason; the error is about the import as a whole.
func Import(ctx context.Context, dir string, opts ImportOptions) (entries []*Entry, skipped []error, err error) {
	read := readers[opts.Format]
	if read == nil {
		return nil, nil, fmt.Errorf("format %q: want one of %s", opts.Format, strings.Join(Formats(), ", "))
	}
	if opts.System != "" && (!systemID.MatchString(opts.System) || len(opts.System) > 64) {
		return nil, nil, fmt.Errorf("system %q: want an id such as pf2e or homebrew:mine", opts.System)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("rules to import: %w", err)
	}
	defer root.Close()
	in := &importing{opts: opts, seen: make(map[string]bool), documents: make(map[string]document)}
	files, err := in.find(ctx, root.FS())
	if err != nil {
		return nil, nil, err
	}
	total := int64(0)
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return nil, nil, context.Cause(ctx)
		}
		b, err := readCapped(root, name)
		if total += int64(len(b)); total > maxTotalBytes {
			return nil, nil, fmt.Errorf("rules to import: more than %d bytes; import a part at a time", maxTotalBytes)
		}
		if err == nil {
			err = read(in, name, b)
		}
		if errors.Is(err, errTooMany) {
			return nil, nil, err
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("%s: %w", name, err))
		}
	}
	if len(in.entries) == 0 {
		return nil, skipped, fmt.Errorf("rules to import: no %s rules in %d files of %s", opts.Format, len(files), dir)
	}
	return in.entries, skipped, nil
}

// find lists the files of the format, those first that describe others.
func (in *importing) find(ctx context.Context, fsys fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != ".":
			return fs.SkipDir
		case !d.Type().IsRegular() || path.Ext(name) != extensions[in.opts.Format]:
			return nil
		}
		if files = append(files, name); len(files) > maxFiles {
			return fmt.Errorf("rules to import: more than %d files", maxFiles)
		}
		return nil
	})
	slices.SortStableFunc(files, func(a, b string) int {
		return cmp.Compare(documentLast(a), documentLast(b))
	})
	return files, err
}

func documentLast(name string) int {
	if path.Base(name) == "Document.json" {
		return 0
	}
	return 1
}

func readCapped(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(b) > maxFileBytes {
		return nil, fmt.Errorf("larger than %d bytes", maxFileBytes)
	}
	return b, err
}

// importing is one import on its way.
type importing struct {
	opts      ImportOptions
	entries   []*Entry
	seen      map[string]bool
	documents map[string]document // of Open5e, by id
}

// errTooMany ends an import.
var errTooMany = fmt.Errorf("rules to import: more than %d entries; import a part at a time", maxImported)

// add completes an entry and keeps it.
func (in *importing) add(e *Entry) error {
	e.Name = strings.TrimSpace(strings.Join(strings.Fields(e.Name), " "))
	e.Text = strings.TrimSpace(clean(e.Text))
	if e.Name == "" || e.Text == "" {
		return nil // a heading without text
	}
	if len(in.entries) == maxImported {
		return errTooMany
	}
	e.Name, e.Text = cut(e.Name, maxName), cut(e.Text, maxText)
	e.System = cmp.Or(e.System, in.opts.System, in.defaultSystem())
	e.Source = cmp.Or(in.opts.Source, e.Source)
	e.License = cmp.Or(in.opts.License, e.License, "unknown: ask the publisher before sharing")
	e.Say = firstSentence(e.Text)
	if len(e.SRD) == 0 {
		e.SRD = []string{e.Name}
	}
	base := e.System
	if e.Edition != "" {
		base += "-" + string(e.Edition)
	}
	base += "/" + e.Kind + "/" + cmp.Or(slugOf(e.Name), "rule")
	e.ID = base
	for n := 2; in.seen[e.ID]; n++ {
		e.ID = fmt.Sprintf("%s-%d", base, n)
	}
	in.seen[e.ID] = true
	in.entries = append(in.entries, e)
	return nil
}

func (in *importing) defaultSystem() string {
	if in.opts.Format == Format5eBits || in.opts.Format == FormatOpen5e {
		return system
	}
	return "homebrew"
}

// cut shortens s to n characters.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// clean drops control characters, which no rule needs.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
}

// sentence is a first sentence; marks are what Markdown puts into one.
var (
	sentence = regexp.MustCompile(`^.*?[.!?](?:\s|$)`)
	marks    = regexp.MustCompile("[*_`#|>]+|^- ")
)

// firstSentence is what an imported rule says aloud: at most 25 words.
func firstSentence(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(marks.ReplaceAllString(strings.TrimSpace(line), " "))
		if line == "" {
			continue
		}
		if m := sentence.FindString(line); m != "" {
			line = strings.TrimSpace(m)
		}
		words := strings.Fields(line)
		if len(words) > 25 {
			words = append(words[:24], words[24]+"…")
		}
		return strings.Join(words, " ")
	}
	return ""
}

// sections splits Markdown at its headings and adds each as a rule; title
// names what stands before the first.
func (in *importing) sections(title, text string, like Entry) error {
	name, body := title, strings.Builder{}
	flush := func() error {
		e := like
		e.Name, e.Text = name, body.String()
		body.Reset()
		return in.add(&e)
	}
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		heading := strings.TrimLeft(line, "#")
		if level := len(line) - len(heading); !fenced && level > 0 && level <= 6 && strings.HasPrefix(heading, " ") {
			if err := flush(); err != nil {
				return err
			}
			name = strings.Trim(strings.TrimSpace(heading), "#* ")
			continue
		}
		body.WriteString(line)
	}
	return flush()
}
