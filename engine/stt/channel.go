package stt

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// channel is what a voice through its microphone is like on the whole: the mean of
// its cepstrum, which the recogniser takes off. It learns that as it goes, so that
// it mishears half of the first words of each process unless it is told before:
// on flite's voices that took word errors from 29 to 15 % and from 44 to 27 %.
type channel struct {
	mean [13]float64
	set  bool
}

// strange is the distance beyond which a voice is another one. The same voice saying
// something else is 5 to 15 away, another voice or microphone 20 to 60.
const strange = 18.0

func (c channel) distance(o channel) float64 {
	sum := 0.0
	for i := range c.mean {
		sum += (c.mean[i] - o.mean[i]) * (c.mean[i] - o.mean[i])
	}
	return math.Sqrt(sum)
}

// toward is c with a third of the way to o gone, so that one odd utterance does not
// spoil what is known.
func (c channel) toward(o channel) channel {
	for i := range c.mean {
		c.mean[i] += (o.mean[i] - c.mean[i]) / 3
	}
	return c
}

// String is as the recogniser's parameter has it.
func (c channel) String() string {
	var parts []string
	for _, v := range c.mean {
		parts = append(parts, strconv.FormatFloat(v, 'f', 2, 64))
	}
	return strings.Join(parts, ",")
}

// acoustics makes a directory with the acoustic model in it whose parameters expect
// the channel. The program reads that only from a file beside the model.
func (p *Pocketsphinx) acoustics(expected channel) (string, error) {
	dir, err := os.MkdirTemp("", "glyphoxa-hear-")
	if err != nil {
		return "", err
	}
	from := filepath.Join(p.model, "en-us")
	err = p.link(from, dir, expected)
	if err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("acoustic model: %w", err)
	}
	return dir, nil
}

var cmninit = regexp.MustCompile(`(?m)^-cmninit .*$`)

func (p *Pocketsphinx) link(from, dir string, expected channel) error {
	const params = "feat.params"
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Name() == params {
			continue
		}
		if err := os.Symlink(filepath.Join(from, f.Name()), filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	b, err := os.ReadFile(filepath.Join(from, params))
	if err != nil {
		return err
	}
	if expected.set {
		b = cmninit.ReplaceAll(b, []byte("-cmninit "+expected.String()))
	}
	return os.WriteFile(filepath.Join(dir, params), b, 0o600)
}

var updated = regexp.MustCompile(`Update to\s+<([^>]*)>`)

// measuredIn reads what the recogniser wrote last about the channel in its log.
func measuredIn(log string) channel {
	const maxLog = 1 << 20
	b, err := readLimited(log, maxLog)
	if err != nil {
		return channel{}
	}
	all := updated.FindAllSubmatch(b, -1)
	if len(all) == 0 {
		return channel{}
	}
	var c channel
	fields := strings.Fields(string(all[len(all)-1][1]))
	if len(fields) != len(c.mean) {
		return channel{}
	}
	for i, f := range fields {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return channel{}
		}
		c.mean[i] = v
	}
	c.set = true
	return c
}
