package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What the tools of this file ask for.
var (
	askName  = &sdk.ElicitParams{Message: "What is your name?", RequestedSchema: object("name")}
	askColor = &sdk.ElicitParams{Message: "Step 2: What is your favorite color?", RequestedSchema: object("color")}
	askOK    = &sdk.ElicitParams{Message: "Please confirm", RequestedSchema: json.RawMessage(
		`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`)}
	askContext = &sdk.ElicitParams{Message: "What context should the prompt use?", RequestedSchema: object("context")}
	askRoots   = &sdk.ListRootsParams{}
)

// askModel asks the client's model.
func askModel(prompt string, tokens int64) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: tokens, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: prompt}}}}
}

// replies are what a client answered, by the names of the questions.
type replies sdk.InputResponseMap

// word is what was typed into a field of an accepted form; "" for anything else.
func (r replies) word(question, field string) string {
	e, ok := r[question].(*sdk.ElicitResult)
	if !ok || e.Action != "accept" {
		return ""
	}
	s, _ := e.Content[field].(string)
	return s
}

// agreed says whether a form was accepted.
func (r replies) agreed(question string) bool {
	e, ok := r[question].(*sdk.ElicitResult)
	return ok && e.Action == "accept"
}

// model is what the client's model said.
func (r replies) model(question string) string {
	m, ok := r[question].(*sdk.CreateMessageWithToolsResult)
	if !ok {
		return ""
	}
	for _, c := range m.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

func (r replies) roots(question string) (uris []string, ok bool) {
	l, ok := r[question].(*sdk.ListRootsResult)
	if !ok {
		return nil, false
	}
	for _, root := range l.Roots {
		uris = append(uris, root.URI)
	}
	return uris, true
}

// A round is a call as a tool that asks questions sees it: what was answered, and
// what the tool itself noted the last time.
type round struct {
	replies
	note string
	can  *sdk.ClientCapabilities
}

// ask is a result that asks, with a note to be sent back.
func ask(note string, questions sdk.InputRequestMap) *sdk.CallToolResult {
	r := &sdk.CallToolResult{InputRequests: questions}
	if note != "" {
		r.RequestState = seal(note)
	}
	return r
}

// key signs notes: they travel through a client that may change them.
var key = func() []byte {
	k := make([]byte, 32)
	_, _ = rand.Read(k) // never fails
	return k
}()

func seal(note string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(note))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)) + "." + note
}

// unseal returns a note that is as it was written.
func unseal(state string) (note string, ok bool) {
	_, note, _ = strings.Cut(state, ".")
	return note, hmac.Equal([]byte(state), []byte(seal(note)))
}

// addRounds offers the tools and the prompt that ask by answering with questions,
// as the revision 2026-07-28 does.
func addRounds(s *sdk.Server) {
	tool := func(name string, step func(round) *sdk.CallToolResult) {
		addTool(s, "test_input_required_result_"+name, noArgs, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			now := round{replies: replies(r.Params.InputResponses), can: r.ClientCapabilities()}
			if r.Params.RequestState != "" {
				var ok bool
				if now.note, ok = unseal(r.Params.RequestState); !ok {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is not what was sent"}
				}
			}
			return step(now), nil
		})
	}
	tool("elicitation", func(r round) *sdk.CallToolResult {
		if name := r.word("user_name", "name"); name != "" {
			return say("Hello, %s!", name)
		}
		return ask("", sdk.InputRequestMap{"user_name": askName})
	})
	tool("sampling", func(r round) *sdk.CallToolResult {
		if text := r.model("capital_question"); text != "" {
			return say("The model says: %s", text)
		}
		return ask("", sdk.InputRequestMap{"capital_question": askModel("What is the capital of France?", 100)})
	})
	tool("list_roots", func(r round) *sdk.CallToolResult {
		if uris, ok := r.roots("client_roots"); ok {
			return say("Roots: %s", strings.Join(uris, " "))
		}
		return ask("", sdk.InputRequestMap{"client_roots": askRoots})
	})
	for _, name := range []string{"request_state", "tampered_state"} {
		tool(name, func(r round) *sdk.CallToolResult {
			if r.note == "asked" && r.agreed("confirm") {
				return say("state-ok")
			}
			return ask("asked", sdk.InputRequestMap{"confirm": askOK})
		})
	}
	tool("multiple_inputs", func(r round) *sdk.CallToolResult {
		uris, ok := r.roots("client_roots")
		name, greeting := r.word("user_name", "name"), r.model("greeting")
		if ok && name != "" && greeting != "" && r.note == "asked" {
			return say("%s %s, of %d roots", greeting, name, len(uris))
		}
		return ask("asked", sdk.InputRequestMap{
			"user_name": askName, "greeting": askModel("Generate a greeting", 50), "client_roots": askRoots,
		})
	})
	tool("multi_round", func(r round) *sdk.CallToolResult {
		color, name, second := r.word("step2", "color"), "", false
		if name, second = strings.CutPrefix(r.note, "name "); second && color != "" {
			return say("%s likes %s", name, color)
		}
		if name := r.word("step1", "name"); r.note == "begun" && name != "" {
			return ask("name "+name, sdk.InputRequestMap{"step2": askColor})
		}
		return ask("begun", sdk.InputRequestMap{"step1": askName})
	})
	tool("capabilities", func(r round) *sdk.CallToolResult {
		questions := sdk.InputRequestMap{}
		if r.can != nil && r.can.Elicitation != nil {
			questions["user_name"] = askName
		}
		if r.can != nil && r.can.Sampling != nil {
			questions["greeting"] = askModel("Generate a greeting", 50)
		}
		if len(questions) == 0 || len(r.replies) > 0 {
			return say("nothing to ask")
		}
		return ask("", questions)
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "asks before it answers"}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if about := replies(r.Params.InputResponses).word("user_context", "context"); about != "" {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Context: " + about}}}}, nil
		}
		return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": askContext}}, nil
	})
}
