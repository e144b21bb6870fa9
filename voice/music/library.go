package music

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
)

//go:generate go run ./compose

//go:embed shipped/*.ogg
var shippedFiles embed.FS

// shipped are the pieces that every campaign has, with what they are good for.
var shipped = []listed{
	{"hearth", "shipped/hearth.ogg", strings.Fields("hearth calm warm cosy tavern inn home rest village happy joy feast journey")},
	{"shadows", "shipped/shadows.ogg", strings.Fields("shadows dark tense eerie dungeon night danger fear mystery battle sad")},
}

// Folder is where a campaign's music lies. A file is found by the words of its
// name: "market, busy.ogg" for a busy market.
const Folder = "music"

// maxListed bounds how many files of a folder are looked at.
const maxListed = 200

// endings are those of files that may be music.
var endings = []string{".ogg", ".opus", ".flac", ".mp3", ".wav"}

// ErrNoPiece means that nothing fits, and says what there is.
var ErrNoPiece = errors.New("there is no such music")

// A Library is the music of a campaign and what is shipped. Its folder is looked
// at anew each time, so that a file which is put there is found.
type Library struct {
	folder fs.FS
}

// NewLibrary returns the library of a campaign folder; nil has only what is
// shipped.
func NewLibrary(folder fs.FS) *Library { return &Library{folder} }

// listed is a piece that has not been read.
type listed struct {
	name, path string
	words      []string
}

// list returns the campaign's own pieces.
func (l *Library) list() []listed {
	if l.folder == nil {
		return nil
	}
	files, err := fs.ReadDir(l.folder, Folder)
	if err != nil {
		return nil // most campaigns have none
	}
	var own []listed
	for _, f := range files {
		ext := strings.ToLower(path.Ext(f.Name()))
		if len(own) < maxListed && slices.Contains(endings, ext) && f.Type().IsRegular() {
			name := strings.TrimSuffix(f.Name(), path.Ext(f.Name()))
			own = append(own, listed{name, path.Join(Folder, f.Name()), words(name)})
		}
	}
	return own
}

// Names lists what there is, the campaign's own first.
func (l *Library) Names() []string {
	var names []string
	for _, p := range append(l.list(), shipped...) {
		names = append(names, p.name)
	}
	return names
}

// Find returns the piece that fits a mood best: by the words of its name, or by
// words that mean much the same. The campaign's own come before what is shipped.
func (l *Library) Find(mood string) (*Piece, error) {
	wanted := words(mood)
	best, score := listed{}, 0
	own := l.list()
	all := append(own, shipped...)
	if !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(anyMusic, w) }) {
		best, score = all[0], 1 // "some music"
	}
	for _, p := range all {
		if s := fit(wanted, p.words); s > score {
			best, score = p, s
		}
	}
	if score == 0 {
		return nil, fmt.Errorf("%w for %q; there is %s", ErrNoPiece, mood, strings.Join(l.Names(), ", "))
	}
	if slices.ContainsFunc(own, func(p listed) bool { return p.path == best.path }) {
		return l.read(l.folder, best.name, best.path)
	}
	return l.read(shippedFiles, best.name, best.path)
}

// Named returns the piece of that name or, for the music of a scene, of that path
// in the campaign's folder.
func (l *Library) Named(name string) (*Piece, error) {
	for _, p := range shipped {
		if p.name == name {
			return l.read(shippedFiles, p.name, p.path)
		}
	}
	if l.folder == nil || !fs.ValidPath(name) {
		return nil, fmt.Errorf("%w: %q", ErrNoPiece, name)
	}
	return l.read(l.folder, strings.TrimSuffix(path.Base(name), path.Ext(name)), name)
}

func (l *Library) read(fsys fs.FS, name, at string) (*Piece, error) {
	f, err := fsys.Open(at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, plain(err))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, plain(err))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: it is no file", name)
	case info.Size() > MaxFile:
		return nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, plain(err))
	}
	return NewPiece(name, data)
}

// plain is an error without the machine's paths.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// words are the words of a name or mood, in lower case.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
}

// anyMusic are words that ask for music and not for which.
var anyMusic = strings.Fields("a an the us me some any something anything music song tune melody piece background ambience ambient nice good please musik etwas lied ein eine bitte")

// alike are words that ask for the same music. The first of each is a mood of one
// of the shipped pieces.
var alike = [][]string{
	{"calm", "calming", "peaceful", "quiet", "gentle", "relaxed", "relaxing", "soft", "soothing", "serene", "friendly", "ruhig", "friedlich"},
	{"warm", "cozy", "cosy", "homely", "gemütlich", "fire", "fireplace"},
	{"tavern", "inn", "pub", "taproom", "bar", "taverne", "wirtshaus", "market", "town", "village", "city"},
	{"happy", "joy", "joyful", "merry", "cheerful", "festive", "feast", "festival", "dance", "celebration", "bright", "light", "fröhlich"},
	{"journey", "travel", "road", "travelling", "adventure", "forest", "nature", "reise"},
	{"rest", "evening", "sleep", "camp", "morning"},
	{"dark", "darkness", "gloomy", "grim", "sinister", "ominous", "cold", "düster", "dunkel"},
	{"tense", "tension", "suspense", "suspenseful", "nervous", "dramatic", "drama", "spannend"},
	{"eerie", "creepy", "spooky", "haunted", "ghostly", "horror", "scary", "unheimlich", "gruselig"},
	{"dungeon", "cave", "crypt", "tomb", "underground", "cellar", "sewer", "ruins"},
	{"mystery", "mysterious", "magic", "magical", "strange", "secret"},
	{"battle", "combat", "fight", "fighting", "war", "attack", "chase", "epic", "boss", "kampf"},
	{"sad", "sadness", "sorrow", "mourning", "grief", "funeral", "melancholy", "melancholic", "traurig"},
	{"danger", "dangerous", "threat", "fear", "afraid", "night"},
}

// fit says how well a piece's words fit what is wanted: a word itself counts three
// times as much as one like it.
func fit(wanted, has []string) (score int) {
	for _, w := range wanted {
		switch {
		case slices.Contains(has, w):
			score += 3
		case slices.ContainsFunc(alike, func(group []string) bool {
			return slices.Contains(group, w) && slices.ContainsFunc(has, func(h string) bool { return slices.Contains(group, h) })
		}):
			score++
		}
	}
	return score
}
