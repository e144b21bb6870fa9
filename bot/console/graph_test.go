package console

import (
	"fmt"
	"math"
	"testing"

	"github.com/glyphoxa/glyphoxa/bot"
	"pgregory.net/rapid"
)

// Whatever is known, the picture stays in its frame, holds no more than one can
// look at, and is the same each time.
func TestPictureStaysInItsFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, maxNodes+10).Draw(t, "topics")
		var k bot.Knowledge
		for i := range n {
			k.Topics = append(k.Topics, bot.Topic{ID: fmt.Sprint(i)})
		}
		for range rapid.IntRange(0, 2*n).Draw(t, "links") {
			end := rapid.IntRange(0, n)
			k.Links = append(k.Links, bot.Link{From: fmt.Sprint(end.Draw(t, "from")), To: fmt.Sprint(end.Draw(t, "to"))})
		}
		p, again := draw(k), draw(k)
		if len(p.nodes) != min(n, maxNodes) || p.cut != (n > maxNodes) {
			t.Fatalf("%d nodes of %d, cut %t", len(p.nodes), n, p.cut)
		}
		for i, v := range p.nodes {
			if !(v.x >= 0 && v.x <= graphWidth && v.y >= 0 && v.y <= graphHeight) {
				t.Fatalf("node %s lies at %g, %g", v.ID, v.x, v.y)
			}
			if w := again.nodes[i]; v.x != w.x || v.y != w.y {
				t.Fatalf("node %s lies elsewhere the second time", v.ID)
			}
		}
	})
}

func TestWhatIsRelatedLiesTogether(t *testing.T) {
	var k bot.Knowledge
	for i := range 40 {
		k.Topics = append(k.Topics, bot.Topic{ID: fmt.Sprint(i)})
	}
	for i := range 20 { // two rings
		k.Links = append(k.Links, bot.Link{From: fmt.Sprint(i), To: fmt.Sprint((i + 1) % 20)}, bot.Link{From: fmt.Sprint(20 + i), To: fmt.Sprint(20 + (i+1)%20)})
	}
	p := draw(k)
	linked, all, pairs := 0.0, 0.0, 0
	for _, e := range p.edges {
		linked += math.Hypot(e.from.x-e.to.x, e.from.y-e.to.y) / float64(len(p.edges))
	}
	for i, a := range p.nodes {
		for _, b := range p.nodes[i+1:] {
			all += math.Hypot(a.x-b.x, a.y-b.y)
			pairs++
		}
	}
	if all /= float64(pairs); linked > all/2 {
		t.Errorf("neighbours lie %.0f apart on average, any two topics %.0f", linked, all)
	}
}
