package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/memorytest"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
)

func open(t testing.TB, path string) memory.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestContract(t *testing.T) {
	memorytest.Contract(t, func(t testing.TB) memory.Store {
		return open(t, filepath.Join(t.TempDir(), "memory.db"))
	})
}
