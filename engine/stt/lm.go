package stt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// The file of a language model in CMU sphinxbase's trie format, order 3, with
// numbers in the machine's order, little-endian:
//
//	"Trie Language Model" | order u8 | counts 3*u32 | 1 u32
//	quantisation tables   3*65536 floats
//	unigrams              counts[0]+1 * { probability, backoff float; next u32 }
//	bigrams, trigrams     bits
//	length u32            words, each ended by a zero byte
//
// Everything but the unigrams is addressed by word number, so that words can be
// added behind the last one, as long as their numbers fit the bits of the others.
const (
	trieMagic   = "Trie Language Model"
	trieTables  = 3 * 65536 * 4
	trieUnigram = 12
	trieCounts  = len(trieMagic) + 1
	trieHead    = trieCounts + 3*4 + 4
	// maxTrie bounds the model that is read: Debian's has 27 MB.
	maxTrie = 256 << 20
)

// chanceOf is how likely each of n names is made in any place, as the logarithm to
// base 10: a half percent, or less where there are so many names that together they
// would be more than a tenth of all that is said. "goblins" has -5 in the general
// model.
func chanceOf(n int) float64 { return min(-2.3, math.Log10(0.1/float64(max(n, 1)))) }

// trieLog is what the model's numbers are logarithms to.
var trieLog = math.Log10(1.0001)

// rareChance is how likely a word is at most that is a name and nothing else:
// "bartok" has -7.3, "grappling" -6.0.
const rareChance = -6.5

// withWords is the model with words made likely, those it lacks being added. rare
// are those that the model did not know or hardly ever met.
func withWords(model []byte, words []string) (changed []byte, rare map[string]bool, err error) {
	if len(model) < trieHead+trieTables || string(model[:len(trieMagic)]) != trieMagic || model[len(trieMagic)] != 3 {
		return nil, nil, errors.New("language model: not a trie of order 3")
	}
	le := binary.LittleEndian
	known := int(le.Uint32(model[trieCounts:]))
	uni := trieHead + trieTables
	uniEnd := uni + known*trieUnigram
	grams := uniEnd + trieUnigram
	text, err := wordsAt(model, known, grams)
	if err != nil {
		return nil, nil, err
	}
	number := make(map[string]int, known)
	for i, w := range bytes.Split(bytes.TrimSuffix(model[text:], []byte{0}), []byte{0}) {
		number[string(w)] = i
	}
	unigrams := bytes.Clone(model[uni:uniEnd])
	list := bytes.Clone(model[text:])
	rare = map[string]bool{}
	least := float32(chanceOf(len(words)) / trieLog)
	chance := math.Float32bits(least)
	added := 0
	for _, w := range words {
		if i, ok := number[w]; ok {
			at := unigrams[i*trieUnigram:]
			was := math.Float32frombits(le.Uint32(at))
			rare[w] = float64(was)*trieLog < rareChance
			if was < least {
				le.PutUint32(at, chance)
			}
			continue
		}
		rare[w] = true
		number[w] = known + added
		added++
		unigrams = le.AppendUint32(unigrams, chance)
		unigrams = le.AppendUint32(unigrams, 0)                            // no backoff: nothing follows it in the trie
		unigrams = append(unigrams, model[uniEnd+8:uniEnd+trieUnigram]...) // its children end where all end
		list = append(append(list, w...), 0)
	}
	if bits.Len(uint(known+added)) != bits.Len(uint(known)) {
		return nil, nil, fmt.Errorf("language model: no room for %d words", added)
	}
	changed = make([]byte, 0, len(model)+added*(trieUnigram+20))
	changed = append(changed, model[:uni]...)
	le.PutUint32(changed[trieCounts:], uint32(known+added))
	changed = append(changed, unigrams...)
	changed = append(changed, model[uniEnd:text-4]...)
	changed = le.AppendUint32(changed, uint32(len(list)))
	return append(changed, list...), rare, nil
}

// wordsAt is where the words begin: behind the bits, whose length follows from the
// counts.
func wordsAt(model []byte, known, grams int) (int, error) {
	le := binary.LittleEndian
	two, three := int(le.Uint32(model[trieCounts+4:])), int(le.Uint32(model[trieCounts+8:]))
	size := func(entries, width int) int { return ((1+entries)*width+7)/8 + 8 }
	word := bits.Len(uint(known))
	at := grams + size(two, word+32+bits.Len(uint(three))) + size(three, word+16)
	if grams < 0 || at < grams || at+4 > len(model) || int(le.Uint32(model[at:])) != len(model)-at-4 {
		return 0, errors.New("language model: its parts do not add up")
	}
	return at + 4, nil
}
