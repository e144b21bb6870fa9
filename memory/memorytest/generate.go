package memorytest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

// A Talk makes up sessions whose lines are as long, and whose words as common,
// as those of recorded play: 2,500 lines an evening, 12 words a line on average
// with a long tail, a vocabulary after Zipf's law with a thousand names in it,
// 200 NPCs of whom one to four are present in a scene.
type Talk struct {
	r     *rand.Rand
	words []string
	names []string
	zipf  *rand.Zipf
	who   *rand.Zipf
	n     int
	scene []string
	left  int // lines until the scene changes
}

// talkSession is how many lines an evening has.
const talkSession = 2500

// NewTalk makes the same talk for the same seed.
func NewTalk(seed uint64) *Talk {
	r := rand.New(rand.NewPCG(seed, 1))
	t := &Talk{r: r}
	for range 20_000 {
		t.words = append(t.words, t.syllables(1, 3))
	}
	// Every twentieth word is one that people use, for which there are others.
	i := 10
	for l := range gossipText("frames.txt") {
		for w := range strings.FieldsSeq(strings.ToLower(l)) {
			w = strings.Trim(w, ".,?!'\"")
			if i < len(t.words) && len(w) > 3 && memory.Terms(w) != nil && !strings.ContainsAny(w, "{}*|'") && !slices.Contains(t.words[:i], w) {
				t.words[i] = w
				i += 20
			}
		}
	}
	for range 1000 {
		name := t.syllables(2, 4)
		t.names = append(t.names, strings.ToUpper(name[:1])+name[1:])
	}
	t.zipf = rand.NewZipf(r, 1.07, 8, uint64(len(t.words)-1))
	t.who = rand.NewZipf(r, 1.3, 3, uint64(len(t.names)-1))
	return t
}

func (t *Talk) syllables(least, most int) string {
	var b strings.Builder
	for range least + t.r.IntN(most-least+1) {
		b.WriteByte("bcdfghklmnprstvwz"[t.r.IntN(17)])
		b.WriteByte("aeiou"[t.r.IntN(5)])
		if t.r.IntN(2) == 0 {
			b.WriteByte("lmnrst"[t.r.IntN(6)])
		}
	}
	return b.String()
}

// Word is a word as common as it would be in the talk; Name is a name.
func (t *Talk) Word() string { return t.words[t.zipf.Uint64()] }

// Name is a name as common as it would be in the talk.
func (t *Talk) Name() string { return t.names[t.who.Uint64()] }

// NPC is the id of NPC n, of which the first are present most.
func NPC(n int) string { return fmt.Sprintf("npc-%d", n) }

// Next returns the next n lines of the talk.
func (t *Talk) Next(n int) []memory.Line {
	out := make([]memory.Line, 0, n)
	for range n {
		if t.left == 0 {
			t.left = 20 + t.r.IntN(60)
			t.scene = t.scene[:0]
			for range 1 + t.r.IntN(4) {
				// The best-known NPC is in a quarter of all scenes.
				npc := NPC(int(200 * math.Pow(t.r.Float64(), 4)))
				t.scene = append(t.scene, npc)
			}
		}
		t.left--
		session := t.n / talkSession
		l := memory.Line{
			ID: fmt.Sprintf("l%d", t.n), Campaign: "vale", Session: fmt.Sprintf("session-%d", session), Scene: "scene",
			At:       Start.Add(time.Duration(session)*7*24*time.Hour + time.Duration(t.n%talkSession)*6*time.Second),
			Audience: append(memory.Audience(nil), t.scene...),
		}
		if t.r.IntN(4) == 0 {
			l.Speaker = memory.Speaker{ID: t.scene[0], Name: t.scene[0], Kind: memory.NPCSpeaker}
		} else {
			p := t.r.IntN(5)
			l.Speaker = memory.Speaker{ID: fmt.Sprintf("player-%d", p), Name: t.names[p], Kind: memory.PlayerSpeaker}
		}
		var b strings.Builder
		for i := range 2 + int(t.r.ExpFloat64()*11) {
			if i > 0 {
				b.WriteByte(' ')
			}
			if t.r.IntN(25) == 0 {
				b.WriteString(t.Name())
			} else {
				b.WriteString(t.Word())
			}
		}
		l.Text = b.String()
		out = append(out, l)
		t.n++
	}
	return out
}
