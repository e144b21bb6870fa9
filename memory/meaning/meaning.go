// Package meaning says how alike two English words are in meaning: "bed" is much
// like "room", a little like "night", and nothing like "prize".
//
// It is how a search finds what was said in other words than it is asked for,
// where no embedding provider is set. The table behind it is part of the binary:
// fifty thousand common words as directions in a space of 48 dimensions, made by
// the program in gen from GloVe's word vectors. Looking a word up takes a few hundred
// nanoseconds and allocates nothing; the table is read once, at the first use.
//
// A table of words knows no sentences: "dog bites man" is like "man bites dog".
// It is meant for weighing single words against each other, as in
//
//	asked, _ := meaning.Of("lodging")
//	said, _ := meaning.Of("room")
//	weight := asked.Like(said)
package meaning

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
)

// Dimensions is the length of a word's vector. Half of it loses nothing that a
// search of dialogue can show, a third does.
const Dimensions = 48

// unrelated is the cosine up to which two words count as having nothing to do
// with each other: of two words taken at random, one pair in a thousand has more.
const unrelated = 0.3

//go:embed words.bin
var packed []byte

// table is the words in alphabetical order with their vectors.
type table struct {
	words   []string
	vectors []int8 // Dimensions for each word
}

var load = sync.OnceValue(func() table { return unpack(packed) })

// unpack reads what gen writes: the number of words, the words, a line each, and
// their vectors.
func unpack(b []byte) table {
	n := int(binary.LittleEndian.Uint32(b))
	end := len(b) - n*Dimensions
	t := table{words: strings.Split(string(bytes.TrimSuffix(b[4:end], []byte("\n"))), "\n"), vectors: make([]int8, n*Dimensions)}
	for i, v := range b[end:] {
		t.vectors[i] = int8(v)
	}
	return t
}

// A Sense is what the table knows of one word.
type Sense struct {
	vector []int8
	square float64 // of its length
}

// Of looks a word up, in lower case and as it was said, not its stem. ok is false
// for words the table does not have: names, rare words, other languages.
func Of(word string) (s Sense, ok bool) {
	t := load()
	i, ok := slices.BinarySearch(t.words, word)
	if !ok {
		return Sense{}, false
	}
	return t.sense(i), true
}

func (t table) sense(i int) Sense {
	v := t.vectors[i*Dimensions : (i+1)*Dimensions]
	return Sense{v, float64(dot(v, v))}
}

// Like is how alike two words are: 0 for words that have nothing to do with each
// other, 1 for the same word. Words of the same field ("cello", "violin") and
// opposites ("buy", "sell") are alike.
func (s Sense) Like(o Sense) float64 {
	if s.square == 0 || o.square == 0 {
		return 0
	}
	cosine := float64(dot(s.vector, o.vector)) / math.Sqrt(s.square*o.square)
	return min(1, max(0, (cosine-unrelated)/(1-unrelated)))
}

func dot(a, b []int8) (sum int32) {
	b = b[:len(a)]
	for i := range a {
		sum += int32(a[i]) * int32(b[i])
	}
	return sum
}

// A Neighbor is a word with its likeness to another.
type Neighbor struct {
	Word string
	Like float64
}

// Near returns up to n words that are most like the given one, the nearest first
// and without itself. It weighs the whole table, which takes some milliseconds.
func Near(word string, n int) []Neighbor {
	s, ok := Of(word)
	if !ok {
		return nil
	}
	t := load()
	var near []Neighbor
	for i, w := range t.words {
		if like := s.Like(t.sense(i)); like > 0 && w != word {
			near = append(near, Neighbor{w, like})
		}
	}
	slices.SortFunc(near, func(a, b Neighbor) int {
		switch {
		case a.Like > b.Like:
			return -1
		case a.Like < b.Like:
			return 1
		}
		return strings.Compare(a.Word, b.Word)
	})
	return near[:min(n, len(near))]
}
