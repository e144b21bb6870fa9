package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
)

// Bounds on embeddings.
const (
	MaxDimensions = 8192 // of a vector; models in use have 256 to 4,096
	// PassageLines is how many lines a passage has, and every third line begins
	// one: an answer and its question are in one passage somewhere.
	PassageLines = 6
	// PassageStep is how many lines further the next one begins.
	PassageStep = 3
	// queryWithin is how long a question may take to be embedded. Words alone
	// answer what is later.
	queryWithin = 250 * time.Millisecond
	embedBatch  = 32               // passages in one request
	embedEvery  = 5 * time.Second  // between looks for new passages
	embedRetry  = 30 * time.Second // after a failure
)

// An Embedder turns texts into vectors, such as a model behind an
// OpenAI-compatible server.
type Embedder interface {
	// Model names the model. Vectors of different models are never compared.
	Model() string
	// Embed returns one vector for each text, all of one length.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// A Passage is a few lines said one after another to the same listeners.
type Passage struct {
	Seq  int64
	Text string
}

// A Vector is what a model made of a passage.
type Vector struct {
	Seq    int64
	Values []float32
}

// WithEmbeddings is store with searches that also find what was meant, not only
// what was said. Everything else is as it was, and so is a search when the
// embedder does not answer within a quarter of a second.
func WithEmbeddings(store Store, e Embedder) Store { return meaning{store, e} }

type meaning struct {
	Store
	e Embedder
}

// Search embeds the question and searches with both.
func (m meaning) Search(ctx context.Context, v Viewer, q Query) ([]Hit, error) {
	if strings.TrimSpace(q.Text) != "" && q.Vector == nil {
		limited, cancel := context.WithTimeout(ctx, queryWithin)
		vs, err := m.e.Embed(limited, []string{q.Text[:min(len(q.Text), MaxQuery)]})
		cancel()
		if err == nil && len(vs) == 1 {
			q.Vector, q.Model = vs[0], m.e.Model()
		}
	}
	return m.Store.Search(ctx, v, q)
}

// EmbedPending embeds up to n passages that have no vector of the embedder's
// model yet, and says how many it did. It may be interrupted and repeated; after
// a change of model it begins anew beside the old vectors.
func EmbedPending(ctx context.Context, store Store, e Embedder, n int) (int, error) {
	done := 0
	for done < n {
		ps, err := store.Pending(ctx, e.Model(), min(embedBatch, n-done))
		if err != nil || len(ps) == 0 {
			return done, err
		}
		texts := make([]string, len(ps))
		for i, p := range ps {
			texts[i] = p.Text
		}
		vs, err := e.Embed(ctx, texts)
		if err != nil {
			return done, err
		}
		if len(vs) != len(ps) {
			return done, fmt.Errorf("memory: %s made %d vectors of %d texts", e.Model(), len(vs), len(ps))
		}
		out := make([]Vector, len(ps))
		for i := range ps {
			out[i] = Vector{ps[i].Seq, vs[i]}
		}
		if err := store.PutVectors(ctx, e.Model(), out...); err != nil {
			return done, err
		}
		done += len(ps)
	}
	return done, nil
}

// A Digester embeds new passages in the background until it is closed.
type Digester struct {
	stop  context.CancelFunc
	tasks sync.WaitGroup
}

// NewDigester starts to embed what is said. trouble is told once when the
// embedder fails, and once with nil when it works again; nil ignores it.
func NewDigester(store Store, e Embedder, trouble func(error)) *Digester {
	ctx, stop := context.WithCancel(context.Background()) // ended by Close
	d := &Digester{stop: stop}
	d.tasks.Go(func() {
		failed := false
		for {
			_, err := EmbedPending(ctx, store, e, math.MaxInt)
			if ctx.Err() != nil {
				return
			}
			if trouble != nil && failed != (err != nil) {
				trouble(err)
			}
			failed = err != nil
			pause := embedEvery
			if failed {
				pause = embedRetry
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
		}
	})
	return d
}

// Close stops and waits for what is being done.
func (d *Digester) Close() {
	d.stop()
	d.tasks.Wait()
}

// Quantize writes a vector of length one with a byte a dimension, and its scale.
// It refuses what is no vector.
func Quantize(v []float32) (b []byte, scale float64, err error) {
	if len(v) == 0 || len(v) > MaxDimensions {
		return nil, 0, fmt.Errorf("memory: a vector of %d dimensions, want 1 to %d", len(v), MaxDimensions)
	}
	sum, most := 0.0, 0.0
	for _, x := range v {
		f := float64(x)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, 0, errors.New("memory: a vector with a value that is no number")
		}
		sum += f * f
		most = max(most, math.Abs(f))
	}
	if sum == 0 {
		return nil, 0, errors.New("memory: a vector without direction")
	}
	b = make([]byte, len(v))
	for i, x := range v {
		b[i] = byte(int8(math.Round(float64(x) / most * 127)))
	}
	return b, most / 127 / math.Sqrt(sum), nil
}

// Signs keeps of a vector one bit a dimension.
func Signs(b []byte) []uint64 {
	out := make([]uint64, (len(b)+63)/64)
	for i, x := range b {
		if int8(x) > 0 {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}

// Dot is the scalar product of two quantized vectors before their scales.
func Dot(a, b []byte) float64 {
	sum := 0
	for i := range min(len(a), len(b)) {
		sum += int(int8(a[i])) * int(int8(b[i]))
	}
	return float64(sum)
}
