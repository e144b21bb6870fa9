// Package files lets NPCs keep notes: it reads and writes small text files in one
// folder, the sandbox, which is the campaign's own.
//
// # Promises
//
//   - Nothing outside the sandbox is read or written, whatever a path says and
//     whatever links somebody puts there, also while a call is running.
//   - Only ordinary text files are opened: no links, pipes, sockets or devices.
//   - A file is replaced as a whole or not at all.
//   - At most 500 files with 16 MiB together are kept, each of at most 1 MiB, in
//     folders at most eight deep.
//
// Whether an NPC may write at all is decided by the tool host: without leave a
// call only says what it would do, or waits for the game master.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// MaxFile is the most bytes of one file: a long novel's chapter is 50 KiB.
	MaxFile = 1 << 20
	// MaxTotal bounds all files of a campaign together, so that an NPC which
	// writes all night fills no disk.
	MaxTotal = 16 << 20
	// MaxFiles bounds their number, which is what a listing has to show.
	MaxFiles = 500
	// partial is how the name of a file begins that is being written. No path
	// that a caller may give has an element with a dot in front.
	partial = ".partial-"
	// abandoned is when such a file is no longer being written by anybody.
	abandoned = time.Minute
)

// Options bound what is read below the package's own limits.
type Options struct {
	// MaxRead is the most bytes of a file; zero means [MaxFile].
	MaxRead int
	// MaxEntries is the most names in a listing; zero means [MaxFiles].
	MaxEntries int
}

// A Sandbox is the folder that one campaign's NPCs may use. It is made when the
// first file is written. Its methods are safe for concurrent use.
type Sandbox struct {
	dir string
	o   Options

	// writing is held while files are counted and written, so that two writers
	// cannot fill the same room.
	writing sync.Mutex
}

// New returns the sandbox in dir, which need not exist yet. Nobody else should
// write there, except people.
func New(dir string, o Options) *Sandbox {
	if o.MaxRead <= 0 || o.MaxRead > MaxFile {
		o.MaxRead = MaxFile
	}
	if o.MaxEntries <= 0 || o.MaxEntries > MaxFiles {
		o.MaxEntries = MaxFiles
	}
	return &Sandbox{dir: dir, o: o}
}

// Errors of a path that leads to nothing that may be used.
var (
	ErrNoFile   = errors.New("there is no such file; read_file with the path \".\" lists those there are")
	ErrNotPlain = errors.New("this is no ordinary file: links, pipes and devices are not touched")
	ErrNoText   = errors.New("this is no text")
	ErrFull     = errors.New("there is no room left")
)

// read returns the whole of a file.
func (s *Sandbox) read(name string) (string, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return "", said(err)
	}
	defer root.Close()
	if err := plain(root, name); err != nil {
		return "", err
	}
	return s.readIn(root, name)
}

func (s *Sandbox) readIn(root *os.Root, name string) (string, error) {
	// It may have been replaced by a pipe since it was looked at: opening must
	// not wait, and what was opened is looked at again.
	f, err := root.OpenFile(name, os.O_RDONLY|doNotWait, 0)
	if err != nil {
		return "", said(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", said(err)
	}
	if !info.Mode().IsRegular() {
		return "", ErrNotPlain
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(s.o.MaxRead)+1))
	switch {
	case err != nil:
		return "", said(err)
	case len(b) > s.o.MaxRead:
		return "", fmt.Errorf("the file has more than the %d bytes that may be read", s.o.MaxRead)
	case !utf8.Valid(b) || strings.ContainsRune(string(b), 0):
		return "", ErrNoText
	}
	return string(b), nil
}

// An entry is one file or folder of a listing.
type entry struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes,omitempty"`
	Folder bool   `json:"folder,omitempty"`
}

// list returns what is in a folder, by name, and whether there is more.
func (s *Sandbox) list(folder string) (list []entry, more bool, err error) {
	list = []entry{}
	root, err := os.OpenRoot(s.dir)
	if errors.Is(err, fs.ErrNotExist) && folder == "." {
		return list, false, nil // nothing has been written yet
	}
	if err != nil {
		return nil, false, said(err)
	}
	defer root.Close()
	if folder != "." {
		if err := walk(root, folder, func(_ string, m fs.FileMode) bool { return m.IsDir() }); err != nil {
			return nil, false, err
		}
	}
	dir, err := root.Open(folder)
	if err != nil {
		return nil, false, said(err)
	}
	defer dir.Close()
	// More than is shown may lie there: people put files in as well. It is read
	// in the folder's order, which is why the rest is not sorted in.
	names, err := dir.ReadDir(s.o.MaxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, said(err)
	}
	for _, d := range names {
		if checkPath(d.Name()) != nil || !d.IsDir() && !d.Type().IsRegular() {
			continue
		}
		e := entry{Path: path.Join(folder, d.Name()), Folder: d.IsDir()}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			e.Bytes = info.Size()
		}
		list = append(list, e)
	}
	if len(list) > s.o.MaxEntries {
		return sorted(list[:s.o.MaxEntries]), true, nil
	}
	return sorted(list), false, nil
}

// write replaces a file, or adds to its end, and returns its new size.
func (s *Sandbox) write(name, content string, add bool) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return 0, said(err)
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return 0, said(err)
	}
	defer root.Close()

	before, isNew := int64(0), false
	switch err := plain(root, name); {
	case errors.Is(err, ErrNoFile):
		isNew, add = true, false
	case err != nil:
		return 0, err
	default:
		info, err := root.Lstat(name)
		if err != nil {
			return 0, said(err)
		}
		before = info.Size()
	}
	if add {
		old, err := s.readIn(root, name)
		if err != nil {
			return 0, err
		}
		content = old + content
	}
	if len(content) > MaxFile {
		return 0, fmt.Errorf("the file would have %d bytes, and %d are allowed: %w", len(content), MaxFile, ErrFull)
	}
	u, err := count(root)
	if err != nil {
		return 0, err
	}
	switch {
	case isNew && u.files >= MaxFiles:
		return 0, fmt.Errorf("there are %d files already: %w; add to one of them instead", u.files, ErrFull)
	case u.bytes-before+int64(len(content)) > MaxTotal:
		return 0, fmt.Errorf("all files together may have %d bytes and have %d: %w", MaxTotal, u.bytes, ErrFull)
	}
	return len(content), replace(root, name, content)
}

// replace writes beside the file and then puts the new one in its place.
func replace(root *os.Root, name, content string) (err error) {
	dir, _ := path.Split(name)
	if dir != "" {
		if err := root.MkdirAll(path.Clean(dir), 0o700); err != nil {
			return said(err)
		}
	}
	temporary := path.Join(dir, partial+unique())
	f, err := root.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return said(err)
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Sync() // or a crash could leave the name without the text
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(said(err), root.Remove(temporary))
	}
	return nil
}

// usage is what a sandbox holds.
type usage struct {
	files int
	bytes int64
}

// count adds up what the sandbox holds and clears away what a crash left
// half-written.
func count(root *os.Root) (u usage, err error) {
	seen := 0
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > 20*MaxFiles {
			return fmt.Errorf("the folder holds more than %d things: %w", 20*MaxFiles, ErrFull)
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), partial) && time.Since(info.ModTime()) > abandoned {
			return root.Remove(p)
		}
		u.files++
		u.bytes += info.Size()
		return nil
	})
	if err != nil {
		return u, said(err)
	}
	return u, nil
}

// said tells what went wrong without telling where on the machine the sandbox
// lies: the text goes to a model.
func said(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoFile
	case errors.Is(err, ErrFull):
		return err
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("the file cannot be used: %w", pe.Err)
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf("the file cannot be used: %w", le.Err)
	}
	return fmt.Errorf("the file cannot be used: %w", err)
}
