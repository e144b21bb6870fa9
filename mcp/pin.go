package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// definitionHash is the same for two tools exactly if a model and the host would
// treat them the same: it covers name, texts, schema and every hint.
func definitionHash(t Tool) string {
	var schema any
	// Schemas that differ only in spacing or key order are the same schema.
	if json.Unmarshal(t.Schema, &schema) != nil {
		schema = string(t.Schema)
	}
	b, err := json.Marshal([]any{
		t.Name, t.Server, t.Title, t.Description, schema, t.Category, t.Estimated, t.Max, t.Cache,
		t.ReadOnly, t.Idempotent, t.Destructive, t.OpenWorld, t.Writes,
	})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
