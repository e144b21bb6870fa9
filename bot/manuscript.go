package bot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/campaigns"
)

// MaxManuscript is the most that one file of a campaign may have when it is
// changed over the page: ten times the longest that is shipped.
const MaxManuscript = 256 << 10

// A Manuscript is the folder of a campaign, for its author to read and to change.
// A change is checked together with the rest of the folder before it is written,
// and whoever plays from the folder notices it by itself.
type Manuscript struct {
	files   fs.FS
	root    *os.Root // nil if nothing may be written
	options campaigns.Options
}

// ErrShipped is why a shipped campaign cannot be changed.
var ErrShipped = errors.New("this campaign is part of the program: copy it to a folder of your own and play that to change it")

// NewManuscript opens a campaign's files. root is its folder, or nil if it has
// none and can only be read. o are the checks' own.
func NewManuscript(files fs.FS, root *os.Root, o campaigns.Options) *Manuscript {
	return &Manuscript{files, root, o}
}

// Writable reports whether changes can be kept.
func (m *Manuscript) Writable() bool { return m.root != nil }

// Files returns the names of the YAML files, in order.
func (m *Manuscript) Files() ([]string, error) {
	var names []string
	err := fs.WalkDir(m.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && path.Ext(name) == ".yaml" {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// Read returns a file's text.
func (m *Manuscript) Read(name string) (string, error) {
	names, err := m.Files()
	if err != nil {
		return "", err
	}
	if !slices.Contains(names, name) {
		return "", fmt.Errorf("the campaign has no file %.100q", name)
	}
	b, err := fs.ReadFile(m.files, name)
	return string(b), err
}

// A Fault is one thing that is wrong in a campaign.
type Fault struct {
	File         string
	Line, Column int
	Text         string
}

// Check reads the campaign as if the file had that text, and returns all that
// would be wrong.
func (m *Manuscript) Check(name, text string) ([]Fault, error) {
	if _, err := m.Read(name); err != nil {
		return nil, err
	}
	if len(text) > MaxManuscript {
		return nil, fmt.Errorf("%s has %d kB: at most %d can be changed here", name, len(text)>>10, MaxManuscript>>10)
	}
	_, problems := campaigns.Load(proof{m.files, name, text}, m.options)
	var out []Fault
	for _, p := range problems {
		out = append(out, Fault{p.File, p.Line, p.Column, p.Text})
	}
	return out, nil
}

// Write changes a file. A text with faults is refused, and so is one that was
// begun from another version than the folder holds now.
func (m *Manuscript) Write(name, before, text string) error {
	if m.root == nil {
		return ErrShipped
	}
	faults, err := m.Check(name, text)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		f := faults[0]
		return fmt.Errorf("not written, %s line %d: %s", f.File, f.Line, f.Text)
	}
	now, err := m.Read(name)
	if err != nil {
		return err
	}
	if now != before {
		return fmt.Errorf("%s was changed by somebody else meanwhile: load the page again", name)
	}
	// A crash must leave one version or the other.
	draft := name + ".new"
	if err := m.root.WriteFile(draft, []byte(text), 0o644); err != nil {
		return err
	}
	return m.root.Rename(draft, name)
}

// A proof is a folder in which one file has another text.
type proof struct {
	fs.FS
	name, text string
}

// Open opens a file, or the proof in its place.
func (p proof) Open(name string) (fs.File, error) {
	if name != p.name {
		return p.FS.Open(name)
	}
	return &sheet{Reader: strings.NewReader(p.text), p: p}, nil
}

// ReadFile reads a file, or the proof in its place.
func (p proof) ReadFile(name string) ([]byte, error) {
	if name != p.name {
		return fs.ReadFile(p.FS, name)
	}
	return bytes.Clone([]byte(p.text)), nil
}

// A sheet is the open proof.
type sheet struct {
	io.Reader
	p proof
}

func (s *sheet) Stat() (fs.FileInfo, error) { return s, nil }
func (s *sheet) Close() error               { return nil }
func (s *sheet) Name() string               { return path.Base(s.p.name) }
func (s *sheet) Size() int64                { return int64(len(s.p.text)) }
func (s *sheet) Mode() fs.FileMode          { return 0o444 }
func (s *sheet) ModTime() time.Time         { return time.Time{} }
func (s *sheet) IsDir() bool                { return false }
func (s *sheet) Sys() any                   { return nil }

// portraitTypes are the pictures that a page may show. None of them can carry
// code.
var portraitTypes = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif"}

// Picture returns a picture of the folder and its type.
func (m *Manuscript) Picture(name string) (data []byte, kind string, err error) {
	kind, ok := portraitTypes[strings.ToLower(path.Ext(name))]
	if !ok || !fs.ValidPath(name) || strings.ContainsRune(name, 0) {
		return nil, "", fs.ErrNotExist
	}
	data, err = fs.ReadFile(m.files, name)
	return data, kind, err
}
