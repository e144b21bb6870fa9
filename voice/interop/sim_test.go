//go:build interop

package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// A program is 'glyphoxa sim': the whole bot on a Discord of its own, in a process
// of its own.
type program struct {
	t  *testing.T
	in io.Writer
	// lines are what it said; nobody says more than a thousand in a test.
	lines chan string
}

func startSim(t *testing.T) *program {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "glyphoxa")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../../cmd/glyphoxa")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The test's own context ends before the program is asked to.
	ctx, kill := context.WithTimeout(context.WithoutCancel(t.Context()), 5*limit)
	cmd := exec.CommandContext(ctx, bin, "sim", "-offline", "-campaign", "../../cmd/glyphoxa/testdata/inn", "-data", t.TempDir())
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, in: in, lines: make(chan string, 1000)}
	var reader sync.WaitGroup
	reader.Go(func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			t.Log("sim:", s.Text())
			p.lines <- s.Text()
		}
	})
	t.Cleanup(func() {
		fmt.Fprintln(in, "quit")
		in.Close()
		reader.Wait()
		defer kill()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// do lets something happen and waits for the answer that begins like this.
func (p *program) do(what, like string) (answer string) {
	p.t.Helper()
	fmt.Fprintln(p.in, what)
	over := time.After(limit)
	for {
		select {
		case answer := <-p.lines:
			if strings.HasPrefix(answer, like) {
				return answer
			}
		case <-over:
			p.t.Fatalf("%s: never answered %q", what, like)
		}
	}
}

// line is a sentence in a voice that the basic recogniser understands.
func line(t *testing.T, text string) []int16 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "line.wav")
	if out, err := exec.CommandContext(t.Context(), "flite", "-voice", "rms", "-t", text, "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("flite, which 'make deps' installs: %v\n%s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := pcm.ReadWAV(bytes.NewReader(b), pcm.Rate, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return append(samples, make([]int16, pcm.Rate/5)...)
}

func TestDiscordJSPlayerAsksTheWholeBotAndHearsItsAnswer(t *testing.T) {
	p := startSim(t)
	p.do("commands", "/")
	var at struct{ User, Token, API, Bot, Guild, Channel, Certificate string }
	if err := json.Unmarshal([]byte(p.do("login Mira", "{")), &at); err != nil {
		t.Fatal(err)
	}
	certificate, err := os.ReadFile(at.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	n := startNode(t, certificate)
	user := number(at.User)
	n.ask(request{Op: "login", User: at.User, Token: at.Token, API: at.API})
	n.event("logged in", user)
	p.do("/session start", ">")
	fmt.Fprintln(p.in, "as Mira")
	p.do("/privacy optin", "> (only you) The NPCs hear you")
	n.ask(request{Op: "enter", User: at.User, Guild: at.Guild, Channel: at.Channel})
	n.event("ready", user)
	n.ask(request{Op: "hear", User: at.User, From: at.Bot})
	n.event("hearing", user)
	n.ask(request{Op: "speak", User: at.User, Packets: packets(t, line(t, "Bartok, roll the dice for me."))})
	answer := decoded(t, n.event("heard", user).Packets, pcm.HearRate)
	if long, level := time.Duration(len(answer))*time.Second/pcm.HearRate, pcm.Level(answer); long < 500*time.Millisecond || level < -45 {
		t.Errorf("the answer lasts %v at %.0f dB, want a sentence", long, level)
	}
}
