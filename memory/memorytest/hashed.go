package memorytest

import (
	"context"
	"math/rand/v2"

	"github.com/glyphoxa/glyphoxa/memory"
)

// Hashed is an embedder without a model: a text's vector is the sum of fixed
// random vectors: one for each of its terms, for each three letters in a row, and
// for other words that people say for the same. It knows no more than a search by
// words does, so that what it adds is what merely having a second opinion adds. A
// model's figures are better.
type Hashed struct {
	dimensions int
	parts      map[string][]float32
}

// NewHashed is an embedder whose vectors have so many dimensions. Use it from one
// goroutine at a time.
func NewHashed(dimensions int) Hashed { return Hashed{dimensions, map[string][]float32{}} }

// Model names it.
func (h Hashed) Model() string { return "hashed" }

// Embed adds up what the parts of each text are.
func (h Hashed) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, h.dimensions)
		for _, t := range memory.Terms(text) {
			q := memory.Ask(t)
			if len(q.Senses) == 0 && len(t) < 4 {
				continue // mostly small words
			}
			h.add(v, t, 1)
			for _, u := range q.Senses[t] {
				h.add(v, u, 0.4)
			}
			for j := 0; j+3 <= len(t); j++ {
				h.add(v, t[j:j+3], 0.3)
			}
		}
		v[0] += 0.01 // nothing has a direction too
		out[i] = v
	}
	return out, nil
}

func (h Hashed) add(v []float32, part string, weight float32) {
	if p, ok := h.parts[part]; ok {
		for i := range v {
			v[i] += weight * p[i]
		}
		return
	}
	sum := uint64(14695981039346656037) // FNV-1a, which is the same everywhere
	for i := range len(part) {
		sum = (sum ^ uint64(part[i])) * 1099511628211
	}
	r := rand.New(rand.NewPCG(3, sum))
	p := make([]float32, len(v))
	for i := range p {
		p[i] = float32(r.NormFloat64())
		v[i] += weight * p[i]
	}
	h.parts[part] = p
}
