package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// call runs one of the tools as the host would.
func call(t testing.TB, s *Sandbox, tool string, args any) (string, error) {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range Tools(s) {
		if x.Name == tool {
			return x.Call(t.Context(), mcp.Caller{Campaign: "vale", NPC: "bartok"}, b)
		}
	}
	t.Fatalf("no tool %s", tool)
	return "", nil
}

func read(t testing.TB, s *Sandbox, path string) (string, error) {
	t.Helper()
	out, err := call(t, s, "read_file", map[string]any{"path": path})
	if err != nil {
		return "", err
	}
	var f struct{ Content string }
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		t.Fatal(err)
	}
	return f.Content, nil
}

func write(t testing.TB, s *Sandbox, path, content string) error {
	t.Helper()
	_, err := call(t, s, "write_file", map[string]any{"path": path, "content": content})
	return err
}

// outside is a sandbox with a secret file and folder beside it.
func outside(t *testing.T) (s *Sandbox, dir, secret string) {
	t.Helper()
	above := t.TempDir()
	dir, secret = filepath.Join(above, "sandbox"), filepath.Join(above, "secret.txt")
	if err := os.WriteFile(secret, []byte("the vault's word"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return New(dir, Options{}), dir, secret
}

func TestWhatIsWrittenIsReadAndAddedTo(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "not", "yet", "there"), Options{})
	if out, err := call(t, s, "read_file", map[string]any{"path": "."}); err != nil || out != `{"files":[]}` {
		t.Errorf("listing of a sandbox without files: %s, %v", out, err)
	}
	for _, w := range []map[string]any{
		{"path": "notes/guests.md", "content": "Mira owes two silver.\n"},
		{"path": "notes/guests.md", "content": "Odo paid — at last.\n", "append": true},
		{"path": "menu.txt", "content": "stew", "append": true},
	} {
		if _, err := call(t, s, "write_file", w); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := read(t, s, "notes/guests.md"); err != nil || got != "Mira owes two silver.\nOdo paid — at last.\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := write(t, s, "menu.txt", "pie"); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, s, "menu.txt"); err != nil || got != "pie" {
		t.Errorf("after replacing: got %q, %v", got, err)
	}
	for path, want := range map[string]string{
		".":      `{"files":[{"path":"menu.txt","bytes":3},{"path":"notes","folder":true}]}`,
		"notes/": `{"files":[{"path":"notes/guests.md","bytes":44}]}`,
	} {
		if got, err := call(t, s, "read_file", map[string]any{"path": path}); err != nil || got != want {
			t.Errorf("listing of %s: got %s, %v, want %s", path, got, err, want)
		}
	}
}

func TestLongFilesAreReadInPiecesOfWholeCharacters(t *testing.T) {
	s := New(t.TempDir(), Options{})
	whole := strings.Repeat("Drachenöl. ", 2000)
	if err := write(t, s, "long.txt", whole); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	offset := 0
	for range 100 {
		out, err := call(t, s, "read_file", map[string]any{"path": "long.txt", "offset": offset})
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			Content string
			Next    int `json:"next_offset"`
		}
		if err := json.Unmarshal([]byte(out), &f); err != nil {
			t.Fatal(err)
		}
		if len(out) > 8<<10 {
			t.Fatalf("one answer has %d bytes; a model is shown 8 KiB", len(out))
		}
		got.WriteString(f.Content)
		if offset = f.Next; offset == 0 {
			break
		}
	}
	if got.String() != whole {
		t.Errorf("the pieces have %d bytes together, want %d and the same text", got.Len(), len(whole))
	}
	if _, err := call(t, s, "read_file", map[string]any{"path": "long.txt", "offset": len(whole) + 1}); err == nil {
		t.Error("an offset behind the end was taken")
	}
}

func TestNoPathLeadsOut(t *testing.T) {
	s, dir, secret := outside(t)
	if err := write(t, s, "inside.txt", "mine"); err != nil {
		t.Fatal(err)
	}
	paths := []string{
		"../secret.txt", "../../secret.txt", "x/../../secret.txt", "./../secret.txt", "a/b/../../../secret.txt",
		secret, "/etc/passwd", "//etc/passwd", "/proc/self/environ", "..", "../", "x/..", "x//y", "x/", "",
		`..\secret.txt`, `C:\secret.txt`, "C:secret.txt", `\\server\share`, "inside.txt\x00.png", "a\nb", "a\u202eb",
		"con", "NUL.txt", "aux", "Lpt1.md", "com1 ", "notes/prn.md", "trailing.", "trailing ", " leading", ".hidden", "a/.git/config",
		".partial-abc", "stream.txt::$DATA", "what?.txt", "~/x", "%2e%2e/secret.txt", "..%2fsecret.txt",
		strings.Repeat("a", maxName+1), strings.Repeat("d/", MaxDepth) + "x", strings.Repeat("x", MaxPath+1),
	}
	harmless := map[string]bool{"~/x": true, "%2e%2e/secret.txt": true} // names like others
	for _, p := range paths {
		if got, err := read(t, s, p); err == nil {
			t.Errorf("read_file(%q) gave %q", p, got)
		} else if strings.Contains(err.Error(), dir) {
			t.Errorf("read_file(%q) tells where the sandbox lies: %v", p, err)
		}
		if err := write(t, s, p, "overwritten"); err == nil && !harmless[p] {
			t.Errorf("write_file(%q) was allowed", p)
		}
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "the vault's word" {
		t.Errorf("the file beside the sandbox holds %q, %v", b, err)
	}
	beside, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(beside) != 2 {
		t.Errorf("beside the sandbox lie %v, %v, want it and the secret alone", beside, err)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	s, dir, secret := outside(t)
	if err := write(t, s, "real/note.txt", "mine"); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"file": secret, "relative": "../secret.txt", "folder": "..", "absolute": "/", "inside": "real/note.txt", "in": "real", "broken": "nowhere", "loop": "loop",
		"proc": "/proc/self",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"file", "relative", "folder", "folder/secret.txt", "absolute/etc/passwd", "inside", "in/note.txt", "broken", "loop", "proc/environ"} {
		if got, err := read(t, s, p); !errors.Is(err, ErrNotPlain) {
			t.Errorf("read_file(%s): got %q, %v, want ErrNotPlain", p, got, err)
		}
		if err := write(t, s, p, "overwritten"); !errors.Is(err, ErrNotPlain) {
			t.Errorf("write_file(%s): got %v, want ErrNotPlain", p, err)
		}
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "the vault's word" {
		t.Errorf("the file beside the sandbox holds %q, %v", b, err)
	}
	if out, err := call(t, s, "read_file", map[string]any{"path": "."}); err != nil || out != `{"files":[{"path":"real","folder":true}]}` {
		t.Errorf("the listing shows links: %s, %v", out, err)
	}
}

func TestFileThatIsSwappedForALinkMeanwhileTellsNoSecret(t *testing.T) {
	s, dir, secret := outside(t)
	swapped := filepath.Join(dir, "note.txt")
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.WriteFile(swapped+".new", []byte("mine"), 0o600)
			_ = os.Rename(swapped+".new", swapped)
			_ = os.Symlink(secret, swapped+".link")
			_ = os.Rename(swapped+".link", swapped)
		}
	})
	for range 500 {
		if got, err := read(t, s, "note.txt"); err == nil && got != "mine" && got != "ours" {
			t.Errorf("read %q", got)
		}
		_ = write(t, s, "note.txt", "ours")
	}
	close(stop)
	swapper.Wait()
	if b, err := os.ReadFile(secret); err != nil || string(b) != "the vault's word" {
		t.Errorf("the file beside the sandbox holds %q, %v", b, err)
	}
}

func TestOnlyTextIsReadAndWritten(t *testing.T) {
	s, dir, _ := outside(t)
	for name, content := range map[string]string{"picture.png": "\x89PNG\r\n\x1a\n\x00\x00", "latin1.txt": "K\xf6nig"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, s, name); !errors.Is(err, ErrNoText) {
			t.Errorf("%s: got %v, want ErrNoText", name, err)
		}
		if _, err := call(t, s, "write_file", map[string]any{"path": name, "content": "more", "append": true}); !errors.Is(err, ErrNoText) {
			t.Errorf("adding to %s: got %v, want ErrNoText", name, err)
		}
	}
	if err := write(t, s, "a.txt", "nul \x00 inside"); !errors.Is(err, ErrNoText) {
		t.Errorf("writing a NUL: got %v, want ErrNoText", err)
	}
}

func TestSandboxIsNeverFilledBeyondItsQuotas(t *testing.T) {
	s := New(t.TempDir(), Options{})
	if err := write(t, s, "big.txt", strings.Repeat("x", MaxFile+1)); !errors.Is(err, ErrFull) {
		t.Errorf("a file too long: got %v, want ErrFull", err)
	}
	chapter := strings.Repeat("x", MaxFile)
	for i := range MaxTotal / MaxFile {
		if err := write(t, s, fmt.Sprintf("chapter-%d.txt", i), chapter); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(t, s, "more.txt", "y"); !errors.Is(err, ErrFull) {
		t.Errorf("one byte too many: got %v, want ErrFull", err)
	}
	if _, err := call(t, s, "write_file", map[string]any{"path": "chapter-1.txt", "content": "y", "append": true}); !errors.Is(err, ErrFull) {
		t.Errorf("adding to a full file: got %v, want ErrFull", err)
	}
	if err := write(t, s, "chapter-0.txt", "short"); err != nil {
		t.Errorf("a shorter file in a full sandbox: %v", err)
	}
	if err := write(t, s, "more.txt", "y"); err != nil {
		t.Errorf("after making room: %v", err)
	}

	many := New(t.TempDir(), Options{})
	for i := range MaxFiles {
		if err := os.WriteFile(filepath.Join(many.dir, fmt.Sprintf("n%d.txt", i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(t, many, "one-more.txt", "x"); !errors.Is(err, ErrFull) {
		t.Errorf("the %d. file: got %v, want ErrFull", MaxFiles+1, err)
	}
	if err := write(t, many, "n7.txt", "changed"); err != nil {
		t.Errorf("changing one of them: %v", err)
	}
}

func TestLimitsOfTheEnvironmentAreKept(t *testing.T) {
	dir := t.TempDir()
	s := New(dir, Options{MaxRead: 10, MaxEntries: 2})
	for _, n := range []string{"a", "b", "c"} {
		if err := write(t, s, n+".txt", "0123456789a"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := read(t, s, "a.txt"); err == nil || !strings.Contains(err.Error(), "10 bytes") {
		t.Errorf("11 bytes where 10 may be read: got %v", err)
	}
	out, err := call(t, s, "read_file", map[string]any{"path": "."})
	if err != nil || !strings.Contains(out, `"more":true`) || strings.Count(out, "path") != 2 {
		t.Errorf("three files where two may be listed: %s, %v", out, err)
	}
}

func TestTwoWritersLoseNoLine(t *testing.T) {
	s := New(t.TempDir(), Options{})
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 25 {
				if _, err := call(t, s, "write_file", map[string]any{"path": "log.txt", "content": "line\n", "append": true}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if got, err := read(t, s, "log.txt"); err != nil || got != strings.Repeat("line\n", 100) {
		t.Errorf("%d lines, %v, want 100", strings.Count(got, "\n"), err)
	}
}

func FuzzNoPathLeadsOut(f *testing.F) {
	for _, p := range []string{"a.txt", "../x", "a/../../x", "/x", "a\\..\\x", "con", "a\x00b", "…/x", ".", "a/./b"} {
		f.Add(p)
	}
	above := f.TempDir()
	dir := filepath.Join(above, "sandbox")
	s := New(dir, Options{})
	f.Fuzz(func(t *testing.T, p string) {
		if err := write(t, s, p, "x"); err == nil {
			if got, err := read(t, s, p); err != nil || got != "x" {
				t.Errorf("%q was written and reads as %q, %v", p, got, err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		beside, err := os.ReadDir(above)
		if err != nil || len(beside) > 1 || len(beside) == 1 && beside[0].Name() != "sandbox" {
			t.Fatalf("%q made %v beside the sandbox, %v", p, beside, err)
		}
	})
}
