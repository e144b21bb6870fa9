package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// simulated plays a script on a Discord of the test's own.
func simulated(t *testing.T, args []string, script ...string) (out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	in := strings.NewReader(strings.Join(script, "\n"))
	if code := sim(t.Context(), append([]string{"-offline", "-data", t.TempDir()}, args...), stdio{in, &stdout, &stderr}); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	return stdout.String()
}

func TestSimulationIsADiscordWithPeopleAndFaults(t *testing.T) {
	dir := t.TempDir()
	said, heard := filepath.Join(dir, "said.wav"), filepath.Join(dir, "heard.wav")
	if err := os.WriteFile(said, pcm.EncodeWAV(pcm.Rate, make([]int16, pcm.Rate/2)), 0o600); err != nil {
		t.Fatal(err)
	}
	out := simulated(t, nil,
		"commands", "/session start", "loss 5", "duplicate 10%", "jitter 20ms", "dress",
		"hear Mira "+heard, "say Mira "+said, "cut bot", "wait 300ms", "spoil Mira 29", "spoil next 30", "admit Odo", "login Odo",
		"garbage bot 70", "tell", "silence on", "silence off", "heartbeats Mira", "clear", "status",
		"as Mira", "/npc mute name=bartok", "elsewhere /help", "press nothing", "complete /npc mute name=ba",
		"leave Mira", "close bot 4015", "posted", "as lead", "/session stop", "quit", "never reached")
	for _, want := range []string{
		"/session start", "begins: The taproom", "2 in the call", "Mira sent ", "The Gilded Flagon",
		`"session":`, `"api":`, "certificate.pem",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "! nothing called") {
			t.Error(line)
		}
		if strings.HasPrefix(line, "{") {
			var ticket map[string]string
			if err := json.Unmarshal([]byte(line), &ticket); err != nil || ticket["token"] == "" {
				t.Errorf("%v: %s", err, line)
			}
		}
	}
	if b, err := os.ReadFile(heard); err != nil || len(b) < 44 {
		t.Errorf("the recording has %d bytes: %v", len(b), err)
	}
}

func TestSimulationSaysWhatItDoesNotUnderstand(t *testing.T) {
	out := simulated(t, nil, "fly", "cut", "loss much", "close bot 5", "spoil bot commit", "garbage bot -1",
		"wait long", "/dance", "say Mira nowhere")
	for _, want := range []string{
		"nothing called \"fly\"", "cut wants 1 words more", "want a percentage", "close code \"5\"", "opcode \"commit\"",
		"\"-1\" datagrams", "invalid duration", "no command /dance", "no such file",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
}

func TestBotRefusesACallThatIsNotEncrypted(t *testing.T) {
	out := simulated(t, []string{"-plain"}, "/session start", "status")
	if !strings.Contains(out, "not end-to-end encrypted") || !strings.Contains(out, " 0 in the call") {
		t.Errorf("no refusal in:\n%s", out)
	}
}
