// Package glyphoxa holds the whole project's own checks.
package glyphoxa

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/glyphoxa/glyphoxa"

// drawing says which packages of ours a package may import, by the longest prefix
// that fits. It is the picture in CONTRIBUTING.md; change both or neither.
var drawing = []struct{ from, to string }{
	{"cmd", "bot voice engine npc mcp memory campaigns"},
	{"bot", "voice engine npc mcp memory campaigns"},
	{"bot/discord", "bot voice mcp campaigns memory"},
	{"bot/observe", "bot"},
	{"bot/console", "bot voice/pcm npc mcp memory"},
	{"voice", "voice/pcm voice/opus voice/dave voice/rtp voice/vad"},
	{"voice/pcm", ""},
	{"voice/vad", "voice/pcm"},
	{"voice/opus", "voice/pcm"},
	{"voice/dave", "voice/dave/mls"},
	{"voice/dave/mls", ""},
	{"voice/rtp", ""},
	{"voice/voicetest", "voice"},
	{"engine", "mcp voice/pcm voice/vad"},
	{"engine/llm", "engine mcp"},
	{"engine/stt", "engine voice/pcm"},
	{"engine/tts", "engine voice/pcm"},
	{"engine/s2s", "engine mcp voice/pcm"},
	{"engine/enginetest", "engine voice/pcm"},
	{"npc", "memory mcp"},
	{"campaigns", "npc mcp memory"},
	{"campaigns/foreign", "campaigns npc memory markup"},
	{"mcp", "mcp"},
	{"mcp/jail", ""},
	{"mcp/tools", "mcp memory markup"},
	{"memory", ""},
	{"memory/relational", "memory"},
	{"memory/sqlite", "memory memory/relational"},
	{"memory/postgres", "memory memory/relational"},
	{"secret", ""},
	{"markup", ""},
	{"memory/embedding", "memory"},
	{"memory/memorytest", "memory"},
}

func TestImportsFollowTheDrawing(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if from == "" {
			continue
		}
		allowed, ok := allowedFrom(from)
		if !ok {
			t.Errorf("package %s is not in the drawing", from)
			continue
		}
		for _, imp := range p.Imports {
			to, ours := strings.CutPrefix(imp, module+"/")
			if to == "secret" { // keys go anywhere, and bring nothing along
				continue
			}
			if ours && !slices.ContainsFunc(allowed, func(a string) bool { return within(to, a) }) && !within(to, from) && !testPackage(to) {
				t.Errorf("%s imports %s, which the drawing does not allow", from, to)
			}
			if ours && testPackage(to) && !testPackage(from) && !within(from, "cmd") {
				t.Errorf("%s imports the test package %s", from, to)
			}
		}
	}
}

// allowedFrom finds the drawing's line for a package: the longest prefix wins.
func allowedFrom(pkg string) (allowed []string, ok bool) {
	best := -1
	for _, d := range drawing {
		if within(pkg, d.from) && len(d.from) > best {
			best, allowed, ok = len(d.from), strings.Fields(d.to), true
		}
	}
	return allowed, ok
}

// within reports whether pkg is root or below it.
func within(pkg, root string) bool {
	return pkg == root || strings.HasPrefix(pkg, root+"/")
}

// testPackage reports whether a package is a loopback stand-in for tests and the
// offline table, such as voice/voicetest.
func testPackage(pkg string) bool { return strings.HasSuffix(pkg, "test") }
