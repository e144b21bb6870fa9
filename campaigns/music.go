package campaigns

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxMusic is the largest file that the table plays.
const maxMusic = 64 << 20

// music checks a scene's: a file in the folder, or the name of a piece that is part
// of the program.
func (l *loader) music(p place, name string) {
	if name == "" || slices.Contains(l.options.Pieces, name) {
		return
	}
	if strings.Contains(name, "://") {
		l.problem(p, "music is a file in the campaign folder, not an address")
		return
	}
	info, err := fs.Stat(l.fsys, name)
	switch ext := strings.ToLower(path.Ext(name)); {
	case !fs.ValidPath(name):
		l.problem(p, "%q is not a path within the campaign folder", name)
	case errors.Is(err, fs.ErrNotExist):
		l.problem(p, "there is no file %q in the campaign folder%s", name, suggestOrList(name, l.options.Pieces))
	case err != nil:
		l.problem(p, "cannot read %q: %s", name, plain(err))
	case !slices.Contains([]string{".ogg", ".opus", ".flac", ".mp3", ".wav"}, ext) || !info.Mode().IsRegular():
		l.problem(p, "music must be an .ogg or .opus (Opus), .flac, .mp3 or .wav file, found %q", name)
	case info.Size() > maxMusic:
		l.problem(p, "the music has %d MB: at most %d", info.Size()>>20, maxMusic>>20)
	}
}
