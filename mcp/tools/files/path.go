package files

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxPath is the longest path, in bytes.
	MaxPath = 240
	// maxName is the longest name of a file or folder: all file systems in use
	// take 255 bytes, and a file that is being written has a longer name.
	maxName = 100
	// MaxDepth is how many folders may lie inside each other, the file included.
	MaxDepth = 8
)

// reserved are names that mean devices on Windows, with any extension. A campaign
// must not hold files that cannot be copied there.
var reserved = strings.Fields("con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9 " +
	"lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9 conin$ conout$ clock$")

// checkPath accepts names of files that every system can hold, one after the
// other with slashes between them.
func checkPath(p string) error {
	switch {
	case p == "":
		return errors.New("the path is empty: name a file, such as notes/guests.md")
	case len(p) > MaxPath:
		return fmt.Errorf("the path has %d bytes; %d are allowed", len(p), MaxPath)
	case !utf8.ValidString(p):
		return errors.New("the path is not UTF-8")
	case strings.HasPrefix(p, "/"):
		return errors.New("the path begins with a slash: leave that away, all files lie in one folder")
	}
	elements := strings.Split(p, "/")
	if len(elements) > MaxDepth {
		return fmt.Errorf("the path is %d folders deep; %d are allowed", len(elements), MaxDepth)
	}
	for _, e := range elements {
		if err := checkName(e); err != nil {
			return fmt.Errorf("path %q: %w", p, err)
		}
	}
	return nil
}

func checkName(e string) error {
	base, _, _ := strings.Cut(strings.ToLower(e), ".")
	switch {
	case e == "":
		return errors.New("two slashes in a row, or one at the end")
	case len(e) > maxName:
		return fmt.Errorf("a name has %d bytes; %d are allowed", len(e), maxName)
	case e[0] == '.':
		return errors.New("names do not begin with a dot, and there is nothing above the folder")
	case e[len(e)-1] == '.' || e[len(e)-1] == ' ' || e[0] == ' ':
		return errors.New("names do not end in a dot, and have no space at either end")
	case slices.Contains(reserved, strings.TrimRight(base, " ")):
		return fmt.Errorf("%q is the name of a device on Windows: choose another", base)
	}
	for _, r := range e {
		if strings.ContainsRune(`\:*?"<>|`, r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return fmt.Errorf("the character %q is not allowed in names", r)
		}
	}
	return nil
}

// plain reports whether name is an ordinary file behind ordinary folders. Links
// are refused even where they stay inside: what one reads is then where one wrote.
func plain(root *os.Root, name string) error {
	return walk(root, name, func(p string, m fs.FileMode) bool {
		if p == name {
			return m.IsRegular()
		}
		return m.IsDir()
	})
}

// walk looks at every element of a path in turn. fits says whether it may be
// there; the first that is missing ends the walk with [ErrNoFile].
func walk(root *os.Root, name string, fits func(p string, m fs.FileMode) bool) error {
	elements := strings.Split(name, "/")
	for i := range elements {
		p := path.Join(elements[:i+1]...)
		info, err := root.Lstat(p)
		switch {
		case err != nil:
			return said(err)
		case !fits(p, info.Mode()):
			return fmt.Errorf("%q: %w", p, ErrNotPlain)
		}
	}
	return nil
}

func sorted(list []entry) []entry {
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

func unique() string { return rand.Text() }
