package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// pause is long enough that two messages are seen to be two.
const pause = 50 * time.Millisecond

// wait waits that long, or until ctx ends.
func wait(ctx context.Context) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// addBehaviour offers the tools that do something besides answering.
func addBehaviour(s *sdk.Server) {
	addTool(s, "test_error_handling", noArgs, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := say("This tool intentionally returns an error for testing")
		r.IsError = true
		return r, nil
	})
	addTool(s, "test_tool_with_logging", noArgs, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for i, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if i > 0 {
				if err := wait(ctx); err != nil {
					return nil, err
				}
			}
			if err := log(ctx, r, text); err != nil {
				return nil, err
			}
		}
		return say("Three messages were logged."), nil
	})
	addTool(s, "test_logging_tool", noArgs, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say("Something was logged, for those who asked."), log(ctx, r, "the tool ran")
	})
	addTool(s, "test_tool_with_progress", noArgs, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		token := r.Params.GetProgressToken()
		for i := range 3 {
			if i > 0 {
				if err := wait(ctx); err != nil {
					return nil, err
				}
			}
			if token == nil {
				continue
			}
			if err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(50 * i), Total: 100}); err != nil {
				return nil, err
			}
		}
		return say("Done."), nil
	})
	addTool(s, "test_reconnection", noArgs, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if r.Extra != nil && r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: pause / 5})
		}
		if err := wait(ctx); err != nil {
			return nil, err
		}
		return say("You came back for this."), nil
	})
	addTool(s, "test_streaming_elicitation", noArgs, answer(&sdk.TextContent{Text: "A stream of answers holds no questions."}))
	addTool(s, "test_missing_capability", noArgs, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if c := r.ClientCapabilities(); c != nil && c.Sampling != nil {
			return say("The client has a model."), nil
		}
		data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client's model is needed", Data: data}
	})
	addTool(s, "test_x_mcp_header", json.RawMessage(
		`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]}`),
		answer(&sdk.TextContent{Text: "The header says what the body says."}))
	addTool(s, "json_schema_2020_12_tool", json.RawMessage(everyKeyword), answer(&sdk.TextContent{Text: "Matches."}))
	// Adding what is there already announces a change.
	addTool(s, "test_trigger_tool_change", noArgs, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		addTool(s, "test_changed", noArgs, answer())
		return say("The tools have changed."), nil
	})
	addTool(s, "test_trigger_prompt_change", noArgs, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddPrompt(&sdk.Prompt{Name: "test_changed", Description: "announces a change by being added"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{}, nil
		})
		return say("The prompts have changed."), nil
	})
}

// log sends a message to clients that want such.
func log(ctx context.Context, r *sdk.CallToolRequest, text string) error {
	return r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: text})
}

// everyKeyword is a schema with the keywords of JSON Schema 2020-12 that must
// come through a server as they were written.
const everyKeyword = `{
	"$schema":"https://json-schema.org/draft/2020-12/schema",
	"type":"object",
	"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
	"properties":{
		"name":{"type":"string"},
		"address":{"$ref":"#/$defs/address"},
		"contactMethod":{"type":"string","enum":["phone","email"]},
		"phone":{"type":"string"},
		"email":{"type":"string"}
	},
	"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
	"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
	"then":{"required":["phone"]},
	"else":{"required":["email"]},
	"additionalProperties":false
}`
