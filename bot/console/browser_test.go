package console_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/bot/console"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// chromium is Debian's, or the reason why there is no browser to test with.
func chromium(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the page was not tried in a browser: -short leaves it out")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("the page was not tried in a browser: install chromium")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("the page was not tried in a browser: install nodejs and npm")
	}
	if _, err := os.Stat("browser/node_modules/playwright-core"); errors.Is(err, os.ErrNotExist) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		install := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts")
		install.Dir = "browser"
		if out, err := install.CombinedOutput(); err != nil {
			t.Skipf("the page was not tried in a browser: npm ci in bot/console/browser: %v\n%s", err, out)
		}
	}
	return path
}

// browse runs one story of the browser folder.
func browse(t *testing.T, script string, given map[string]any) {
	t.Helper()
	given["chromium"] = chromium(t)
	given["pictures"] = t.ArtifactDir()
	arg, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", script, string(arg))
	cmd.Dir = "browser"
	cmd.WaitDelay = time.Second // Chromium's children may hold the pipe
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
}

// tone writes two seconds of a sine wave.
func tone(t *testing.T, hertz float64) string {
	t.Helper()
	samples := make([]int16, 2*pcm.Rate)
	for i := range samples {
		samples[i] = int16(12000 * math.Sin(2*math.Pi*hertz*float64(i)/pcm.Rate))
	}
	path := filepath.Join(t.TempDir(), "tone.wav")
	if err := os.WriteFile(path, pcm.EncodeWAV(pcm.Rate, samples), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// recorder is a tavern that keeps what it hears.
type recorder struct {
	*tavern
	mu    sync.Mutex // guards sound
	sound map[string][]int16
}

func (r *recorder) Listen(ctx context.Context, who bot.Person, frames iter.Seq[[]int16]) error {
	return r.tavern.Listen(ctx, who, func(yield func([]int16) bool) {
		for f := range frames {
			r.mu.Lock()
			r.sound[who.Name] = append(r.sound[who.Name], f...)
			r.mu.Unlock()
			if !yield(f) {
				return
			}
		}
	})
}

// hertz is the frequency of what was heard, by its zero crossings. The first
// fifth of a second is left out: there the browser's own filters settle.
func (r *recorder) hertz(name string) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sound[name]
	s = s[min(len(s), pcm.HearRate/5):]
	crossings := 0
	for i := 1; i < len(s); i++ {
		if s[i-1] < 0 && s[i] >= 0 {
			crossings++
		}
	}
	return float64(crossings) * pcm.HearRate / float64(max(1, len(s)))
}

func (r *recorder) XCard(_ context.Context, _ bot.Person, on bool) error {
	r.tavern.mu.Lock()
	r.state.Stopped = on
	r.tavern.mu.Unlock()
	r.happen(bot.Event{Alert: &bot.Alert{Text: fmt.Sprintf("X-card: %t", on)}})
	return nil
}

// TestPageInChromium tells the stories of browser/table.mjs.
func TestPageInChromium(t *testing.T) {
	r := &recorder{tavern: newTavern(), sound: map[string][]int16{}}
	c := console.New(r, console.Options{})
	srv := httptest.NewServer(c)
	t.Cleanup(func() { c.Close(); srv.Close() })

	control := http.NewServeMux()
	on := func(path string, do func(q url.Values) string) {
		control.HandleFunc("POST "+path, func(w http.ResponseWriter, req *http.Request) {
			fmt.Fprint(w, do(req.URL.Query()))
		})
	}
	number := func(q url.Values, name string) int {
		n, err := strconv.Atoi(q.Get(name))
		if err != nil {
			t.Error(err)
		}
		return n
	}
	on("/lines", func(q url.Values) string {
		for i := number(q, "from"); i < number(q, "to"); i++ {
			r.says(strconv.Itoa(i), "Jonas", fmt.Sprint("line ", i))
		}
		return ""
	})
	on("/cut", func(url.Values) string { srv.CloseClientConnections(); return "" })
	on("/deeds", func(url.Values) string { return strings.Join(r.done(), "; ") })
	on("/fail", func(q url.Values) string {
		r.tavern.mu.Lock()
		defer r.tavern.mu.Unlock()
		if r.fail = nil; q.Get("with") != "" {
			r.fail = errors.New(q.Get("with"))
		}
		return ""
	})
	on("/speaking", func(q url.Values) string {
		n := r.State().NPCs[0]
		n.State = bot.Speaking
		r.happen(bot.Event{NPC: &n})
		return ""
	})
	on("/sound", func(q url.Values) string {
		tick := time.NewTicker(pcm.FrameTime)
		defer tick.Stop()
		frame := make([]int16, pcm.FrameSize)
		for i := range frame {
			frame[i] = int16(8000 * math.Sin(float64(i)/20))
		}
		for range number(q, "frames") {
			r.play(bot.Sound{NPC: "bartok", Line: "1", Samples: frame})
			<-tick.C
		}
		return ""
	})
	on("/flush", func(url.Values) string { r.play(bot.Sound{NPC: "bartok", Flush: true}); return "" })
	on("/tone", func(q url.Values) string { return fmt.Sprintf("%.1f", r.hertz(q.Get("name"))) })
	on("/payloads", func(url.Values) string {
		for i, p := range payloads {
			p = strings.ReplaceAll(p, "alert(1)", "window.pwned=1")
			r.happen(bot.Event{Line: &bot.Line{ID: fmt.Sprint("payload-", i), Speaker: bot.Person{ID: p, Name: p}, Text: p, Why: p, To: []string{p}, Final: true}})
			r.happen(bot.Event{Alert: &bot.Alert{Text: p}})
			r.happen(bot.Event{Tool: &bot.Tool{Turn: uint64(i), NPC: p, Name: p, Args: p, Result: p, Error: p, Done: true}})
		}
		r.says("payload-end", "Jonas", "that was all")
		return ""
	})
	on("/evening", func(url.Values) string { r.evening(); return "" })
	on("/close", func(url.Values) string { c.Close(); return "" })
	ctl := httptest.NewServer(control)
	t.Cleanup(ctl.Close)

	browse(t, "table.mjs", map[string]any{
		"dm": c.Link(srv.URL, console.DM, ""), "player": c.Link(srv.URL, console.Player, "Mira"),
		"control": ctl.URL, "microphone": tone(t, 440), "tone": 440,
	})
}

// evening fills the page with what a lively evening shows.
func (t *tavern) evening() {
	mira := bot.Person{ID: "player-mira", Name: "Mira"}
	bartok := bot.Person{ID: "bartok", Name: "Bartok the Barkeep", NPC: true}
	for _, e := range []bot.Event{
		{Line: &bot.Line{ID: "e1", Speaker: mira, Text: "Did anybody bring the crisps?", Final: true, Why: "nobody: talk at the table"}},
		{Line: &bot.Line{ID: "e2", Speaker: mira, Text: "Bartok, who is that by the fire?", Final: true, Typed: true, To: []string{"bartok"}, Why: "name 0.97"}},
		{Line: &bot.Line{ID: "e3", Speaker: bartok, Text: "Calls himself Thorn. Paid in old silver, and hasn't", Coming: "taken his hood off.", Cut: true, Final: true}},
		{Line: &bot.Line{ID: "e4", Speaker: bartok, Text: "What I was saying:", Coming: "he has not taken his hood off."}},
		{Tool: &bot.Tool{Turn: 7, NPC: "bartok", Name: "roll", Args: `{"dice":"2d6+3"}`, Result: "2d6 (4, 5) + 3 = 12", Took: 640 * time.Microsecond, Done: true}},
		{Tool: &bot.Tool{Turn: 7, NPC: "bartok", Name: "weather", Error: "the server does not answer", Took: time.Second, Done: true, Tier: mcp.Deep}},
		{Turn: &bot.Turn{ID: 7, NPC: "bartok", Tier: mcp.Standard, Why: "a roll was asked for", Brain: "improviser", Heard: 180 * time.Millisecond, Routed: 181 * time.Millisecond,
			FirstToken: 410 * time.Millisecond, FirstSentence: 520 * time.Millisecond, FirstSound: 690 * time.Millisecond, Ended: 6 * time.Second, Done: true}},
		{Alert: &bot.Alert{Text: "The tool server “weather” does not answer: its tools are hidden.", Bad: true}},
	} {
		t.happen(e)
	}
}

// TestPlayInChromium tells browser/play.mjs to the program itself: somebody types,
// hears Bartok answer, talks over him with a microphone, and closes the table.
func TestPlayInChromium(t *testing.T) {
	for _, tool := range []string{"flite", "espeak-ng", "pocketsphinx_continuous"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the program was not tried in a browser: install %s", tool)
		}
	}
	chromium(t) // before anything is built
	dir := t.TempDir()
	bin, question := filepath.Join(dir, "glyphoxa"), filepath.Join(dir, "question.wav")
	command := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	command("go", "build", "-o", bin, "github.com/glyphoxa/glyphoxa/cmd/glyphoxa")
	command("flite", "-voice", "rms", "-t", "Bartok, roll the dice for me.", "-o", question)

	// Somebody who draws breath before the question and waits after it: Chromium
	// plays the file again and again while the microphone is open.
	f, err := os.Open(question)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := pcm.ReadWAV(f, pcm.HearRate, time.Minute)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	breath := make([]int16, pcm.HearRate)
	samples = slices.Concat(breath, samples, breath, breath, breath, breath, breath, breath)
	if err := os.WriteFile(question, pcm.EncodeWAV(pcm.HearRate, samples), 0o600); err != nil {
		t.Fatal(err)
	}

	program := exec.Command(bin, "play", "-offline", "-v", "-data", filepath.Join(dir, "data"), "-listen", "127.0.0.1:0")
	var log bytes.Buffer
	program.Stderr = &log
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Process.Kill() }) // fails once it has ended by itself
	link := ""
	said := bufio.NewScanner(out)
	for link == "" && said.Scan() {
		if line := strings.TrimSpace(said.Text()); strings.Contains(line, "/login?token=") {
			link = line
		}
	}
	if link == "" {
		t.Fatalf("glyphoxa play printed no link\n%s", log.String())
	}
	browse(t, "play.mjs", map[string]any{"dm": link, "microphone": question})

	// Ctrl-C ends the last sentence and exits with 0.
	if err := program.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for said.Scan() {
		continue // to its end, or the program could not write
	}
	if err := program.Wait(); err != nil {
		t.Errorf("glyphoxa play ended with %v\n%s", err, log.String())
	}
}
