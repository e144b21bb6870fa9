package campaigns

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/campaigns/strict"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// Limits on one folder, several times what the largest campaign needs.
const (
	maxFiles      = 500
	maxTotalBytes = 16 << 20
	maxNPCs       = 200
	maxEntities   = 5000
)

// Options say what the rest of the program knows, for checks that need it. A
// nil field switches its check off.
type Options struct {
	// Tools are the names of the built-in tools, each with the lowest tier at
	// which it can be called.
	Tools map[string]mcp.Tier
	// HelperTools are those of them that only helpers may use.
	HelperTools []string
	// Servers are the names of the configured external tool servers. Their
	// tools are called server__tool.
	Servers []string
	// Pieces are the names of the music that is part of the program.
	Pieces []string
	// Synthesizers are the names of the voice engines.
	Synthesizers []string
}

// Open loads the campaign in the directory dir. The returned campaign is nil if
// there are problems.
func Open(dir string, o Options) (*Campaign, strict.Problems) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, strict.Problems{{File: dir, Text: "cannot open the campaign folder: " + plain(err)}}
	}
	defer root.Close()
	return Load(root.FS(), o)
}

// Load loads the campaign whose folder is fsys. The returned campaign is nil if
// there are problems.
func Load(fsys fs.FS, o Options) (*Campaign, strict.Problems) {
	l := loader{fsys: fsys, options: o, hash: sha256.New()}
	l.read()
	c := l.build()
	if l.problems != nil {
		return nil, l.problems.Sorted()
	}
	return c, nil
}

// A loader is one reading of a folder.
type loader struct {
	fsys     fs.FS
	options  Options
	problems strict.Problems
	hash     hash.Hash
	files    int
	bytes    int64
	// partial means that a file could not be parsed. What points to something
	// unknown may then point to something in that file, and is not complained of.
	partial bool

	campaign source[campaignFile]
	npcs     []source[npcFile]
	entities []source[entityFile]
}

// A source is something that was read, with the place where it stands.
type source[T any] struct {
	place
	is T
}

// A place is somewhere in a file.
type place struct {
	doc  *strict.Document
	path []any
}

// at is a place further in.
func (p place) at(path ...any) place {
	return place{p.doc, append(slices.Clip(p.path), path...)}
}

func (l *loader) problem(p place, format string, args ...any) {
	l.problems = append(l.problems, p.doc.Problem(fmt.Sprintf(format, args...), p.path...))
}

// dangling complains about something that points to nothing.
func (l *loader) dangling(p place, format string, args ...any) {
	if !l.partial {
		l.problem(p, format, args...)
	}
}

// read parses and decodes every file of the folder.
func (l *loader) read() {
	l.names()
	l.campaign.doc = l.decode("campaign.yaml", &l.campaign.is)
	for i, n := range l.campaign.is.NPCs {
		l.npcs = append(l.npcs, source[npcFile]{l.campaign.at("npcs", i), n})
	}
	for i, e := range l.campaign.is.Entities {
		l.entities = append(l.entities, source[entityFile]{l.campaign.at("entities", i), e})
	}
	for _, name := range l.list("npcs") {
		var n npcFile
		if doc := l.decode(name, &n); doc != nil {
			n.ID = cmp.Or(n.ID, strings.TrimSuffix(path.Base(name), ".yaml"))
			l.npcs = append(l.npcs, source[npcFile]{place{doc: doc}, n})
		}
	}
	for _, name := range l.list("entities") {
		var f entitiesFile
		doc := l.decode(name, &f)
		for i, e := range f.Entities {
			l.entities = append(l.entities, source[entityFile]{place{doc, []any{"entities", i}}, e})
		}
	}
}

// names complains about files that look as if they were meant to be read.
func (l *loader) names() {
	entries, err := fs.ReadDir(l.fsys, ".")
	if err != nil {
		l.problems = append(l.problems, strict.Problem{File: ".", Text: "cannot list the campaign folder: " + plain(err)})
		return
	}
	known := []string{"campaign.yaml", "npcs", "entities"}
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(known, name) && (e.IsDir() || isYAML(name)) {
			if hint := strict.DidYouMean(strings.TrimSuffix(name, ".yml"), append(known, "campaign")); hint != "" {
				l.problems = append(l.problems, strict.Problem{File: name, Text: "this is not read" + strings.Replace(hint, `"campaign"`, `"campaign.yaml"`, 1)})
			}
		}
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "campaign.yml" }) {
		l.problems = append(l.problems, strict.Problem{File: "campaign.yml", Text: "this is not read: call it campaign.yaml"})
	}
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// list names the YAML files of a subfolder, sorted. A missing one is empty.
func (l *loader) list(dir string) []string {
	entries, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.problems = append(l.problems, strict.Problem{File: dir, Text: "cannot list the folder: " + plain(err)})
		}
		return nil
	}
	var names []string
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."): // editors keep their own files so
		case strings.HasSuffix(name, ".yml"):
			l.problems = append(l.problems, strict.Problem{File: name, Text: "this is not read: end its name with .yaml"})
		case strings.HasSuffix(name, ".yaml"):
			names = append(names, name)
		}
	}
	return names
}

// decode reads one file into a struct. It returns nil if the file could not be
// parsed.
func (l *loader) decode(name string, into any) *strict.Document {
	data, err := l.file(name)
	if err != nil {
		l.problems = append(l.problems, strict.Problem{File: name, Text: plain(err)})
		l.partial = true
		return nil
	}
	doc, ps := strict.Parse(name, data)
	if ps != nil {
		l.problems = append(l.problems, ps...)
		l.partial = true
		return nil
	}
	l.problems = append(l.problems, doc.Decode(into)...)
	return doc
}

var (
	errTooMany = fmt.Errorf("more than %d files: join some of them", maxFiles)
	errTooMuch = fmt.Errorf("the folder's files have more than %d MiB together", maxTotalBytes>>20)
)

// file reads a file and adds it to the hash.
func (l *loader) file(name string) ([]byte, error) {
	if l.files++; l.files > maxFiles {
		return nil, errTooMany
	}
	f, err := l.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("this is not a file") // a pipe would never end
	}
	// One byte more than allowed lets the parser say that it is too much.
	data, err := io.ReadAll(io.LimitReader(f, strict.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if l.bytes += int64(len(data)); l.bytes > maxTotalBytes {
		return nil, errTooMuch
	}
	fmt.Fprintf(l.hash, "%s %d\n", name, len(data))
	l.hash.Write(data)
	return data, nil
}

// plain says what went wrong with a file without repeating its name.
func plain(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file or folder"
	case errors.Is(err, fs.ErrPermission):
		return "this may not be read: check its permissions"
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
