package link

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// toAnswer keeps what can be read aloud or thought about of a result. Pictures and
// sounds become a word about themselves.
func toAnswer(r *sdk.CallToolResult) (Answer, error) {
	if r.NeedsInput() {
		return Answer{Text: "The tool asks a question that nobody here can answer.", Refused: true}, nil
	}
	a := Answer{Refused: r.IsError}
	var parts []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, c.Text)
		case *sdk.ImageContent:
			parts = append(parts, fmt.Sprintf("[picture, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			parts = append(parts, fmt.Sprintf("[sound, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			parts = append(parts, fmt.Sprintf("[%s: %s]", c.Name, c.URI))
		case *sdk.EmbeddedResource:
			if c.Resource == nil {
				continue
			}
			if c.Resource.Text != "" {
				parts = append(parts, c.Resource.Text)
			} else {
				parts = append(parts, fmt.Sprintf("[%s, %s, %d bytes]", c.Resource.URI, c.Resource.MIMEType, len(c.Resource.Blob)))
			}
		}
	}
	a.Text = strings.Join(parts, "\n")
	if r.StructuredContent != nil {
		b, err := json.Marshal(r.StructuredContent)
		if err != nil {
			return Answer{}, fmt.Errorf("structured content: %w", err)
		}
		a.Structured = b
		if a.Text == "" {
			a.Text = string(b)
		}
	}
	return a, nil
}
