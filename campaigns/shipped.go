package campaigns

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/campaigns/strict"
)

//go:embed gilded-flagon drowned-ledger
var shipped embed.FS

// Shipped names the campaigns that are part of the program. The first is played
// when nothing else is asked for.
var Shipped = []string{"gilded-flagon", "drowned-ledger"}

// ShippedFolder is the folder of a shipped campaign, to load or to copy from.
func ShippedFolder(name string) (fs.FS, error) {
	if slices.Contains(Shipped, name) {
		return fs.Sub(shipped, name)
	}
	return nil, fmt.Errorf("no campaign called %q is part of the program (there are %s)%s",
		name, strings.Join(Shipped, " and "), strict.DidYouMean(name, Shipped))
}
