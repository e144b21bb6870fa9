package console

import (
	"hash/fnv"
	"math"

	"github.com/glyphoxa/glyphoxa/bot"
)

const (
	// maxNodes is what a person can still find their way in, and what an O(n²)
	// layout draws in some 20 ms.
	maxNodes = 150
	// the picture's size, in its own units
	graphWidth, graphHeight = 1200, 760
	graphMargin             = 70
)

// A node is a topic with its place in the picture.
type node struct {
	bot.Topic
	x, y float64
	// degree is how many links it has: much talked of topics are drawn bigger.
	degree int
}

// An edge is a link between two nodes.
type edge struct {
	from, to *node
	kind     string
}

// A picture is a graph laid out.
type picture struct {
	nodes []*node
	edges []edge
	cut   bool
}

// draw lays a graph out by forces (Fruchterman and Reingold, 1991): everything
// pushes everything away and links pull. The same graph always gives the same
// picture, so that people learn where things are.
func draw(k bot.Knowledge) picture {
	p := picture{cut: k.Cut || len(k.Topics) > maxNodes}
	byID := map[string]*node{}
	for i, t := range k.Topics[:min(len(k.Topics), maxNodes)] {
		// A sunflower's seeds: spread evenly, with a turn of its own for each id.
		r, a := math.Sqrt(float64(i)+0.5), 2.399963*float64(i)+jitter(t.ID)
		n := &node{Topic: t, x: r * math.Cos(a), y: r * math.Sin(a)}
		p.nodes, byID[t.ID] = append(p.nodes, n), n
	}
	for _, l := range k.Links {
		from, to := byID[l.From], byID[l.To]
		if from == nil || to == nil || from == to {
			continue
		}
		from.degree, to.degree = from.degree+1, to.degree+1
		p.edges = append(p.edges, edge{from, to, l.Kind})
	}
	p.relax()
	p.fit()
	return p
}

// jitter is an angle that only depends on the id.
func jitter(id string) float64 {
	h := fnv.New32a()
	h.Write([]byte(id))
	return float64(h.Sum32()%1000) / 1000
}

// relax moves the nodes until they rest.
func (p *picture) relax() {
	const steps = 180
	type force struct{ x, y float64 }
	forces := make([]force, len(p.nodes))
	at := map[*node]int{}
	for i, n := range p.nodes {
		at[n] = i
	}
	for step := range steps {
		clear(forces)
		for i, a := range p.nodes {
			for j := i + 1; j < len(p.nodes); j++ {
				b := p.nodes[j]
				dx, dy := a.x-b.x, a.y-b.y
				d2 := max(dx*dx+dy*dy, 0.01)
				forces[i].x += dx / d2
				forces[i].y += dy / d2
				forces[j].x -= dx / d2
				forces[j].y -= dy / d2
			}
			// A weak pull to the middle keeps islands in sight, a stronger one what
			// is related to nothing.
			pull := 0.05
			if a.degree == 0 {
				pull = 0.25
			}
			forces[i].x -= pull * a.x
			forces[i].y -= pull * a.y
		}
		for _, e := range p.edges {
			dx, dy := e.to.x-e.from.x, e.to.y-e.from.y
			d := math.Hypot(dx, dy)
			pull := 0.35 * d
			i, j := at[e.from], at[e.to]
			forces[i].x += pull * dx / max(d, 0.1)
			forces[i].y += pull * dy / max(d, 0.1)
			forces[j].x -= pull * dx / max(d, 0.1)
			forces[j].y -= pull * dy / max(d, 0.1)
		}
		heat := 0.8 * (1 - float64(step)/steps)
		for i, n := range p.nodes {
			size := math.Hypot(forces[i].x, forces[i].y)
			if size == 0 {
				continue
			}
			move := min(size, heat)
			n.x += forces[i].x / size * move
			n.y += forces[i].y / size * move
		}
	}
}

// fit stretches the picture over its frame.
func (p *picture) fit() {
	if len(p.nodes) == 0 {
		return
	}
	x0, y0 := math.Inf(1), math.Inf(1)
	x1, y1 := math.Inf(-1), math.Inf(-1)
	for _, n := range p.nodes {
		x0, x1 = min(x0, n.x), max(x1, n.x)
		y0, y1 = min(y0, n.y), max(y1, n.y)
	}
	for _, n := range p.nodes {
		n.x = graphMargin + (n.x-x0)/max(x1-x0, 1e-9)*(graphWidth-2*graphMargin)
		n.y = graphMargin + (n.y-y0)/max(y1-y0, 1e-9)*(graphHeight-2*graphMargin)
	}
	if len(p.nodes) == 1 {
		p.nodes[0].x, p.nodes[0].y = graphWidth/2, graphHeight/2
	}
}

// radius grows with what hangs on a topic.
func (n *node) radius() float64 { return 9 + 2.2*math.Sqrt(float64(n.degree)) }

// kindTint is the colour of a kind of topic.
func kindTint(kind string) string {
	switch kind {
	case "npc":
		return "tint-a"
	case "player":
		return "tint-d"
	case "location":
		return "tint-k"
	case "item":
		return "tint-i"
	case "faction":
		return "tint-c"
	case "event":
		return "tint-g"
	case "quest":
		return "tint-f"
	default:
		return "tint-l"
	}
}
