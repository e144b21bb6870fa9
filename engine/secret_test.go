package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestASecretCannotBePrinted(t *testing.T) {
	s := NewSecret("hunter2")
	type holder struct{ Key Secret }
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb, s)
		fmt.Fprintf(&out, verb, &s)
		fmt.Fprintf(&out, verb, holder{s})
		fmt.Fprintf(&out, verb, []Secret{s})
		fmt.Fprintf(&out, verb, map[Secret]Secret{s: s})
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "key", s, "in", holder{s})
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "key", s, "in", holder{s})
	for name, marshal := range map[string]func(any) ([]byte, error){"json": json.Marshal, "yaml": yaml.Marshal} {
		b, err := marshal(holder{s})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out.Write(b)
	}
	for _, leak := range []string{"hunter2", fmt.Sprintf("%x", "hunter2"), fmt.Sprintf("%X", "hunter2")} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q leaked:\n%s", leak, out.String())
		}
	}
	if s.Reveal() != "hunter2" {
		t.Error("Reveal does not open it")
	}
}
