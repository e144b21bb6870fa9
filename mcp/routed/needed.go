package routed

import (
	"strings"
	"unicode"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// signs are words of a request that point to a kind of tool, by a word in the
// tool's name.
var signs = []struct{ tool, words string }{
	{"roll", "roll rolls reroll dice die d4 d6 d8 d10 d12 d20 d100 throw flip toss bones würfel würfle würfelt tira tirada dados"},
	{"table", "table random wild encounter treasure tabelle tabla"},
	{"rule", "rule rules work works happens condition conditions poisoned grappled grapple grappling prone stunned restrained blinded spell spells cast casting concentration action reaction advantage disadvantage attack cover damage save saving rest initiative allowed stealth range regel regeln regla reglas funktioniert funciona"},
	{"session", "remember recall last time earlier before yesterday ago promised said told talked met discussed agreed erinnerst erinnert letztes recuerdas acuerdas última"},
	{"fact", "know about heard happened fact remember rumor rumors weißt sabes"},
	{"entit", "who where what know about tell heard whose which wer wo was quién dónde qué"},
	{"summar", "who about summary everything history"},
	{"read", "read open show view look file note notes book letter lies lee"},
	{"write", "write save note record create log schreib escribe"},
	{"file", "file note notes list write read save open"},
	{"image", "image picture draw portrait map sketch paint generate bild zeichne imagen dibuja"},
	{"web", "web internet online search google website"},
	{"music", "music song play stop ambience louder quieter musik música"},
	{"run", "run execute command shell script"},
	{"exec", "run execute command shell script"},
	{"weather", "weather rain storm wind snow sun wetter"},
	{"time", "time date clock hour calendar"},
	{"search", "search find look where seek suche busca"},
}

// Needed reports whether a request may need one of the tools. It is quick and
// errs on the side of yes: the chooser may still say that none is needed.
func Needed(request string, tools []mcp.Tool) bool {
	words := fields(request)
	for _, t := range tools {
		name := strings.ToLower(t.Name)
		for _, s := range signs {
			if strings.Contains(name, s.tool) && shares(words, s.words) {
				return true
			}
		}
		// "forge_weapon" is meant by "forge" and by "weapon".
		for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || unicode.IsDigit(r) }) {
			if len(part) > 3 && part != "search" && part != "query" && words[part] {
				return true
			}
		}
	}
	return false
}

// shares reports whether one of the words in list occurs.
func shares(words map[string]bool, list string) bool {
	for w := range strings.FieldsSeq(list) {
		if words[w] {
			return true
		}
	}
	return false
}

// fields are the words of a request. Dice such as 2d6 also count as d6.
func fields(s string) map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(clip(s, maxRequest)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		words[w] = true
		if i := strings.IndexByte(w, 'd'); i > 0 && i < len(w)-1 && strings.Trim(w, "0123456789d") == "" {
			words[w[i:]] = true
		}
		words[strings.TrimSuffix(w, "s")] = true
	}
	return words
}

// unreliable are parts of the names of models whose own tool calling cannot be
// trusted: they were not trained for it, or only in name.
var unreliable = []string{
	"tinyllama", "llama2", "llama-2", "llama-3-", "llama3:", "llama3.2:1b", "llama-3.2-1b", "gemma", "gemma2", "phi", "vicuna", "alpaca", "orca", "zephyr", "openchat", "solar", "stablelm", "falcon", "mpt", "dolly",
	"mistral:7b-instruct-v0.1", "mistral-7b-instruct-v0.1", "mistral-7b-instruct-v0.2", "mixtral", "nous-hermes-llama", "mythomax", "mythomist", "noromaid", "pygmalion", "deepseek-r1", "deepseek-llm", "smollm", "tinydolphin", "dolphin-phi", "neural-chat", "starling", "yi:", "yi-34b", "qwen:", "qwen1.5", "wizard", "kobold", "rp-", "-rp", "storyteller", "novelist",
}

// Unreliable reports whether a model, by its name, should be given tools by
// routing instead of function calling.
func Unreliable(model string) bool {
	model = strings.ToLower(model)
	for _, u := range unreliable {
		if strings.Contains(model, u) {
			return true
		}
	}
	return false
}
