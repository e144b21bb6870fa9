package enginetest

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemas are the vendors' published message types as JSON Schema, see NOTICE.
//
//go:embed schema/*.json
var schemas embed.FS

// A Schema is a vendor's published type of its messages.
type Schema string

// The schemas that are kept here.
const (
	OpenAIRealtimeClient Schema = "openai-realtime-client"
	OpenAIRealtimeServer Schema = "openai-realtime-server"
	GeminiLiveClient     Schema = "gemini-live-client"
)

var resolved sync.Map // of *jsonschema.Resolved by Schema

// Check says what is wrong with a message by the vendor's own types.
func (s Schema) Check(message []byte) error {
	r, ok := resolved.Load(s)
	if !ok {
		b, err := schemas.ReadFile("schema/" + string(s) + ".json")
		if err != nil {
			return err
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(b, &schema); err != nil {
			return fmt.Errorf("schema %s: %w", s, err)
		}
		if r, err = schema.Resolve(nil); err != nil {
			return fmt.Errorf("schema %s: %w", s, err)
		}
		resolved.Store(s, r)
	}
	var v any
	if err := json.Unmarshal(message, &v); err != nil {
		return err
	}
	return r.(*jsonschema.Resolved).Validate(v)
}
