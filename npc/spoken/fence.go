package spoken

import (
	"encoding/json"
	"regexp"
	"strings"
)

// A fence is how models mark off what is not speech: thoughts and tool calls.
// Shapes are those of the chat templates of open models and of what models make
// up when they have only read about tools.
type fence struct {
	open, close *regexp.Regexp
	thought     bool
}

// bar is the vertical bar of special tokens, in ASCII or as DeepSeek writes it;
// gap is what stands between their words.
const (
	bar = `[|｜]`
	gap = `[\s_▁-]*`
)

var fences = []fence{
	// <think>, <thinking>, <reasoning>, <reflection>, <scratchpad>
	{open: re(`<\s*(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|inner_monologue|plan)\s*>`), close: re(`<\s*/\s*(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|inner_monologue|plan)\s*>`), thought: true},
	{open: re(`\[\s*(?:think|thinking|reasoning)\s*\]`), close: re(`\[\s*/\s*(?:think|thinking|reasoning)\s*\]`), thought: true},
	{open: re(`◁think▷`), close: re(`◁/think▷`), thought: true},
	// <|channel|>analysis<|message|> ... <|end|>
	{open: re(`<` + bar + `channel` + bar + `>\s*analysis[^<]*(?:<` + bar + `message` + bar + `>)?`), close: re(`<` + bar + `(?:end|return|start)` + bar + `>(?:assistant)?`), thought: true},
	{open: re(`<` + bar + `channel` + bar + `>\s*(?:commentary|tool)[^<]*(?:<` + bar + `constrain` + bar + `>\w*)?(?:<` + bar + `message` + bar + `>)?`), close: re(`<` + bar + `(?:call|end|return)` + bar + `>`)},
	// <|Start of Memory Helper Tool Call|> ... <|End of Memory Helper Tool Call|>
	{open: re(`<` + bar + gap + `(?:start|begin)` + gap + `of` + gap + `[^|｜>]*(?:tool|function)[^|｜>]*` + bar + `>`), close: re(`<` + bar + gap + `end` + gap + `of[^|｜>]*` + bar + `>`)},
	// <|tool_calls_section_begin|>, <｜tool▁calls▁begin｜>, <|tool_call_begin|>
	{open: re(`<` + bar + gap + `(?:tool|function)` + gap + `calls?` + gap + `(?:section` + gap + `)?(?:begin|start)` + gap + bar + `>`), close: re(`<` + bar + gap + `(?:tool|function)` + gap + `calls?` + gap + `(?:section` + gap + `)?end` + gap + bar + `>`)},
	{open: re(`<` + bar + gap + `(?:tool|function|action)` + gap + `(?:calls?|use|start|plugin)?` + gap + bar + `>`), close: re(`<` + bar + `[^|｜>]*` + bar + `>`)},
	{open: re(`<` + bar + `(?:python_tag|plugin|interpreter)` + bar + `>`), close: re(`<` + bar + `(?:eom_id|eot_id|end|action_end)` + bar + `>`)},
	{open: re(`<` + bar + `action_start` + bar + `>`), close: re(`<` + bar + `action_end` + bar + `>`)},
	// <tool_call>, <function_calls>, <invoke name="...">, <function=roll>, <tool_use>
	{open: re(`<\s*(?:\w+:)?(?:tool_calls?|toolcalls?|function_calls?|functioncalls?|tool_use|tool_code|execute_tool|use_tool|tool_request|tool|function|tools|invoke|action|minimax:tool_call|seed:tool_call)\b[^<>|]*>`), close: re(`<\s*/\s*(?:\w+:)?(?:tool_calls?|toolcalls?|function_calls?|functioncalls?|tool_use|tool_code|execute_tool|use_tool|tool_request|tool|function|tools|invoke|action|minimax:tool_call|seed:tool_call)\s*>`)},
	{open: re(`<\s*function\s*=\s*[^<>]*>`), close: re(`<\s*/\s*function\s*>`)},
	// [TOOL_CALLS], [TOOL_REQUEST] ... [END_TOOL_REQUEST]
	{open: re(`\[\s*(?:TOOL_REQUEST|TOOL_CALL|tool_call|START_TOOL[_A-Z]*|FUNCTION_CALL)\s*\]`), close: re(`\[\s*(?:END_TOOL_REQUEST|/\s*TOOL_CALL|/\s*tool_call|END_TOOL[_A-Z]*|END_FUNCTION_CALL|/\s*FUNCTION_CALL|/\s*TOOL_REQUEST)\s*\]`)},
	{open: re("```[a-zA-Z_+-]*"), close: re("```")},
	{open: re(`<\s*(?:script|style|tool_response|tool_result|function_results?|observation)\b[^<>]*>`), close: re(`<\s*/\s*(?:script|style|tool_response|tool_result|function_results?|observation)\s*>`)},
}

func re(s string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + s) }

// special are tokens of chat templates that stand alone.
var special = re(`<` + bar + `[^|｜<>]{0,60}` + bar + `>|</?s>|\[/?INST\]|<<?/?SYS>>?|<(?:end_of_turn|start_of_turn|eos|bos|pad|unk)>`)

// react is how models were taught to call tools before they could: the lines
// "Action: roll", "Action Input: {...}". tail forms a call that takes the rest of
// the answer: [TOOL_CALLS] [{...}].
var (
	react = re(`(?:^|\s)(?:Action|Tool|Function)(?:\s+(?:Input|Name|Call))?\s*:\s*[\w.-]*[_({].*|(?:^|\s)Action\s*:\s*[\w.-]+\s+Action\s+Input\s*:.*|(?:^|\s)Action\s+Input\s*:.*|(?:^|\s)Action\s*:\s*[a-z_.-]+\s*$|(?:^|\s)Observation\s*:.*`)
	tail  = re(`\[\s*TOOL_CALLS\s*\].*|(?:^|\s)to=(?:functions?|tools?)\.[\w.]+.*`)
)

// strikeCall takes a call that pattern finds out of s.
func strikeCall(pattern *regexp.Regexp, s string, r *Result) string {
	m := pattern.FindString(s)
	if m == "" {
		return s
	}
	r.strike(m, "a tool call written as text")
	r.Calls = append(r.Calls, parseCall(m))
	return strings.Replace(s, m, "", 1)
}

// unfence takes out thoughts and calls between marks, also where they began in an
// earlier sentence.
func (f *Filter) unfence(s string, r *Result) string {
	if f.inside == nil && f.depth == 0 {
		if strings.Contains(s, ":") {
			s = strikeCall(react, s, r)
		}
		// Nearly every sentence has none of these; patterns are slow.
		if !strings.ContainsAny(s, "<[{`◁=") {
			return s
		}
	}
	var out strings.Builder
	for {
		if f.depth > 0 {
			rest, done := f.closeBraces(s)
			f.buffer.WriteString(s[:len(s)-len(rest)])
			if !done {
				f.swallow(s, r)
				break
			}
			f.found(r)
			s = rest
		}
		if f.inside != nil {
			at := f.inside.close.FindStringIndex(s)
			if at == nil {
				f.buffer.WriteString(s + " ")
				f.swallow(s, r)
				break
			}
			f.buffer.WriteString(s[:at[0]])
			if !f.inside.thought {
				f.found(r)
			} else {
				r.strike(f.buffer.String(), "the model's own thoughts")
				f.buffer.Reset()
			}
			f.inside, f.swallowed = nil, 0
			s = s[at[1]:]
		}
		first, at := -1, []int(nil)
		for i := range fences {
			if m := fences[i].open.FindStringIndex(s); m != nil && (at == nil || m[0] < at[0]) {
				first, at = i, m
			}
		}
		brace := strings.Index(s, "{")
		switch {
		case at != nil && (brace < 0 || at[0] <= brace):
			out.WriteString(s[:at[0]] + " ")
			f.inside = &fences[first]
			f.buffer.Reset()
			if !f.inside.thought {
				f.buffer.WriteString(s[at[0]:at[1]] + " ")
			}
			s = s[at[1]:]
			continue
		case brace >= 0 && looksJSON(s[brace:]):
			before := strings.TrimRight(s[:brace], " [")
			// roll{...}, call:roll{...}
			name := trailingName.FindString(before)
			out.WriteString(strings.TrimSuffix(before, name) + " ")
			f.buffer.Reset()
			f.buffer.WriteString(name + " ")
			f.depth, f.swallowed = 0, 0
			rest, done := f.closeBraces(s[brace:])
			f.buffer.WriteString(s[brace : len(s)-len(rest)])
			if done {
				f.found(r)
				if strings.HasSuffix(strings.TrimSpace(name), "(") {
					rest = strings.TrimLeft(rest, " )")
				}
				s = strings.TrimLeft(rest, " ]")
				continue
			}
			s = ""
		}
		// What closes without having been opened belonged to something unspoken.
		for i := range fences {
			if m := fences[i].close.FindStringIndex(s); m != nil && !strings.HasPrefix(s[m[0]:], "```") {
				r.strike(s[:m[1]], "the end of a tool call or thought")
				s = s[m[1]:]
				out.Reset()
			}
		}
		out.WriteString(s)
		break
	}
	return special.ReplaceAllString(strikeCall(tail, out.String(), r), " ")
}

// trailingName is the name of a function before its arguments.
var trailingName = re(`(?:call\s*:\s*|functions?\.|default_api\.)?[a-z][\w.-]*[_.:][\w.-]*\s*\(?\s*$|(?:call\s*:\s*)[a-z]\w*\s*$|[a-z]\w*\(\s*$`)

// looksJSON reports whether s begins with a JSON object or array of one.
func looksJSON(s string) bool {
	s = strings.TrimLeft(s[1:], " ")
	return s == "" || s[0] == '"' || s[0] == '\'' || s[0] == '}' || strings.HasPrefix(s, "name") || strings.HasPrefix(s, "tool") || strings.HasPrefix(s, "function") || jsonKey.MatchString(s)
}

var jsonKey = re(`^\w+\s*:`)

// closeBraces counts braces in s on from f.depth. It returns what follows the
// last closing one, and whether that came.
func (f *Filter) closeBraces(s string) (rest string, done bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			f.depth++
		case c == '}':
			f.depth--
			if f.depth <= 0 {
				f.depth = 0
				return s[i+1:], true
			}
		}
	}
	return "", false
}

// swallow counts a sentence that vanished whole. A call that never ends ends the
// answer.
func (f *Filter) swallow(s string, r *Result) {
	f.swallowed++
	r.strike(s, "inside a tool call or a thought")
	if f.swallowed > maxSwallowed || f.buffer.Len() > 16<<10 {
		r.End = true
	}
}

// found reports the call in the buffer.
func (f *Filter) found(r *Result) {
	text := strings.TrimSpace(f.buffer.String())
	f.buffer.Reset()
	f.swallowed = 0
	if text == "" {
		return
	}
	r.strike(text, "a tool call written as text")
	r.Calls = append(r.Calls, parseCall(text))
}

// calls takes out roll("2d6") and the like: names of tools, or names with an
// underscore that no innkeeper would say, with something in parentheses.
func (f *Filter) calls(s string, r *Result) string {
	if !strings.ContainsAny(s, "(!/") {
		return s
	}
	s = commandLine.ReplaceAllStringFunc(s, func(m string) string {
		r.strike(m, "a command written as text")
		return " "
	})
	return function.ReplaceAllStringFunc(s, func(m string) string {
		name := strings.ToLower(strings.TrimLeft(m[:strings.IndexByte(m, '(')], "[ `"))
		name = strings.TrimSpace(name[strings.LastIndexByte(name, '.')+1:])
		if !f.tools[name] && !strings.ContainsAny(name, "_") && !strings.ContainsAny(m, `="`) && name != "print" {
			return m
		}
		r.strike(m, "a tool call written as text")
		r.Calls = append(r.Calls, parseCall(m))
		return " "
	})
}

var (
	function    = re(`\[?\s*(?:print\s*\(\s*)?[a-z_][\w.]*\([^()]*(?:\([^()]*\)[^()]*)*\)+\s*\]?`)
	commandLine = re(`(?:^|\s)(?:[!/](?:r|roll|lookup|search|npc|rule|memory|scene)\s+[^.!?]*)`)
	callName    = re(`"?(?:name|tool|tool_name|function|function_name|action|selected_tool)"?\s*[:=]\s*"?([\w.-]+)`)
	plainName   = re(`(?:function\s*=\s*|invoke\s+name\s*=\s*"?|functions?\.|default_api\.|call\s*:\s*|Action\s*:\s*|^\s*\[?\s*)([a-z_][\w.-]*)`)
	object      = regexp.MustCompile(`(?s)\{.*\}`)
)

// parseCall reads what it can of a call: its name and its arguments.
func parseCall(s string) Call {
	c := Call{Args: strings.TrimSpace(object.FindString(s))}
	if c.Args != "" {
		var v map[string]json.RawMessage
		if json.Unmarshal([]byte(c.Args), &v) == nil {
			for _, k := range []string{"arguments", "args", "parameters", "params", "input", "tool_input"} {
				if a, ok := v[k]; ok {
					c.Args = string(a)
					break
				}
			}
		}
	}
	if m := callName.FindStringSubmatch(s); m != nil {
		c.Name = m[1]
	} else if m := plainName.FindStringSubmatch(s); m != nil {
		c.Name = m[1]
	}
	if c.Args == "" {
		if i := strings.IndexByte(s, '('); i >= 0 {
			c.Args = strings.Trim(s[i:], "()] ")
		}
	}
	c.Name = c.Name[strings.LastIndexByte(c.Name, '.')+1:]
	return c
}
