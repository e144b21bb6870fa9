package secret

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSecretsNeverPrint(t *testing.T) {
	const key = "sk-abcdef"
	s := New(key)
	holder := struct{ Key Text }{s}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", s, "all", holder)
	js, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	ym, err := yaml.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q %x %d", s, holder, holder, s, s, s, s), log.String(), string(js), string(ym),
		fmt.Errorf("bad key: %v", s).Error(),
	} {
		if strings.Contains(got, key) || strings.Contains(got, fmt.Sprintf("%x", key)) {
			t.Errorf("the secret was printed: %q", got)
		}
		if !strings.Contains(got, hidden) {
			t.Errorf("got %q, want it to say %s", got, hidden)
		}
	}
	if s.Reveal() != key {
		t.Errorf("Reveal() = %q, want %q", s.Reveal(), key)
	}
}

func TestSecretsComeFromEnvironmentOrFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("from-file\nsecond line"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GLYPHOXA_TEST_KEY", "from-env")
	for in, want := range map[string]string{
		"${GLYPHOXA_TEST_KEY}": "from-env", "${GLYPHOXA_NOT_SET}": "", "file:" + path: "from-file", "": "",
	} {
		var s Text
		if err := s.UnmarshalText([]byte(in)); err != nil || s.Reveal() != want {
			t.Errorf("%q: got %q, %v, want %q", in, s.Reveal(), err, want)
		}
	}
}

func TestLiteralsAreRefusedWithoutRepeatingThem(t *testing.T) {
	var s Text
	for _, in := range []string{"sk-abcdef", "file:/no/such/sk-abcdef-file", "${UNCLOSED"} {
		err := s.UnmarshalText([]byte(in))
		if err == nil {
			t.Fatalf("%q was accepted", in)
		}
		if !strings.HasPrefix(in, "file:") && strings.Contains(err.Error(), in) {
			t.Errorf("the error repeats the secret: %v", err)
		}
	}
}
