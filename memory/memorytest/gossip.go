package memorytest

import (
	"bufio"
	"embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

//go:embed gossip/*.txt
var gossipFiles embed.FS

// gossipLines is how many lines a gossip has at least, and gossipSessions over
// how many evenings, some ten days apart, they are spread.
const (
	gossipLines    = 320
	gossipSessions = 16
)

// A Gossip is a long dialogue of many evenings, in which a few things worth
// asking about are told between much that is not, and questions about them.
type Gossip struct {
	Lines     []memory.Line
	Questions []GossipQuestion
}

// A GossipQuestion asks for something that was said.
type GossipQuestion struct {
	// Kind is single, multi, temporal or who.
	Kind string
	Text string
	// Evidence are the ids of the lines that answer it.
	Evidence []string
	// HeldOut questions are not looked at while a search is being improved.
	HeldOut bool
}

// A frame is one thing that can be told: parts that come up in different
// evenings, and questions about all of them.
type frame struct {
	parts     [][]string
	questions []string
}

// NewGossip makes up the same dialogue for the same seed, of two people for an
// even and of four for an odd one.
func NewGossip(seed uint64) Gossip {
	r := rand.New(rand.NewPCG(seed, 7))
	frames, slots, chatter := gossipFrames(), gossipSlots(), gossipChatter()
	people := []string{"Caroline", "Jonas", "Melanie", "Tariq", "Greta", "Marek", "Yuki", "Bruno", "Aoife", "Silas", "Dunja", "Piet"}
	r.Shuffle(len(people), func(i, j int) { people[i], people[j] = people[j], people[i] })
	people = people[:2+2*(seed%2)]
	evenings := make([][][]said, gossipSessions)
	var g Gossip
	var asked []told
	for n, f := range frames {
		a := r.IntN(len(people))
		b := (a + 1 + r.IntN(len(people)-1)) % len(people)
		fill := slots(r, people[a], people[b])
		evidence := map[string]*said{}
		at := r.IntN(gossipSessions - 2*(len(f.parts)-1))
		for _, part := range f.parts {
			var block []said
			for _, l := range part {
				who, text, _ := strings.Cut(l, ": ")
				text, mark, _ := strings.Cut(text, " *")
				speaker := people[a]
				if who == "B" {
					speaker = people[b]
				}
				block = append(block, said{speaker: speaker, text: fill(text), mark: mark, of: n})
			}
			evenings[at] = append(evenings[at], block)
			at += 1 + r.IntN(2)
		}
		asked = append(asked, told{f, fill, evidence})
	}
	pad(r, evenings, people, chatter)
	start := time.Date(2023, 2, 3, 19, 0, 0, 0, time.UTC)
	for s, evening := range evenings {
		at := start.Add(time.Duration(s)*10*24*time.Hour + time.Duration(r.IntN(72))*time.Hour)
		for n, l := range slices.Concat(evening...) {
			line := memory.Line{ID: fmt.Sprintf("D%d:%d", s+1, n+1), Campaign: "vale", Session: fmt.Sprintf("session-%02d", s+1),
				At: at.Add(time.Duration(n) * 20 * time.Second), Text: l.text,
				Speaker: memory.Speaker{ID: strings.ToLower(l.speaker), Name: l.speaker, Kind: memory.PlayerSpeaker}}
			g.Lines = append(g.Lines, line)
			if l.mark != "" {
				asked[l.of].evidence[l.mark] = &said{text: line.ID}
			}
		}
	}
	for n, a := range asked {
		for _, q := range a.frame.questions {
			head, text, _ := strings.Cut(q, " | ")
			fields := strings.Fields(head)
			out := GossipQuestion{Kind: fields[0], Text: a.fill(text), HeldOut: n%2 == 1}
			for _, mark := range fields[1:] {
				out.Evidence = append(out.Evidence, a.evidence[mark].text)
			}
			g.Questions = append(g.Questions, out)
		}
	}
	return g
}

// said is a line before it has an id.
type said struct {
	speaker, text, mark string
	of                  int
}

// told is a frame as it came up in one dialogue.
type told struct {
	frame    frame
	fill     func(string) string
	evidence map[string]*said
}

// pad puts talk about nothing between and around what is told.
func pad(r *rand.Rand, evenings [][][]said, people, chatter []string) {
	total := 0
	for _, e := range evenings {
		total += len(slices.Concat(e...))
	}
	for n := 0; total < gossipLines || n < 2*len(evenings); n++ {
		e := n % len(evenings)
		k, who := r.IntN(len(chatter)-2), r.IntN(len(people))
		var block []said
		for i := range 2 {
			other := people[(who+1)%len(people)]
			block = append(block, said{speaker: people[who], text: strings.ReplaceAll(chatter[k+i], "{B}", other)})
			who = (who + 1) % len(people)
		}
		evenings[e] = slices.Insert(evenings[e], r.IntN(len(evenings[e])+1), block)
		total += len(block)
	}
}

func gossipFrames() []frame {
	var out []frame
	var f frame
	part := []string{}
	for l := range gossipText("frames.txt") {
		switch {
		case l == "":
			if len(part) > 0 {
				f.parts = append(f.parts, part)
				out = append(out, f)
			}
			f, part = frame{}, nil
		case l == "--":
			f.parts, part = append(f.parts, part), nil
		case strings.HasPrefix(l, "? "):
			f.questions = append(f.questions, l[2:])
		case !strings.HasPrefix(l, "#"):
			part = append(part, l)
		}
	}
	if len(part) > 0 {
		f.parts = append(f.parts, part)
		out = append(out, f)
	}
	return out
}

// gossipSlots returns what chooses the fillings for one telling of a frame.
func gossipSlots() func(r *rand.Rand, a, b string) func(string) string {
	values := map[string][]string{}
	for l := range gossipText("slots.txt") {
		if name, list, ok := strings.Cut(l, ": "); ok {
			values[name] = strings.Split(list, ", ")
		}
	}
	return func(r *rand.Rand, a, b string) func(string) string {
		pairs := []string{"{A}", a, "{B}", b}
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for k := range values {
				if !yield(k) {
					return
				}
			}
		}) {
			pairs = append(pairs, "{"+name+"}", values[name][r.IntN(len(values[name]))])
		}
		return strings.NewReplacer(pairs...).Replace
	}
}

func gossipChatter() []string {
	return slices.Collect(gossipText("chatter.txt"))
}

// gossipText yields the lines of a built-in file.
func gossipText(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		f, err := gossipFiles.Open("gossip/" + name)
		if err != nil {
			panic(err) // it is built in
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if !yield(strings.TrimSpace(lines.Text())) {
				return
			}
		}
	}
}
