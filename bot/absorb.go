package bot

import (
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// maxAbsorbed is how much an NPC keeps of what its tools found too late.
const maxAbsorbed = 3

// absorb keeps what a tool found after somebody had talked over the answer it was
// for: the NPC knows it from its next answer on, and does not come back to it by
// itself.
func (t *Table) absorb(id string, call engine.Call, res mcp.Result) {
	if res.Err != nil {
		return
	}
	if t.absorbed == nil {
		t.absorbed = map[string][]string{}
	}
	t.absorbed[id] = keep(append(t.absorbed[id], call.Name+": "+res.Text), maxAbsorbed)
}
