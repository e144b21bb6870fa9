package npc

import (
	"strings"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// Plain makes a character of nothing but a name, for trying things out: "Bartok
// the Barkeep" is called Bartok and is a barkeep. It has no tools.
func Plain(name string) Character {
	id := strings.Join(cut(name), "-")
	if id == "" {
		id = "npc"
	}
	return Character{ID: id, Name: name, Tier: mcp.Deep, ToolChoice: "auto"}
}
