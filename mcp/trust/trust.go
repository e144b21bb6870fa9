// Package trust remembers what tools looked like when somebody last agreed to
// them.
//
// The first time a server is seen its tools are accepted as they are: the operator
// has just added it. After that, a tool whose definition changed and a tool that is
// new wait for approval. So a server cannot turn a harmless tool into another one
// behind the operator's back.
package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// A Verdict is what a book says about a definition.
type Verdict string

// The verdicts. Only Known may be used.
const (
	Known   Verdict = "known"
	First   Verdict = "first"   // just pinned, with its whole server
	New     Verdict = "new"     // a server already known has one tool more
	Changed Verdict = "changed" // not what was agreed to
)

// Bounds on a book: servers choose the names in it.
const (
	maxFile    = 8 << 20
	maxServers = 256
	maxTools   = 256 // a server
)

// A Pin is one tool's entry.
type Pin struct {
	// Hash is what was agreed to; "" for a tool nobody has agreed to yet.
	Hash string `json:"hash,omitempty"`
	// Text is the definition that was agreed to, so that a change can be shown.
	Text string `json:"text,omitempty"`
	// Waiting and WaitingText are what the server says now, if that is not it.
	Waiting     string    `json:"waiting,omitempty"`
	WaitingText string    `json:"waiting_text,omitempty"`
	At          time.Time `json:"at"`
}

// A Book is the pins of all servers. It is safe for concurrent use, and two
// programs may use one file: each reads it again before it decides.
type Book struct {
	path string // "" keeps it in memory

	mu      sync.Mutex  // guards the rest
	read    fs.FileInfo // the file that servers came from, or nil
	servers map[string]map[string]*Pin
}

// Open returns the book in the named file, which need not exist. "" keeps it in
// memory.
func Open(path string) (*Book, error) {
	b := &Book{path: path, servers: map[string]map[string]*Pin{}}
	return b, b.reload()
}

// reload reads the file if it changed. The caller holds mu, or nobody else has b.
func (b *Book) reload() error {
	if b.path == "" {
		return nil
	}
	fi, err := os.Stat(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || same(fi, b.read) {
		return err
	}
	f, err := os.Open(b.path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return err
	}
	servers := map[string]map[string]*Pin{}
	if err := json.Unmarshal(data, &servers); err != nil {
		return fmt.Errorf("%s: %w; mend or remove it (all tools will then be accepted as they are)", b.path, err)
	}
	b.servers, b.read = servers, fi
	return nil
}

// same reports whether a file is still the one that was read. Each save makes a new
// file, since two may fall into one tick of the clock that files are dated by.
func same(now, read fs.FileInfo) bool {
	return read != nil && os.SameFile(now, read) && now.ModTime().Equal(read.ModTime()) && now.Size() == read.Size()
}

// save writes the file anew, whole or not at all. The caller holds mu.
func (b *Book) save() error {
	if b.path == "" {
		return nil
	}
	data, err := json.MarshalIndent(b.servers, "", "\t")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(b.path), ".pins-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if all went well
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), b.path); err != nil {
		return err
	}
	if fi, err := os.Stat(b.path); err == nil {
		b.read = fi
	}
	return nil
}

// A Definition is what a server says about one tool.
type Definition struct {
	Tool string
	// Hash covers all of it; Text is for people.
	Hash, Text string
}

// Check compares what a server offers with what was agreed to, and remembers what
// is new. Verdicts are by tool name.
func (b *Book) Check(server string, offered []Definition) (map[string]Verdict, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.reload(); err != nil {
		return nil, err
	}
	pins, known := b.servers[server]
	if !known {
		if len(b.servers) >= maxServers {
			return nil, fmt.Errorf("more than %d servers are remembered; remove some", maxServers)
		}
		pins = map[string]*Pin{}
	}
	verdicts := map[string]Verdict{}
	changed := false
	for _, d := range offered {
		p := pins[d.Tool]
		switch {
		case !known:
			pins[d.Tool] = &Pin{Hash: d.Hash, Text: d.Text, At: time.Now()}
			verdicts[d.Tool], changed = First, true
		case p == nil:
			verdicts[d.Tool] = New
			if len(pins) < maxTools {
				pins[d.Tool] = &Pin{Waiting: d.Hash, WaitingText: d.Text, At: time.Now()}
				changed = true
			}
		case p.Hash == d.Hash:
			verdicts[d.Tool] = Known
			if p.Waiting != "" {
				p.Waiting, p.WaitingText, changed = "", "", true
			}
		default:
			verdicts[d.Tool] = Changed
			if p.Hash == "" {
				verdicts[d.Tool] = New
			}
			if p.Waiting != d.Hash {
				p.Waiting, p.WaitingText, p.At, changed = d.Hash, d.Text, time.Now(), true
			}
		}
	}
	if !known && len(offered) > 0 {
		b.servers[server] = pins
	}
	if !changed {
		return verdicts, nil
	}
	return verdicts, b.save()
}

// A Waiting is a definition that somebody has to look at.
type Waiting struct {
	Server, Tool string
	Verdict      Verdict
	// Was is what was agreed to, Now what the server says.
	Was, Now string
	Hash     string // of Now
}

// Waiting lists what waits, by server and tool.
func (b *Book) Waiting() ([]Waiting, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.reload(); err != nil {
		return nil, err
	}
	var list []Waiting
	for _, server := range slices.Sorted(maps.Keys(b.servers)) {
		for _, tool := range slices.Sorted(maps.Keys(b.servers[server])) {
			p := b.servers[server][tool]
			if p.Waiting == "" {
				continue
			}
			w := Waiting{server, tool, Changed, p.Text, p.WaitingText, p.Waiting}
			if p.Hash == "" {
				w.Verdict = New
			}
			list = append(list, w)
		}
	}
	return list, nil
}

// ErrNothingWaits means that there is nothing to approve.
var ErrNothingWaits = errors.New("nothing of that name waits for approval")

// Approve agrees to what waits: one tool of a server, or all if tool is "". hash,
// if not "", must be what was shown; then a change in the meantime is not agreed
// to unseen. It returns the tools agreed to.
func (b *Book) Approve(server, tool, hash string) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.reload(); err != nil {
		return nil, err
	}
	var done []string
	for _, name := range slices.Sorted(maps.Keys(b.servers[server])) {
		p := b.servers[server][name]
		if p.Waiting == "" || tool != "" && name != tool || hash != "" && p.Waiting != hash {
			continue
		}
		*p = Pin{Hash: p.Waiting, Text: p.WaitingText, At: time.Now()}
		done = append(done, name)
	}
	if len(done) == 0 {
		return nil, ErrNothingWaits
	}
	return done, b.save()
}

// Forget drops a server, so that it is new when it is seen again.
func (b *Book) Forget(server string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.reload(); err != nil {
		return err
	}
	if _, ok := b.servers[server]; !ok {
		return nil
	}
	delete(b.servers, server)
	return b.save()
}

// Changed reports whether the file was changed by another program since it was
// last read.
func (b *Book) Changed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.path == "" {
		return false
	}
	fi, err := os.Stat(b.path)
	return err == nil && !same(fi, b.read)
}
