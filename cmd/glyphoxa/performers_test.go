package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/engine/enginetest"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/memory/sqlite"
	"github.com/glyphoxa/glyphoxa/secret"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// innOf is the test's inn with its keeper played by a speech-to-speech model, and a
// configuration that knows where that is.
func innOf(t *testing.T, provider, url string) (config string) {
	t.Helper()
	dir := t.TempDir()
	b, err := os.ReadFile("testdata/inn/campaign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b), "    name: Bartok the Barkeep\n", "    name: Bartok the Barkeep\n    engine: s2s\n", 1)
	if text == string(b) {
		t.Fatal("the keeper is not where he was")
	}
	t.Setenv("TEST_S2S_KEY", "hunter2")
	config = filepath.Join(dir, "glyphoxa.yaml")
	for path, text := range map[string]string{
		filepath.Join(dir, "inn", "campaign.yaml"): text,
		config: fmt.Sprintf("campaign: %s\nllm: {provider: improviser}\nstt: {provider: pocketsphinx}\ns2s: {provider: %s, url: %q, key: \"${TEST_S2S_KEY}\"}\n", filepath.Join(dir, "inn"), provider, url),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config
}

func TestASpokenLineIsAnsweredByTheSpeechToSpeechModelAtTheTable(t *testing.T) {
	needs(t, "flite", "pocketsphinx_continuous")
	const reply = "Seventeen, and not one more."
	answer := func(turns *[]enginetest.Turn) func(enginetest.Turn) enginetest.Answer {
		return func(q enginetest.Turn) enginetest.Answer {
			*turns = append(*turns, q)
			if len(q.Results) == 0 {
				return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: "roll", Args: `{"expression":"1d20"}`}}}
			}
			return enginetest.Answer{Text: reply}
		}
	}
	bin := binary(t)
	for _, provider := range []string{"openai", "gemini"} {
		t.Run(provider, func(t *testing.T) {
			var turns []enginetest.Turn
			server := httptest.NewServer(&enginetest.Realtime{Key: "hunter2", Answer: answer(&turns)})
			if provider == "gemini" {
				server.Config.Handler = &enginetest.Live{Key: "hunter2", Answer: answer(&turns)}
			}
			defer server.Close()
			data, wav := t.TempDir(), filepath.Join(t.TempDir(), "answer.wav")
			stdout, stderr, code := glyphoxa(t, bin, "play", "-config", innOf(t, provider, server.URL), "-data", data,
				"-in", "Mira="+spoken(t, "Bartok, roll the dice for me."), "-out", wav)
			lines := strings.Split(strings.TrimSpace(stdout), "\n")
			if code != 0 || len(lines) != 2 || lines[1] != "Bartok the Barkeep: "+reply {
				t.Fatalf("exit code %d, the transcript is %q\n%s", code, lines, stderr)
			}
			// On a busy machine the roll may come later than the model is asked again.
			if len(turns) < 2 || !slices.Contains(turns[0].Tools, "roll") || !strings.Contains(turns[0].System, "Bartok") || len(turns[len(turns)-1].Results) == 0 {
				t.Fatalf("the model was asked %d times: %+v", len(turns), turns)
			}
			if heard := turns[0].Sound; heard.Duration() < time.Second || pcm.Level(heard.Samples) < -45 {
				t.Errorf("the model heard %v at %.0f dB, want the player's voice", heard.Duration(), pcm.Level(heard.Samples))
			}
			// The tones of the model's own words, not a synthesiser's.
			f, err := os.Open(wav)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			sound, err := pcm.ReadWAV(f, 24000, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			want := len(enginetest.Talk(reply))
			if voiced := strings.Count(fmt.Sprint(loud(sound)), "true"); float64(voiced*480) < 0.6*float64(want) || float64(len(sound)) < 0.9*float64(want) {
				t.Errorf("%d samples with %d voiced frames were recorded, want the model's %d samples", len(sound), voiced, want)
			}
			store, err := sqlite.Open(t.Context(), filepath.Join(data, "memory.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			kept, err := store.Recent(t.Context(), memory.Viewer{Campaign: "inn", Entity: "bartok"}, memory.Window{})
			if err != nil || len(kept) != 2 || kept[1].Text != reply {
				t.Errorf("memory holds %+v (%v), want the line as it was played", kept, err)
			}
		})
	}
}

// loud says of each 20 ms of 24 kHz whether there is a voice in it.
func loud(sound []int16) (out []bool) {
	for frame := range slices.Chunk(sound, 480) {
		out = append(out, pcm.Level(frame) > -40)
	}
	return out
}

func TestWithoutTheSpeechToSpeechModelTheUsualPartsPlay(t *testing.T) {
	needs(t, "flite", "pocketsphinx_continuous")
	bin := binary(t)
	server := &enginetest.Realtime{Key: "another key"}
	listening := httptest.NewServer(server)
	defer listening.Close()
	stdout, stderr, code := glyphoxa(t, bin, "play", "-config", innOf(t, "openai", listening.URL), "-data", t.TempDir(),
		"-in", "Mira="+spoken(t, "Bartok, roll the dice for me."), "-out", filepath.Join(t.TempDir(), "answer.wav"))
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); code != 0 || len(lines) != 2 || !strings.HasPrefix(lines[1], "Bartok the Barkeep: ") {
		t.Errorf("exit code %d, the transcript is %q\n%s", code, lines, stderr)
	}
	if server.Requests() == 0 {
		t.Error("the model was never asked")
	}
}

func TestTheSpeechToSpeechVendorIsFoundByItsKey(t *testing.T) {
	env := func(names ...string) func(string) string {
		return func(name string) string {
			if slices.Contains(names, name) {
				return "k"
			}
			return ""
		}
	}
	for _, c := range []struct {
		name    string
		o       setting
		getenv  func(string) string
		found   bool
		trouble string
	}{
		{"none", setting{}, env(), false, ""},
		{"one", setting{}, env("GEMINI_API_KEY"), true, ""},
		{"not without leave", setting{offline: true}, env("OPENAI_API_KEY"), false, ""},
		{"a name without a key", setting{cfg: config{S2S: provider{Provider: "gemini"}}}, env(), true, "GEMINI_API_KEY"},
		{"nonsense", setting{cfg: config{S2S: provider{Provider: "parrot"}}}, env(), false, "choose auto"},
		{"a bad address", setting{cfg: config{S2S: provider{Provider: "openai", URL: "here", Key: secret.New("k")}}}, env(), true, "wss://"},
	} {
		p, err := findPerformer(c.o, c.getenv)
		if (p.make != nil) != c.found || (err != nil) != (c.trouble != "") || err != nil && !strings.Contains(err.Error(), c.trouble) {
			t.Errorf("%s: found %v, %v", c.name, p.make != nil, err)
		}
	}
}
