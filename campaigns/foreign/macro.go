package foreign

import (
	"regexp"
	"strings"
)

// macro is what stands in double braces; none contains another.
var macro = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// macros puts names in for {{char}} and {{user}}, and does away with the other
// macros of cards. Those that draw lots every time take their first choice: a
// campaign says what is, and does not change with each reading.
func macros(s, char, user string) string {
	s = strings.NewReplacer("<BOT>", char, "<USER>", user, "<bot>", char, "<user>", user, "<START>", "").Replace(s)
	return macro.ReplaceAllStringFunc(s, func(m string) string {
		inner := strings.TrimSpace(m[2 : len(m)-2])
		name, rest, _ := strings.Cut(inner, ":")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "char":
			return char
		case "user":
			return user
		case "random", "pick":
			choice, _, _ := strings.Cut(strings.TrimPrefix(rest, ":"), separator(rest))
			return strings.TrimSpace(choice)
		case "roll":
			return "some"
		case "reverse":
			r := []rune(rest)
			for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
				r[i], r[j] = r[j], r[i]
			}
			return string(r)
		}
		return "" // comments, hidden keys and what we do not know
	})
}

// separator is what stands between the choices of a macro: {{random:a,b}} or
// {{random::a::b}}.
func separator(choices string) string {
	if strings.Contains(choices, "::") {
		return "::"
	}
	return ","
}
