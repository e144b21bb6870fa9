package campaigns_test

import (
	"os"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/glyphoxa/glyphoxa/campaigns"
)

// TestTheGuidesExamplesLoad plays a reader of docs/campaigns.md who types off
// every example. One that comes again under the same name replaces the first.
func TestTheGuidesExamplesLoad(t *testing.T) {
	guide, err := os.ReadFile("../docs/campaigns.md")
	if err != nil {
		t.Fatal(err)
	}
	fsys, n := fstest.MapFS{}, 0
	for _, m := range regexp.MustCompile("(?s)```yaml\n# (\\S+)\n(.*?)```").FindAllSubmatch(guide, -1) {
		fsys[string(m[1])] = &fstest.MapFile{Data: m[2]}
		n++
		if len(fsys) < 3 { // the first three make the smallest campaign
			continue
		}
		c, problems := campaigns.Load(fsys, options)
		if problems != nil {
			t.Fatalf("after example %d:\n%v", n, problems)
		}
		if len(c.NPCs) != 1 || len(c.Entities) != 3 {
			t.Errorf("after example %d: %d NPCs and %d entities", n, len(c.NPCs), len(c.Entities))
		}
	}
	if n != 4 {
		t.Errorf("%d examples, want 4", n)
	}
}
