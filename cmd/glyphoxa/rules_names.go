package main

import (
	"slices"

	"github.com/glyphoxa/glyphoxa/mcp/tools/rules"
)

// ruleNames are what the rules of a data folder are called, spells and imported
// ones among them, so that a question about one is heard as such. Without a folder
// they are the rules of this program alone.
func ruleNames(dir string) ([]string, error) {
	var o rules.Options
	if dir != "" {
		o.Imported = importedRules(dir)
	}
	library, err := rules.New(o)
	if err != nil {
		return nil, err
	}
	return slices.Collect(library.Names("")), nil
}
