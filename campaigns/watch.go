package campaigns

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"iter"
	"os"
	"time"
)

// watchEvery is how often a watched folder is looked at. Looking costs some
// twenty system calls for the shipped campaigns. A change is taken up when the
// folder looked the same twice, so that an editor has finished writing.
const watchEvery = 500 * time.Millisecond

// Watch loads the campaign in dir and loads it again whenever its files change,
// until ctx ends. It yields each good campaign, and the problems of each broken
// one with a nil campaign: whoever plays the campaign keeps the last good one
// meanwhile. A change that leaves the text as it was is not yielded.
func Watch(ctx context.Context, dir string, o Options) iter.Seq2[*Campaign, error] {
	return func(yield func(*Campaign, error) bool) {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		var loaded, seen uint64
		var lastHash, lastError string
		for first := true; ; first = false {
			now := look(dir)
			if first || now != loaded && now == seen {
				loaded = now
				c, problems := Open(dir, o)
				switch {
				case problems != nil && problems.Error() != lastError:
					lastError = problems.Error()
					if !yield(nil, problems) {
						return
					}
				case problems == nil && (c.Hash != lastHash || lastError != ""):
					lastHash, lastError = c.Hash, ""
					if !yield(c, nil) {
						return
					}
				}
			}
			seen = now
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// look is a number that changes when a file in dir is written, renamed, added
// or removed. A folder that cannot be read looks like itself.
func look(dir string) uint64 {
	h := fnv.New64a()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0
	}
	defer root.Close()
	files := 0
	// WalkDir's own error is always one that the function returned.
	_ = fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if files++; files > 4*maxFiles {
			return fs.SkipAll // pictures and music count too, but not a whole disk
		}
		switch info, statErr := fs.Stat(root.FS(), path); {
		case err != nil || statErr != nil:
			fmt.Fprintln(h, path, "unreadable")
		case !info.IsDir():
			fmt.Fprintln(h, path, info.Size(), info.ModTime().UnixNano())
		}
		return nil // what cannot be read today may be tomorrow
	})
	return h.Sum64()
}
