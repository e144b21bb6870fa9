package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addQuestions offers the tools that ask their client something while it waits,
// as revisions before 2026-07-28 do.
func addQuestions(s *sdk.Server) {
	addTool(s, "test_sampling", object("prompt"), func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in struct{ Prompt string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		m, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{
			MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: in.Prompt}}},
		})
		if err != nil {
			return nil, err
		}
		text, ok := m.Content.(*sdk.TextContent)
		if !ok {
			return nil, errors.New("the client's model did not answer in words")
		}
		return say("LLM response: %s", text.Text), nil
	})
	addTool(s, "test_elicitation", object("message"), func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in struct{ Message string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		return elicit(ctx, r, in.Message, "User response:", `{
			"username":{"type":"string","description":"User's response"},
			"email":{"type":"string","description":"User's email address"}
		},"required":["username","email"]`)
	})
	addTool(s, "test_elicitation_sep1034_defaults", noArgs, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return elicit(ctx, r, "Who are you?", "Elicitation completed:", `{
			"name":{"type":"string","default":"John Doe"},
			"age":{"type":"integer","default":30},
			"score":{"type":"number","default":95.5},
			"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
			"verified":{"type":"boolean","default":true}
		}`)
	})
	addTool(s, "test_elicitation_sep1330_enums", noArgs, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return elicit(ctx, r, "Choose.", "Elicitation completed:", `{
			"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[
				{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
			"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","items":{"anyOf":[
				{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}
		}`)
	})
}

// object is the schema of an object that needs one string.
func object(name string) json.RawMessage {
	return fmt.Appendf(nil, `{"type":"object","properties":{%q:{"type":"string"}},"required":[%[1]q]}`, name)
}

// elicit asks for the given properties and tells what came back.
func elicit(ctx context.Context, r *sdk.CallToolRequest, message, said, properties string) (*sdk.CallToolResult, error) {
	res, err := r.Session.Elicit(ctx, &sdk.ElicitParams{
		Message: message, RequestedSchema: json.RawMessage(`{"type":"object","properties":` + properties + `}`),
	})
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(res.Content)
	if err != nil {
		return nil, err
	}
	return say("%s action=%s, content=%s", said, res.Action, content), nil
}
