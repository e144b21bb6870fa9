package audit

import "encoding/json"

// shape replaces the values of arguments by their types, so that a log shows what
// was asked for without what was said.
func shape(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return nil
	}
	var v any
	if json.Unmarshal(args, &v) != nil {
		return json.RawMessage(`"invalid"`)
	}
	b, err := json.Marshal(shapeOf(v))
	if err != nil {
		return nil
	}
	return b
}

func shapeOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = shapeOf(x)
		}
		return v
	case []any:
		if len(v) == 0 {
			return v
		}
		return []any{shapeOf(v[0])}
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	default:
		return "null"
	}
}
