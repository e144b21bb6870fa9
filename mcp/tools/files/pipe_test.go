//go:build unix

package files

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestPipesAndSocketsAreNotTouched(t *testing.T) {
	s, dir, _ := outside(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Socket paths are short: it is made elsewhere and moved.
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(short, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Rename(filepath.Join(short, "s"), filepath.Join(dir, "socket")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "socket"} {
		if _, err := read(t, s, name); !errors.Is(err, ErrNotPlain) {
			t.Errorf("read_file(%s): got %v, want ErrNotPlain", name, err)
		}
		if err := write(t, s, name, "x"); !errors.Is(err, ErrNotPlain) {
			t.Errorf("write_file(%s): got %v, want ErrNotPlain", name, err)
		}
	}
	// As when a pipe takes the file's place after it was looked at.
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := s.readIn(root, "pipe"); !errors.Is(err, ErrNotPlain) {
		t.Errorf("an opened pipe: got %v, want ErrNotPlain", err)
	}
}
