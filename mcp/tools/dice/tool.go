package dice

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// ToolOptions say what the dice tools roll with.
type ToolOptions struct {
	// Roller is the session's dice. Nil means fresh ones from [NewFair].
	Roller *Roller
	// Tables are what roll_table draws from. Nil means the shipped ones.
	Tables *Tables
}

// Tools returns the tools roll and roll_table.
func Tools(opts ToolOptions) ([]mcp.Builtin, error) {
	if opts.Roller == nil {
		opts.Roller = NewFair().Roller
	}
	if opts.Tables == nil {
		shipped, err := NewTables(nil)
		if err != nil {
			return nil, err
		}
		opts.Tables = shipped
	}
	return []mcp.Builtin{rollTool(opts.Roller), tableTool(opts.Roller, opts.Tables)}, nil
}

// Rolling takes microseconds; the declared times leave room for a busy
// machine. A roll must not be repeated or cached: the first result counts.
const (
	estimated = 5 * time.Millisecond
	longest   = 20 * time.Millisecond
)

func rollTool(r *Roller) mcp.Builtin {
	return mcp.Builtin{
		Tool: mcp.Tool{
			Name:  "roll",
			Title: "Roll dice",
			Description: "Roll dice and return the total with every die. Always use this instead of inventing a result. " +
				"Examples: 1d20+5, 2d6+3, 4d6kh3, 8d6[fire], d100.",
			Schema: fmt.Appendf(nil, `{"type":"object","properties":{`+
				`"expression":{"type":"string","minLength":1,"maxLength":%d,"description":"dice expression, for example 2d6+3"},`+
				`"advantage":{"type":"string","enum":["none","adv","dis"],"description":"roll the leading d20 twice"},`+
				`"repeat":{"type":"integer","minimum":1,"maximum":%d,"description":"roll the whole expression this often"}},`+
				`"required":["expression"],"additionalProperties":false}`, MaxLength, MaxRepeat),
			Category:  mcp.Core,
			Estimated: estimated, Max: longest,
			ReadOnly: true,
		},
		Call: func(_ context.Context, _ mcp.Caller, args json.RawMessage) (string, error) {
			var in struct {
				Expression string `json:"expression"`
				Advantage  string `json:"advantage"`
				Repeat     int    `json:"repeat"`
			}
			if err := json.Unmarshal(args, &in); err != nil {
				return "", fmt.Errorf("roll: arguments: %w", err)
			}
			if in.Repeat < 0 || in.Repeat > MaxRepeat {
				return "", fmt.Errorf("roll: repeat %d: want 1 to %d", in.Repeat, MaxRepeat)
			}
			adv, err := ParseAdvantage(in.Advantage)
			if err != nil {
				return "", err
			}
			expr := hundred(in.Expression)
			first, err := r.Roll(expr, adv)
			if err != nil {
				return "", err
			}
			if in.Repeat < 2 {
				return encode(first)
			}
			rolls := []Result{first}
			for range in.Repeat - 1 {
				again, err := r.Roll(expr, adv)
				if err != nil {
					return "", err
				}
				rolls = append(rolls, again)
			}
			return encode(map[string]any{"rolls": rolls})
		},
	}
}

// hundred reads d% as 1 to 100, which is what everybody at a table means by
// it. Only typed expressions have Avrae's tens die.
func hundred(expr string) string {
	var b strings.Builder
	for i := 0; i < len(expr); i++ {
		if (expr[i] == 'd' || expr[i] == 'D') && i+1 < len(expr) && expr[i+1] == '%' {
			b.WriteString("d100")
			i++
			continue
		}
		b.WriteByte(expr[i])
	}
	return b.String()
}

func tableTool(r *Roller, tables *Tables) mcp.Builtin {
	names, _ := json.Marshal(tables.Names()) // strings always encode
	return mcp.Builtin{
		Tool: mcp.Tool{
			Name:        "roll_table",
			Title:       "Roll on a table",
			Description: "Roll on one of the campaign's random tables and return what came up. Tables: " + tables.list(),
			Schema: fmt.Appendf(nil, `{"type":"object","properties":{"table_name":{"type":"string","enum":%s}},`+
				`"required":["table_name"],"additionalProperties":false}`, names),
			Category:  mcp.Core,
			Estimated: estimated, Max: longest,
			ReadOnly: true,
		},
		Call: func(_ context.Context, _ mcp.Caller, args json.RawMessage) (string, error) {
			var in struct {
				Table string `json:"table_name"`
			}
			if err := json.Unmarshal(args, &in); err != nil {
				return "", fmt.Errorf("roll_table: arguments: %w", err)
			}
			res, err := tables.Draw(r, in.Table)
			if err != nil {
				return "", err
			}
			return encode(res)
		},
	}
}

// list describes the tables that say what they are about.
func (ts *Tables) list() string {
	var about []string
	for _, name := range ts.Names() {
		if t := ts.byName[name]; t.About != "" {
			about = append(about, name+" ("+t.About+")")
		}
	}
	return strings.Join(about, ", ") + "."
}

// encode writes JSON in which < and > stay readable.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("dice: result: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}
