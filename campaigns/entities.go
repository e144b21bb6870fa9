package campaigns

import (
	"github.com/glyphoxa/glyphoxa/campaigns/strict"
	"github.com/glyphoxa/glyphoxa/memory"
)

// ReadEntities reads a file such as those in a campaign's folder entities/, by
// itself. Entities that do not say who knows them are known to the game master
// alone. Whether what they point to exists is not looked at.
func ReadEntities(name string, data []byte) ([]memory.Entity, strict.Problems) {
	var f entitiesFile
	if problems := strict.Decode(name, data, &f); len(problems) > 0 {
		return nil, problems
	}
	var out []memory.Entity
	for _, e := range f.Entities {
		out = append(out, e.entity(nil))
	}
	return out, nil
}
