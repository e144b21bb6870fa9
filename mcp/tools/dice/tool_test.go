package dice

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// call runs one of the tools.
func call(t *testing.T, tools []mcp.Builtin, name, args string) (string, error) {
	t.Helper()
	for _, tool := range tools {
		if tool.Name == name {
			return tool.Call(t.Context(), mcp.Caller{}, json.RawMessage(args))
		}
	}
	t.Fatalf("no tool %s", name)
	return "", nil
}

func TestToolsAnswerInJSON(t *testing.T) {
	tools, err := Tools(ToolOptions{Roller: NewSeeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := call(t, tools, "roll", `{"expression":"2d6+3 >= 2","advantage":"none"}`)
	var one Result
	if err != nil || json.Unmarshal([]byte(got), &one) != nil || one.Total != 1 || len(one.Dice) != 2 || !strings.Contains(got, ">=") {
		t.Errorf("got %s, %v", got, err)
	}
	got, err = call(t, tools, "roll", `{"expression":"d20","advantage":"adv"}`)
	if err != nil || !strings.Contains(got, `"canonical":"2d20kh1"`) {
		t.Errorf("got %s, %v", got, err)
	}
	got, err = call(t, tools, "roll", `{"expression":"4d6kh3","repeat":6}`)
	var many struct{ Rolls []Result }
	if err != nil || json.Unmarshal([]byte(got), &many) != nil || len(many.Rolls) != 6 {
		t.Errorf("got %s, %v", got, err)
	}
	got, err = call(t, tools, "roll", `{"expression":"D%"}`)
	if err != nil || !strings.Contains(got, `"canonical":"1d100"`) {
		t.Errorf("spoken d%%: got %s, %v", got, err)
	}
	got, err = call(t, tools, "roll_table", `{"table_name":"wild_magic"}`)
	var drawn TableResult
	if err != nil || json.Unmarshal([]byte(got), &drawn) != nil || drawn.Table != "wild_magic" || drawn.Result == "" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestToolsRefuseBadArguments(t *testing.T) {
	tools, err := Tools(ToolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"roll", `{}`}, {"roll", `{"expression":""}`}, {"roll", `{"expression":"1d"}`}, {"roll", `{"expression":5}`},
		{"roll", `{"expression":"1d20","advantage":"maybe"}`}, {"roll", `{"expression":"1d20","repeat":21}`},
		{"roll", `{"expression":"1d20","repeat":-1}`}, {"roll", `{"expression":"` + strings.Repeat("1+", 200) + `1"}`},
		{"roll", `{"expression":"1000d6","repeat":2`}, {"roll_table", `{}`}, {"roll_table", `{"table_name":"nope"}`},
		{"roll_table", `{"table_name":"../wild_magic"}`}, {"roll_table", `[]`},
	} {
		if got, err := call(t, tools, c[0], c[1]); err == nil {
			t.Errorf("%s %s: got %s", c[0], c[1], got)
		}
	}
}

func TestToolsDeclareWhatTheyAre(t *testing.T) {
	tools, err := Tools(ToolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if !json.Valid(tool.Schema) || tool.Idempotent || tool.Cache != 0 || !tool.ReadOnly || tool.Max > mcp.Fast.Budget() {
			t.Errorf("%+v", tool.Tool)
		}
	}
}
