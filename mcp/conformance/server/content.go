package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// noArgs is the schema of a tool without arguments.
var noArgs = json.RawMessage(`{"type":"object","properties":{}}`)

// addTool offers a tool that is its own name's business.
func addTool(s *sdk.Server, name string, schema json.RawMessage, call sdk.ToolHandler) {
	s.AddTool(&sdk.Tool{Name: name, Description: "for the scenario that asks for " + name, InputSchema: schema}, call)
}

// answer is a tool that always says the same.
func answer(c ...sdk.Content) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: c}, nil
	}
}

// say is a result of one sentence.
func say(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// dot is a picture of one pixel.
func dot() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// hush is eight samples of silence as a WAV file.
func hush() []byte {
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt ")
	b = binary.LittleEndian.AppendUint32(b, 16)
	for _, v := range []uint16{1, 1, 8000, 0, 16000, 0, 2, 16} { // PCM, mono, 8 kHz, 16 bits
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = append(b, make([]byte, 16)...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// addContent offers a tool for every kind of content.
func addContent(s *sdk.Server) {
	text := func(t string) sdk.Content { return &sdk.TextContent{Text: t} }
	picture := &sdk.ImageContent{Data: dot(), MIMEType: "image/png"}
	page := func(uri, kind, body string) sdk.Content {
		return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: kind, Text: body}}
	}
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":       {text("This is a simple text response for testing.")},
		"test_image_content":     {picture},
		"test_audio_content":     {&sdk.AudioContent{Data: hush(), MIMEType: "audio/wav"}},
		"test_embedded_resource": {page("test://embedded-resource", "text/plain", "This is an embedded resource content.")},
		"test_multiple_content_types": {
			text("Multiple content types test:"), picture,
			page("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
		},
	} {
		addTool(s, name, noArgs, answer(content...))
	}
}

// addPrompts offers the prompts that answer at once.
func addPrompts(s *sdk.Server) {
	prompt := func(p *sdk.Prompt, content func(args map[string]string) []sdk.Content) {
		p.Description = "for the scenario that asks for " + p.Name
		s.AddPrompt(p, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			res := &sdk.GetPromptResult{Description: p.Description}
			for _, c := range content(r.Params.Arguments) {
				res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return res, nil
		})
	}
	text := func(t string) sdk.Content { return &sdk.TextContent{Text: t} }
	prompt(&sdk.Prompt{Name: "test_simple_prompt"}, func(map[string]string) []sdk.Content {
		return []sdk.Content{text("This is a simple prompt for testing.")}
	})
	prompt(&sdk.Prompt{Name: "test_prompt_with_arguments", Arguments: []*sdk.PromptArgument{
		{Name: "arg1", Required: true}, {Name: "arg2", Required: true},
	}}, func(a map[string]string) []sdk.Content {
		return []sdk.Content{text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))}
	})
	prompt(&sdk.Prompt{Name: "test_prompt_with_embedded_resource", Arguments: []*sdk.PromptArgument{
		{Name: "resourceUri", Required: true},
	}}, func(a map[string]string) []sdk.Content {
		return []sdk.Content{
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: a["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}},
			text("Please process the embedded resource above."),
		}
	})
	prompt(&sdk.Prompt{Name: "test_prompt_with_image"}, func(map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.ImageContent{Data: dot(), MIMEType: "image/png"}, text("Please analyze the image above.")}
	})
}

// addResources offers something to read, as text, as bytes and by a template.
func addResources(s *sdk.Server) {
	resource := func(name, kind, text string, blob []byte) {
		uri := "test://" + name
		s.AddResource(&sdk.Resource{URI: uri, Name: name, Description: "for the scenarios about resources", MIMEType: kind},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: text, Blob: blob}}}, nil
			})
	}
	resource("static-text", "text/plain", "This is the content of the static text resource.", nil)
	resource("static-binary", "image/png", "", dot())
	resource("watched-resource", "text/plain", "Nothing has changed.", nil)
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "template", Description: "data by number", URITemplate: "test://template/{id}/data", MIMEType: "application/json",
	}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		var id string
		if _, err := fmt.Sscanf(r.Params.URI, "test://template/%s", &id); err != nil {
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		id = id[:max(0, len(id)-len("/data"))]
		b, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
		if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(b)}}}, nil
	})
}
