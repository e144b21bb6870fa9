package dice

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// chiSquare compares counts with what was expected.
func chiSquare(counts []int, expected func(i int) float64) float64 {
	sum := 0.0
	for i, n := range counts {
		want := expected(i)
		sum += (float64(n) - want) * (float64(n) - want) / want
	}
	return sum
}

// critical is about the chi-square value that a fair die exceeds once in a
// million (Wilson and Hilferty's approximation, 4.753 standard deviations).
func critical(freedom int) float64 {
	f := float64(freedom)
	return f * math.Pow(1-2/(9*f)+4.753*math.Sqrt(2/(9*f)), 3)
}

// fixed are the dice of production with a seed that never changes, so that
// the test cannot fail by bad luck.
func fixed() *Roller { return newRoller(rand.New(rand.NewChaCha8([32]byte{20}))) }

func TestEveryFaceIsEquallyLikely(t *testing.T) {
	for _, faces := range []int{2, 3, 4, 6, 7, 8, 10, 12, 20, 100} {
		r := fixed()
		e := &Expression{root: &dice{count: 1, faces: faces}}
		counts := make([]int, faces)
		for range 1000 * faces {
			total, err := r.Total(e, Straight)
			if err != nil {
				t.Fatal(err)
			}
			counts[total-1]++
		}
		if got, most := chiSquare(counts, func(int) float64 { return 1000 }), critical(faces-1); got > most {
			t.Errorf("d%d: chi-square %.1f, at most %.1f", faces, got, most)
		}
	}
}

func TestSuccessiveRollsDoNotDependOnEachOther(t *testing.T) {
	r := fixed()
	counts := make([]int, 400)
	last := r.number(20)
	for range 400 * 100 {
		now := r.number(20)
		counts[(last-1)*20+now-1]++
		last = now
	}
	if got, most := chiSquare(counts, func(int) float64 { return 100 }), critical(399); got > most {
		t.Errorf("chi-square of pairs %.1f, at most %.1f", got, most)
	}
}

func TestAdvantageFollowsItsExactLaw(t *testing.T) {
	for adv, law := range map[Advantage]func(i int) float64{
		WithAdvantage:    func(i int) float64 { return float64(2*(i+1)-1) / 400 },
		WithDisadvantage: func(i int) float64 { return float64(2*(20-i)-1) / 400 },
	} {
		r := fixed()
		e := &Expression{root: &dice{count: 1, faces: 20}}
		const n = 40_000
		counts := make([]int, 20)
		for range n {
			total, err := r.Total(e, adv)
			if err != nil {
				t.Fatal(err)
			}
			counts[total-1]++
		}
		if got, most := chiSquare(counts, func(i int) float64 { return n * law(i) }), critical(19); got > most {
			t.Errorf("advantage %d: chi-square %.1f, at most %.1f", adv, got, most)
		}
	}
}

// edge is a source that begins with one extreme word. It goes on with fair
// ones, because a source of nothing but zeros is one that no unbiased choice
// can end on.
type edge struct {
	first uint64
	used  bool
	rest  rand.PCG
}

func (e *edge) Uint64() uint64 {
	if !e.used {
		e.used = true
		return e.first
	}
	return e.rest.Uint64()
}

func TestTheSourcesEdgesStayOnTheDie(t *testing.T) {
	for _, first := range []uint64{0, 1, math.MaxUint64} {
		for _, expr := range []string{"1d20", "1d6", "1d1000000", "1d1", "1d8"} {
			got, err := newRoller(rand.New(&edge{first: first})).Roll(expr, Straight)
			if err != nil || got.Total < 1 || got.Total > int64(got.Dice[0].Faces) {
				t.Errorf("%s at %d: %+v, %v", expr, first, got, err)
			}
		}
	}
}

func TestARevealedSeedReplaysTheSessionItWasCommittedTo(t *testing.T) {
	session := NewFair()
	commitment := session.Commitment()
	var evening []int64
	for range 100 {
		got, err := session.Roll("3d20", Straight)
		if err != nil {
			t.Fatal(err)
		}
		evening = append(evening, got.Total)
	}
	seed := session.Reveal()
	raw, err := hex.DecodeString(seed)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != commitment {
		t.Error("the seed is not the one that was committed to")
	}
	replay, err := Replay(seed)
	if err != nil {
		t.Fatal(err)
	}
	var again []int64
	for range 100 {
		got, err := replay.Roll("3d20", Straight)
		if err != nil {
			t.Fatal(err)
		}
		again = append(again, got.Total)
	}
	if !slices.Equal(evening, again) {
		t.Errorf("replayed %v, rolled %v", again, evening)
	}
	if other := NewFair(); other.Commitment() == commitment {
		t.Error("two sessions share a seed")
	}
	if _, err := Replay(seed[:62]); err == nil {
		t.Error("a short seed was accepted")
	}
}

func TestASeedRepeatsItsRolls(t *testing.T) {
	a, b := NewSeeded(42), NewSeeded(42)
	for range 50 {
		x, errX := a.Roll("2d20kh1+1d4", Straight)
		y, errY := b.Roll("2d20kh1+1d4", Straight)
		if errX != nil || errY != nil || x.Text != y.Text {
			t.Fatalf("%v %v, %v %v", x.Text, y.Text, errX, errY)
		}
	}
}
