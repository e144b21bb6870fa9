package improviser_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/engine/llm/improviser"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// belt are the tools that NPCs of the talks may have.
var belt = []mcp.Tool{
	{Name: "roll", Schema: json.RawMessage(`{"type":"object","properties":{"expression":{"type":"string"},"advantage":{"type":"string","enum":["none","adv","dis"]},"repeat":{"type":"integer"}},"required":["expression"]}`)},
	{Name: "roll_table", Schema: json.RawMessage(`{"type":"object","properties":{"table_name":{"type":"string","enum":["random_encounter","rumors","strangers","tonights-pot","wild_magic"]}},"required":["table_name"]}`)},
	{Name: "search_rules", Estimated: 300 * time.Millisecond, Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)},
	{Name: "get_rule", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`)},
	{Name: "query_entities", Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"type":{"type":"string","enum":["npc","location"]}}}`)},
	{Name: "get_summary", Schema: json.RawMessage(`{"type":"object","properties":{"entity_id":{"type":"string"},"session_id":{"type":"string"}}}`)},
	{Name: "search_sessions", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"session_id":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)},
	{Name: "sky__weather_forecast", Server: "sky", ReadOnly: true, Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
	{Name: "sky__change_weather", Server: "sky", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
}

func tools(names string) []mcp.Tool {
	var out []mcp.Tool
	for _, t := range belt {
		if slices.Contains(strings.Fields(names), t.Name) {
			out = append(out, t)
		}
	}
	return out
}

func persona(t testing.TB, name string) improviser.Persona {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var p improviser.Persona
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// answer runs one round.
func answer(t testing.TB, m engine.Model, r engine.Request) (text string, calls []engine.Call) {
	t.Helper()
	done := false
	for d, err := range m.Stream(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		if done {
			t.Fatal("a delta after Done")
		}
		text, calls, done = text+d.Text, append(calls, d.Calls...), d.Done
	}
	if !done {
		t.Fatal("the stream ended without Done")
	}
	return text, calls
}

// A talk is a conversation that is being checked.
type talk struct {
	t       *testing.T
	persona improviser.Persona
	model   *improviser.Model
	request engine.Request
	where   string // file and line
	reply   string
	calls   []engine.Call
}

func (k *talk) hear(speaker, line string) {
	k.request.Messages = append(k.request.Messages, engine.Message{Role: engine.User, Name: speaker, Text: line})
	k.round()
}

func (k *talk) round() {
	k.reply, k.calls = answer(k.t, k.model, k.request)
	k.request.Messages = append(k.request.Messages, engine.Message{Role: engine.Assistant, Text: k.reply, Calls: k.calls})
	k.t.Logf("%s  %s: %s %s", k.where, k.persona.Name, k.reply, callText(k.calls))
}

func callText(calls []engine.Call) string {
	var out []string
	for _, c := range calls {
		out = append(out, "["+c.Name+" "+string(c.Args)+"]")
	}
	return strings.Join(out, " ")
}

// expect checks one line of expectations.
func (k *talk) expect(what, value string) {
	low := strings.ToLower(k.reply)
	switch what {
	case "says":
		if !slices.ContainsFunc(k.persona.Lines[value], func(l string) bool { return fits(k.reply, l) }) {
			k.t.Errorf("%s: %q is none of the lines for %s", k.where, k.reply, value)
		}
	case "has":
		if !strings.Contains(low, strings.ToLower(value)) {
			k.t.Errorf("%s: %q does not have %q", k.where, k.reply, value)
		}
	case "lacks":
		if strings.Contains(low, strings.ToLower(value)) {
			k.t.Errorf("%s: %q has %q", k.where, k.reply, value)
		}
	case "calls":
		name, args, _ := strings.Cut(value, " ")
		if len(k.calls) != 1 || k.calls[0].Name != name || !includes(k.calls[0].Args, args) {
			k.t.Errorf("%s: called %s, want %s", k.where, callText(k.calls), value)
		}
	case "calls-nothing":
		if len(k.calls) > 0 {
			k.t.Errorf("%s: called %s, want nothing", k.where, callText(k.calls))
		}
	case "gets":
		if len(k.calls) == 0 {
			k.t.Errorf("%s: nothing was called, but there is a result", k.where)
			return
		}
		k.request.Messages = append(k.request.Messages, engine.Message{Role: engine.ToolRole, Name: k.calls[0].Name, CallID: k.calls[0].ID, Text: value})
		k.round()
	default:
		k.t.Fatalf("%s: nothing is expected by %q", k.where, what)
	}
}

// fits reports whether text is, or begins with, a line whose slots were filled.
func fits(text, line string) bool {
	for {
		before, rest, slot := strings.Cut(line, "{")
		i := strings.Index(text, before)
		if i < 0 {
			return false
		}
		if !slot {
			return true
		}
		text = text[i+len(before):]
		_, line, _ = strings.Cut(rest, "}")
	}
}

// includes reports whether args has all the fields of want.
func includes(args json.RawMessage, want string) bool {
	if want == "" {
		return true
	}
	var a, w map[string]string
	if json.Unmarshal(args, &a) != nil || json.Unmarshal([]byte(want), &w) != nil {
		return false
	}
	for key, value := range w {
		if !strings.Contains(a[key], value) {
			return false
		}
	}
	return true
}

// TestTalksGoAsWritten plays the talks in testdata. In a talk, a line without
// indentation is a player's, and the indented ones below it are what the answer
// must be. "persona" and "tools" begin a new talk.
func TestTalksGoAsWritten(t *testing.T) {
	files, err := filepath.Glob("testdata/*.talk")
	if err != nil || len(files) == 0 {
		t.Fatalf("no talks: %v", err)
	}
	lines := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			k := &talk{t: t}
			number := 0
			for sc := bufio.NewScanner(f); sc.Scan(); {
				number++
				k.where = filepath.Base(file) + ":" + strconv.Itoa(number)
				line := sc.Text()
				what, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				switch {
				case what == "" || strings.HasPrefix(what, "#"):
				case strings.HasPrefix(line, " "):
					k.expect(what, value)
				case what == "persona":
					k.persona = persona(t, value)
					k.model = improviser.New(k.persona, 1)
					k.request = engine.Request{System: "You are " + k.persona.Name}
				case what == "tools":
					k.request.Tools = tools(value)
				default:
					speaker, said, ok := strings.Cut(line, ": ")
					if !ok {
						t.Fatalf("%s: a line without a speaker", k.where)
					}
					lines++
					t.Logf("%s  %s", k.where, line)
					k.hear(speaker, said)
				}
			}
		})
	}
	if lines < 200 {
		t.Errorf("%d lines in all talks, want at least 200", lines)
	}
}
