// Gen makes the table of package meaning from word vectors in GloVe's text format
// (https://nlp.stanford.edu/projects/glove, glove.6B.100d.txt, public domain):
// one word a line with its numbers, the commonest word first.
//
//	go run ./memory/meaning/gen < glove.6B.100d.txt > memory/meaning/words.bin
//
// It keeps the commonest words, takes away what all words have in common (their
// mean, and the two directions in which they differ most, which tell common words
// from rare ones and newspapers from the web: Mu and Viswanath, "All-but-the-Top"),
// and keeps the next 48 directions in whole numbers of eight bits.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory/meaning"
)

const (
	keepWords = 50_000
	common    = 2 // directions that every word has
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// A word with its vector.
type word struct {
	text   string
	vector []float64
}

func run(in io.Reader, out io.Writer) error {
	words, err := read(in)
	if err != nil {
		return err
	}
	center(words)
	axes := principal(words)
	project(words, axes[common:common+meaning.Dimensions])
	slices.SortFunc(words, func(a, b word) int { return strings.Compare(a.text, b.text) })
	return write(out, words)
}

// read takes the first words that are made of letters.
func read(in io.Reader) ([]word, error) {
	var words []word
	lines := bufio.NewScanner(in)
	for lines.Scan() && len(words) < keepWords {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.Trim(fields[0], "abcdefghijklmnopqrstuvwxyz") != "" {
			continue
		}
		w := word{text: fields[0]}
		for _, f := range fields[1:] {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return nil, fmt.Errorf("the vector of %q: %w", w.text, err)
			}
			w.vector = append(w.vector, v)
		}
		if len(words) > 0 && len(w.vector) != len(words[0].vector) || len(w.vector) < common+meaning.Dimensions {
			return nil, fmt.Errorf("%q has a vector of %d numbers", w.text, len(w.vector))
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("there are no words: please give vectors in GloVe's text format on standard input")
	}
	return words, lines.Err()
}

func center(words []word) {
	mean := make([]float64, len(words[0].vector))
	for _, w := range words {
		for i, v := range w.vector {
			mean[i] += v / float64(len(words))
		}
	}
	for _, w := range words {
		for i := range w.vector {
			w.vector[i] -= mean[i]
		}
	}
}

// principal returns the directions in which the words differ, most first.
func principal(words []word) [][]float64 {
	n := len(words[0].vector)
	covariance := make([][]float64, n)
	for i := range covariance {
		covariance[i] = make([]float64, n)
	}
	for _, w := range words {
		for i, a := range w.vector {
			for j, b := range w.vector[:i+1] {
				covariance[i][j] += a * b / float64(len(words))
				covariance[j][i] = covariance[i][j]
			}
		}
	}
	return eigenvectors(covariance)
}

// eigenvectors is Jacobi's method for a symmetric matrix, which it destroys: it
// turns pairs of axes until nothing is left beside the diagonal. The vectors come
// in the order of their values, greatest first.
func eigenvectors(m [][]float64) [][]float64 {
	n := len(m)
	v := make([][]float64, n) // rows are the axes
	for i := range v {
		v[i] = make([]float64, n)
		v[i][i] = 1
	}
	for range 30 { // sweeps; it is exact to rounding after about ten
		for p := range n {
			for q := p + 1; q < n; q++ {
				turn(m, v, p, q)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if m[a][a] > m[b][b] {
			return -1
		}
		return 1
	})
	sorted := make([][]float64, n)
	for i, o := range order {
		sorted[i] = v[o]
	}
	return sorted
}

// turn rotates the axes p and q so that m[p][q] becomes zero.
func turn(m, v [][]float64, p, q int) {
	if math.Abs(m[p][q]) < 1e-12 {
		return
	}
	theta := (m[q][q] - m[p][p]) / (2 * m[p][q])
	t := math.Copysign(1, theta) / (math.Abs(theta) + math.Sqrt(theta*theta+1))
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	for k := range m {
		kp, kq := m[k][p], m[k][q]
		m[k][p], m[k][q] = c*kp-s*kq, s*kp+c*kq
	}
	for k := range m {
		pk, qk := m[p][k], m[q][k]
		m[p][k], m[q][k] = c*pk-s*qk, s*pk+c*qk
		pk, qk = v[p][k], v[q][k]
		v[p][k], v[q][k] = c*pk-s*qk, s*pk+c*qk
	}
}

// project replaces each vector by its parts along the axes.
func project(words []word, axes [][]float64) {
	for i, w := range words {
		parts := make([]float64, len(axes))
		for j, axis := range axes {
			for k, v := range w.vector {
				parts[j] += v * axis[k]
			}
		}
		words[i].vector = parts
	}
}

// write packs the words: how many, the words a line each, and the vectors, each
// stretched so that its greatest part is 127.
func write(out io.Writer, words []word) error {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(words)))
	for _, w := range words {
		b = append(append(b, w.text...), '\n')
	}
	for _, w := range words {
		greatest := 0.0
		for _, v := range w.vector {
			greatest = max(greatest, math.Abs(v))
		}
		for _, v := range w.vector {
			b = append(b, byte(int8(math.Round(v/greatest*127))))
		}
	}
	_, err := out.Write(b)
	return err
}
