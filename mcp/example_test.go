package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// The tool of the tutorial in docs/tools.md.
func weather() []mcp.Builtin {
	return []mcp.Builtin{{
		Tool: mcp.Tool{
			Name:        "get_weather",
			Description: "The in-world weather of a place. Returns conditions and temperature.",
			Schema: json.RawMessage(`{"type":"object","properties":{
				"location":{"type":"string","description":"the place's name in the game"},
				"season":{"type":"string","enum":["spring","summer","autumn","winter"]}
			},"required":["location"],"additionalProperties":false}`),
			Estimated: 10 * time.Millisecond,
			Max:       50 * time.Millisecond,
			Cache:     time.Minute,
			ReadOnly:  true, Idempotent: true,
		},
		Call: getWeather,
	}}
}

func getWeather(_ context.Context, _ mcp.Caller, args json.RawMessage) (string, error) {
	var in struct{ Location, Season string }
	if err := json.Unmarshal(args, &in); err != nil {
		return "", err
	}
	if in.Location == "" {
		return "", errors.New("say which place")
	}
	b, err := json.Marshal(map[string]string{
		"location": in.Location, "conditions": "overcast with arcane lightning", "temperature": "cool",
	})
	return string(b), err
}

func Example() {
	host, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = host.Close() }()
	if err := host.Add(weather()...); err != nil {
		panic(err)
	}
	belt := host.Belt(mcp.Grant{Allow: []string{"get_weather"}, Tier: mcp.Fast})
	fmt.Println(belt.Call(context.Background(), "get_weather", json.RawMessage(`{"location":"Neverwinter"}`)).Text)
	fmt.Println(belt.Call(context.Background(), "get_weather", json.RawMessage(`{"location":""}`)).Text)
	// Output:
	// {"conditions":"overcast with arcane lightning","location":"Neverwinter","temperature":"cool"}
	// Error: say which place
}
