package bot

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// maxRecorded is how many bytes of sound are kept at most: about 18 hours of
// speech at 16 kHz. Then nothing more is kept until some is deleted.
const maxRecorded = 2 << 30

// errFull tells the DM once that no more sound is kept.
var errFull = errors.New("2 GiB of sound are kept, which is the most: delete some, or set consent to transcript")

// Recordings is a folder with the sound of those who agreed to that, one WAV file
// an utterance, named after the line it became and who said it. It is safe for
// concurrent use.
type Recordings struct {
	root *os.Root

	mu   sync.Mutex // guards size
	size int64
}

// OpenRecordings opens the folder, or makes it.
func OpenRecordings(dir string) (*Recordings, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for recordings: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder for recordings: %w", err)
	}
	r := &Recordings{root: root}
	names, err := r.of("")
	for _, name := range names {
		if info, err := root.Stat(name); err == nil {
			r.size += info.Size()
		}
	}
	return r, err
}

// Close releases the folder.
func (r *Recordings) Close() error { return r.root.Close() }

// keep writes one utterance.
func (r *Recordings) keep(line, player string, sound []int16) error {
	wav := pcm.EncodeWAV(pcm.Rate, sound)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size += int64(len(wav)); r.size > maxRecorded {
		r.size -= int64(len(wav))
		return errFull
	}
	if err := r.root.WriteFile(recordingName(line, player), wav, 0o600); err != nil {
		return fmt.Errorf("keep a recording: %w", err)
	}
	return nil
}

// recordingName has nothing in it that a file system could take for a path: ids
// of lines and players are digits, letters and dashes, and anything else is not.
func recordingName(line, player string) string {
	safe := func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' {
			return r
		}
		return '_'
	}
	return strings.Map(safe, line) + "." + strings.Map(safe, player) + ".wav"
}

// of lists the recordings of one player, or all if player is "".
func (r *Recordings) of(player string) ([]string, error) {
	entries, err := fs.ReadDir(r.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list the recordings: %w", err)
	}
	end := ".wav"
	if player != "" {
		end = recordingName("", player)
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), end) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Count is how many recordings of a player there are.
func (r *Recordings) Count(player string) (int, error) {
	names, err := r.of(player)
	return len(names), err
}

// Export adds a player's recordings to an archive.
func (r *Recordings) Export(to *zip.Writer, player string) error {
	names, err := r.of(player)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.copy(to, name); err != nil {
			return fmt.Errorf("export %s: %w", name, err)
		}
	}
	return nil
}

func (r *Recordings) copy(to *zip.Writer, name string) error {
	from, err := r.root.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	w, err := to.Create("audio/" + name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, from)
	return err
}

// Forget deletes a player's recordings.
func (r *Recordings) Forget(player string) error {
	names, err := r.of(player)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		info, statErr := r.root.Stat(name)
		if removed := r.root.Remove(name); removed != nil || statErr != nil {
			err = errors.Join(err, removed, statErr)
			continue
		}
		r.size -= info.Size()
	}
	return err
}

// record keeps an utterance of somebody who agreed to that. It is written beside
// the game: no turn waits for a disk.
func (t *Table) record(who Person, u engine.Utterance) {
	if t.o.Recordings == nil || !who.Recorded || len(u.Sound) == 0 {
		return
	}
	sound := slices.Clone(u.Sound)
	t.tasks.Go(func() {
		if err := t.o.Recordings.keep(u.ID, who.ID, sound); err != nil {
			t.post(func() { t.alert(Alert{Text: "A recording is not kept: " + err.Error(), Bad: true}) })
		}
	})
}
