package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/stt"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// binary builds the program.
func binary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "glyphoxa")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// needs skips a test on machines without the named programs; 'make deps' installs
// them.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("SKIP: %s is not installed; 'make deps' installs it", p)
		}
	}
}

// spoken records text in a voice that pocketsphinx understands.
func spoken(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spoken.wav")
	if out, err := exec.CommandContext(t.Context(), "flite", "-voice", "rms", "-t", text, "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("flite: %v\n%s", err, out)
	}
	return path
}

// glyphoxa runs the binary and returns what it printed.
func glyphoxa(t *testing.T, bin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestRecordedVoiceGoesInAndAnNPCsVoiceComesOut(t *testing.T) {
	needs(t, "flite", "pocketsphinx_continuous")
	bin, data, answer := binary(t), t.TempDir(), filepath.Join(t.TempDir(), "answer.wav")
	question := spoken(t, "Bartok, roll the dice for me.")
	stdout, stderr, code := glyphoxa(t, bin, "play", "-offline", "-campaign", "testdata/inn", "-data", data,
		"-in", "Mira="+question, "-out", answer)
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "Mira: ") || !strings.HasPrefix(lines[1], "Bartok the Barkeep: ") {
		t.Fatalf("the transcript is %q, want Mira and then Bartok alone", lines)
	}
	reply := strings.TrimPrefix(lines[1], "Bartok the Barkeep: ")
	total, err := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(reply))
	if err != nil || total < 1 || total > 20 {
		t.Errorf("Bartok said %q, want a roll between 1 and 20", reply)
	}

	sound := recording16k(t, answer)
	level := pcm.Level(sound)
	if level < -45 || level > -6 {
		t.Errorf("the answer's level is %.1f dB, want it audible and not clipped", level)
	}
	heard := recognise(t, sound)
	t.Logf("Bartok said %q; recognised back: %q", reply, heard)
	if got := shared(heard, "number want try one more time"); got < 4 {
		t.Errorf("recognised %q, want at least four of the plain words of %q", heard, reply)
	}

	store, err := sqlite.Open(t.Context(), filepath.Join(data, "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	kept, err := store.Recent(t.Context(), memory.Viewer{Campaign: "inn", Entity: "bartok"}, memory.Window{})
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != 2 || kept[0].Speaker.Name != "Mira" || kept[1].Text != reply {
		t.Errorf("memory holds %+v, want both lines", kept)
	}
}

// recording16k reads a recording as a recogniser wants it.
func recording16k(t *testing.T, path string) []int16 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	samples, err := pcm.ReadWAV(bufio.NewReader(f), pcm.HearRate, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

func recognise(t *testing.T, samples []int16) string {
	t.Helper()
	ear, err := stt.NewPocketsphinx()
	if err != nil {
		t.Fatal(err)
	}
	frames := slices.Chunk(append(samples, make([]int16, pcm.HearRate/2)...), pcm.HearSize)
	for text, err := range ear.Hear(t.Context(), engine.Hearing{}, frames) {
		if err != nil {
			t.Fatal(err)
		}
		if text.Final {
			return text.Text
		}
	}
	return ""
}

// shared counts the words of want that heard has.
func shared(heard, want string) (n int) {
	words := strings.Fields(strings.ToLower(heard))
	for w := range strings.FieldsSeq(want) {
		if slices.Contains(words, w) {
			n++
		}
	}
	return n
}

func TestEveryMisuseSaysWhatToDo(t *testing.T) {
	bin, dir := binary(t), t.TempDir()
	broken := filepath.Join(dir, "broken.wav")
	if err := os.WriteFile(broken, []byte("RIFF but not really"), 0o600); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, "dead.yaml")
	if err := os.WriteFile(dead, []byte("mcp:\n  servers:\n    - {name: dead, transport: stdio, command: /no/such/server}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := []string{"-offline", "-data", dir}
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no such command":  {[]string{"paly"}, 2, "help"},
		"broken recording": {append([]string{"play", "-in", broken, "-out", filepath.Join(dir, "a.wav")}, data...), 1, "broken.wav"},
		"no recording":     {append([]string{"play", "-in", "nowhere.wav", "-out", filepath.Join(dir, "a.wav")}, data...), 1, "nowhere.wav"},
		"in without out":   {append([]string{"play", "-in", broken}, data...), 2, "together"},
		"no campaign":      {append([]string{"say", "-campaign", "gilded-flagin", "hello"}, data...), 1, "gilded-flagon"},
		"no such NPC":      {append([]string{"say", "-npc", "Bartek", "hello"}, data...), 1, "Bartok"},
		"nothing said":     {append([]string{"say"}, data...), 2, "TEXT"},
		"too long":         {append([]string{"say", strings.Repeat("word ", 2000)}, data...), 1, "in two"},
		"nobody meant":     {append([]string{"say", "whose turn is it to order the pizza"}, data...), 1, "-npc"},
		"not loopback":     {append([]string{"play", "-listen", "0.0.0.0:0"}, data...), 1, "127.0.0.1"},
		"disk full":        {append([]string{"say", "-npc", "Bartok", "-o", "/dev/full", "hello"}, data...), 1, "no space left"},
		"dead tool server": {append([]string{"say", "-config", dead, "-npc", "Bartok", "hello"}, data...), 0, ""},
		"bad folder":       {[]string{"say", "-offline", "-data", filepath.Join(broken, "x"), "hello"}, 1, "data:"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := glyphoxa(t, bin, tc.args...)
			if code != tc.code || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit code %d, want %d; printed %q and %q, want it to mention %q", code, tc.code, stdout, stderr, tc.want)
			}
		})
	}
}

func TestMachineWithoutVoicesSaysWhatToInstall(t *testing.T) {
	bin, dir := binary(t), t.TempDir()
	t.Setenv("PATH", dir)
	_, stderr, code := glyphoxa(t, bin, "say", "-offline", "-data", dir, "-npc", "Bartok", "-o", filepath.Join(dir, "a.wav"), "hello")
	if code != 1 || !strings.Contains(stderr, "espeak-ng") {
		t.Errorf("exit code %d, printed %q, want it to name espeak-ng", code, stderr)
	}
	stdout, _, code := glyphoxa(t, bin, "say", "-offline", "-data", dir, "-npc", "Bartok", "hello")
	if code != 0 || !strings.HasPrefix(stdout, "Bartok") {
		t.Errorf("without a recording: exit code %d, printed %q, want a written answer", code, stdout)
	}
}

func TestTakenPortIsReplacedAndInterruptEndsTheGame(t *testing.T) {
	bin := binary(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cmd := exec.CommandContext(t.Context(), bin, "play", "-offline", "-data", t.TempDir(), "-listen", taken.Addr().String())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	link := ""
	for lines := bufio.NewScanner(out); lines.Scan() && link == ""; {
		if strings.Contains(lines.Text(), "/login?token=") {
			link = strings.TrimSpace(lines.Text())
		}
	}
	if link == "" || strings.Contains(link, taken.Addr().String()) {
		t.Errorf("the link is %q, want one at a free port", link)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v, want exit code 0", err)
	}
}
