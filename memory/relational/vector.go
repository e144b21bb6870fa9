package relational

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/memory"
)

const (
	// rescored is how many passages, nearest by one bit a dimension, are compared
	// by a byte a dimension.
	rescored = 200
	// nearPassages is how many passages take part in a ranking.
	nearPassages = 30
	// fusion is k of reciprocal rank fusion: Cormack, Clarke and Büttcher, 2009.
	// It is smaller than their 60 because a passage's place is that of its six
	// lines, and meaning counts less than words for the same reason: with both at
	// their usual values a model that understands little halves recall@10.
	fusion        = 10
	meaningWeight = 0.6
	// maxLoaded bounds the campaigns and models whose bits are held at once: 100,000
	// passages of 768 dimensions take 10 MB.
	maxLoaded = 8
)

// vectors holds one bit a dimension of the passages of the campaigns in play.
// Scanning them all is quicker than an index, misses nothing, and deletes
// exactly.
type vectors struct {
	mu     sync.Mutex // guards loaded and what is in it
	loaded map[vectorKey]*signs
}

type vectorKey struct {
	campaign int64
	model    string
}

type signs struct {
	seqs    []int64
	bits    [][]uint64
	checked time.Time // when it was last compared with the database
}

// recheck is how long bits count as current while this process writes none. What
// another process has embedded is found that much later; what it has forgotten is
// not found at all, because lines are read anew.
const recheck = 5 * time.Second

func (v *vectors) clear() {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.loaded)
}

// stale has all bits compared with the database when they are next asked for.
func (v *vectors) stale() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.loaded {
		s.checked = time.Time{}
	}
}

// Pending returns passages without a vector of a model.
func (s *Store) Pending(ctx context.Context, model string, n int) ([]memory.Passage, error) {
	n = min(max(n, 1), memory.MaxHits)
	starts, err := s.pick(ctx, fmt.Sprintf(`SELECT l.seq FROM line l JOIN session n ON n.campaign = l.campaign AND n.id = l.seq >> 32
		LEFT JOIN vector v ON v.campaign = l.campaign AND v.model = ?1 AND v.seq = l.seq
		WHERE v.seq IS NULL AND (l.seq & 4294967295) %% %d = 0 AND (n.ended > 0 OR (l.seq & 4294967295) + %d <= n.lines)
		ORDER BY l.seq LIMIT ?2`, memory.PassageStep, memory.PassageLines), model, n)
	if err != nil {
		return nil, s.explain("looking for passages", err)
	}
	out := make([]memory.Passage, 0, len(starts))
	for _, seq := range starts {
		lines, err := s.passage(ctx, seq)
		if err != nil {
			return nil, s.explain("reading a passage", err)
		}
		var b strings.Builder
		for _, l := range lines {
			fmt.Fprintf(&b, "%s: %s\n", l.Name, l.Text)
		}
		out = append(out, memory.Passage{Seq: seq, Text: b.String()})
	}
	return out, nil
}

// passage reads the lines of a passage: those after its first that were said to
// the same listeners in the same scene.
func (s *Store) passage(ctx context.Context, seq int64) ([]text, error) {
	lines, err := s.passageLines(ctx, []int64{seq})
	return lines[seq], err
}

// passages are the numbers of the lines of several passages.
func (s *Store) passages(ctx context.Context, seqs []int64) (map[int64][]int64, error) {
	lines, err := s.passageLines(ctx, seqs)
	out := make(map[int64][]int64, len(lines))
	for seq, texts := range lines {
		for _, t := range texts {
			out[seq] = append(out[seq], t.Seq)
		}
	}
	return out, err
}

func (s *Store) passageLines(ctx context.Context, seqs []int64) (map[int64][]text, error) {
	var ids []int64
	for _, seq := range seqs {
		for d := range int64(memory.PassageLines) {
			ids = append(ids, seq+d)
		}
	}
	rows, err := s.query(ctx, `SELECT l.seq, l.text, l.name, l.scene, l.heard, l.flags FROM line l WHERE l.seq IN (`+list(ids)+`)`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	type said struct {
		text
		heard string
		aside int64
	}
	lines := map[int64]said{}
	for rows.Next() {
		var l said
		if err := rows.Scan(&l.Seq, &l.Text, &l.Name, &l.scene, &l.heard, &l.aside); err != nil {
			return nil, err
		}
		l.aside &= asideFlag
		lines[l.Seq] = l
	}
	out := make(map[int64][]text, len(seqs))
	for _, seq := range seqs {
		first := lines[seq]
		for d := range int64(memory.PassageLines) {
			l, ok := lines[seq+d]
			if !ok || l.scene != first.scene || l.heard != first.heard || l.aside != first.aside {
				break
			}
			out[seq] = append(out[seq], l.text)
		}
	}
	return out, rows.Err()
}

// PutVectors keeps vectors of passages.
func (s *Store) PutVectors(ctx context.Context, model string, list ...memory.Vector) error {
	defer s.vectors.stale()
	return s.within(ctx, "keeping vectors", func(t *tx) error {
		for _, v := range list {
			b, scale, err := memory.Quantize(v.Values)
			if err != nil {
				return err
			}
			// The line may have been forgotten while the model was at work.
			if err := t.exec(ctx, `INSERT INTO vector (campaign, model, seq, scale, v)
				SELECT campaign, ?1, seq, ?3, ?4 FROM line WHERE seq = ?2 ON CONFLICT DO NOTHING`, model, v.Seq, scale, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropVectors removes the vectors of every passage that has one of the lines.
func (s *Store) dropVectors(ctx context.Context, t *tx, campaign int64, lines []int64) error {
	var starts []int64
	for _, seq := range lines {
		for d := range int64(memory.PassageLines) {
			if d <= seq&0xffffffff && (seq-d)&0xffffffff%memory.PassageStep == 0 {
				starts = append(starts, seq-d)
			}
		}
	}
	slices.Sort(starts)
	for chunk := range slices.Chunk(slices.Compact(starts), 500) {
		if err := t.exec(ctx, `DELETE FROM vector WHERE +campaign = ?1 AND seq IN (`+list(chunk)+`)`, campaign); err != nil {
			return err
		}
	}
	return nil
}

// load returns the bits of a campaign, read anew when there are more or fewer
// than before: this or another process has embedded or forgotten something.
func (s *Store) load(ctx context.Context, key vectorKey) (*signs, error) {
	s.vectors.mu.Lock()
	defer s.vectors.mu.Unlock()
	if s.vectors.loaded == nil {
		s.vectors.loaded = map[vectorKey]*signs{}
	}
	if have, ok := s.vectors.loaded[key]; ok {
		if time.Since(have.checked) < recheck {
			return have, nil
		}
		var n int
		if err := s.row(ctx, `SELECT COUNT(*) FROM vector WHERE campaign = ?1 AND model = ?2`, key.campaign, key.model).Scan(&n); err != nil {
			return nil, err
		}
		if n == len(have.seqs) {
			have.checked = time.Now()
			return have, nil
		}
	}
	rows, err := s.query(ctx, `SELECT seq, v FROM vector WHERE model = ?2 AND campaign = ?1 ORDER BY seq`, key.campaign, key.model)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	fresh := &signs{checked: time.Now()}
	for rows.Next() {
		var seq int64
		var v []byte
		if err := rows.Scan(&seq, &v); err != nil {
			return nil, err
		}
		fresh.seqs, fresh.bits = append(fresh.seqs, seq), append(fresh.bits, memory.Signs(v))
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(s.vectors.loaded) >= maxLoaded {
		clear(s.vectors.loaded)
	}
	s.vectors.loaded[key] = fresh
	return fresh, nil
}

// near returns the lines of the passages nearest to a question's vector, each
// with the place of its passage, without the passages of which the viewer may not see a line.
func (s *Store) near(ctx context.Context, c scope, f filter) (map[int64]int, error) {
	ranked, err := s.nearest(ctx, c, f)
	if err != nil {
		return nil, err
	}
	out := map[int64]int{}
	passages := 0
	for chunk := range slices.Chunk(ranked, nearPassages) {
		lines, err := s.passages(ctx, chunk)
		if err != nil {
			return nil, err
		}
		var ids []int64
		for _, seq := range chunk {
			ids = append(ids, lines[seq]...)
		}
		slices.Sort(ids)
		texts, err := s.texts(ctx, c, slices.Compact(ids))
		if err != nil {
			return nil, err
		}
		seen := make(map[int64]bool, len(texts))
		for _, t := range texts {
			seen[t.Seq] = true
		}
		for _, seq := range chunk {
			if slices.ContainsFunc(lines[seq], func(id int64) bool { return !seen[id] }) {
				continue // what the viewer did not hear may be why it is near
			}
			for _, id := range lines[seq] {
				if _, nearer := out[id]; !nearer {
					out[id] = passages
				}
			}
			if passages++; passages == nearPassages {
				return out, nil
			}
		}
	}
	return out, nil
}

// nearest orders the passages whose bits differ least by how near they are. Which
// of them the viewer may see is not asked here.
func (s *Store) nearest(ctx context.Context, c scope, f filter) ([]int64, error) {
	want, _, err := memory.Quantize(f.q.Vector)
	if err != nil {
		return nil, err
	}
	have, err := s.load(ctx, vectorKey{c.campaign, f.q.Model})
	if err != nil {
		return nil, err
	}
	picked := hamming(have, memory.Signs(want), f)
	if len(picked) == 0 {
		return nil, nil
	}
	return s.rescore(ctx, c.campaign, f.q.Model, want, picked)
}

// hamming returns the passages whose bits differ least.
func hamming(have *signs, want []uint64, f filter) []int64 {
	type far struct {
		seq  int64
		bits int
	}
	var all []far
	for i, b := range have.bits {
		if len(b) != len(want) || have.seqs[i] < f.low || have.seqs[i] > f.high {
			continue
		}
		n := 0
		for j, x := range b {
			n += bits.OnesCount64(x ^ want[j])
		}
		all = append(all, far{have.seqs[i], n})
	}
	slices.SortFunc(all, func(a, b far) int { return cmp.Or(cmp.Compare(a.bits, b.bits), cmp.Compare(b.seq, a.seq)) })
	out := make([]int64, min(len(all), rescored))
	for i := range out {
		out[i] = all[i].seq
	}
	return out
}

// rescore orders passages by how near they are, by a byte a dimension.
func (s *Store) rescore(ctx context.Context, campaign int64, model string, want []byte, seqs []int64) ([]int64, error) {
	rows, err := s.query(ctx, `SELECT seq, scale, v FROM vector WHERE +campaign = ?2 AND model = ?1 AND seq IN (`+list(seqs)+`)`, model, campaign)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	nearness := map[int64]float64{}
	for rows.Next() {
		var seq int64
		var scale float64
		var v []byte
		if err := rows.Scan(&seq, &scale, &v); err != nil {
			return nil, err
		}
		if len(v) == len(want) {
			nearness[seq] = scale * memory.Dot(want, v)
		}
	}
	return top(nearness, len(nearness)), rows.Err()
}

// fuse joins the order by words and the order by meaning: reciprocal rank
// fusion, where what is first in both is first. All lines of a passage have the
// passage's place, and words decide between them.
func fuse(words []int64, meaning map[int64]int) ([]int64, map[int64]float64) {
	score := map[int64]float64{}
	for i, id := range words {
		score[id] += 1 / (fusion + float64(i))
	}
	for id, place := range meaning {
		score[id] += meaningWeight / (fusion + float64(place))
	}
	return top(score, len(score)), score
}
