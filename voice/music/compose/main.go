// Compose makes the two pieces of music that are shipped with Glyphoxa, out of
// nothing but arithmetic: a plucked lute for warm rooms, and a low choir of bells
// for cold ones. Both are 24 seconds long and end where they begin. They are under
// the project's licence, like everything else here.
//
// Run it in voice/music: go run ./compose
package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/glyphoxa/glyphoxa/voice/opus"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

const length = 24 * pcm.Rate // samples

func main() {
	for name, play := range map[string]func(*score){"hearth": hearth, "shadows": shadows} {
		s := &score{dice: rand.New(rand.NewPCG(1, 2))}
		play(s)
		if err := os.WriteFile("shipped/"+name+".ogg", encode(s.samples()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "compose:", err)
			os.Exit(1)
		}
	}
}

// score is sound that is being written. What sounds beyond the end sounds at the
// beginning, so that the piece can be played over and over.
type score struct {
	sound [length]float64
	dice  *rand.Rand
}

func (s *score) add(at int, v float64) { s.sound[at%length] += v }

// pitch is the frequency of a note, 69 being the A at 440 Hz.
func pitch(note int) float64 { return 440 * math.Pow(2, float64(note-69)/12) }

// pluck is a string: noise that goes round and wears off. Karplus and Strong, 1983.
func (s *score) pluck(at, note int, loud, damp float64) {
	line := make([]float64, int(pcm.Rate/pitch(note)))
	for i := range line {
		line[i] = s.dice.Float64()*2 - 1
	}
	for range 4 { // a finger is softer than noise
		for i := range line {
			line[i] = (line[i] + line[(i+1)%len(line)]) / 2
		}
	}
	for i := range 5 * pcm.Rate {
		k := i % len(line)
		s.add(at+i, loud*line[k]*min(1, float64(5*pcm.Rate-i)/pcm.Rate))
		line[k] = damp * (line[k] + line[(k+1)%len(line)]) / 2
	}
}

// pad is a soft chord tone that swells and dies away.
func (s *score) pad(at, note int, seconds, loud float64) {
	n := int(seconds * pcm.Rate)
	f := pitch(note)
	for i := range n {
		t, x := float64(i)/pcm.Rate, float64(i)/float64(n)
		v := math.Sin(2*math.Pi*f*t) + 0.4*math.Sin(2*math.Pi*f*1.004*t) + 0.25*math.Sin(2*math.Pi*f*2.001*t)
		s.add(at+i, loud*v*math.Pow(math.Sin(math.Pi*x), 2))
	}
}

// bell is a struck bell: partials that are no multiples of each other.
func (s *score) bell(at, note int, loud float64) {
	for k, ratio := range []float64{1, 2.01, 2.76, 4.07, 5.4} {
		f, decay := pitch(note)*ratio, 1.2+0.9*float64(k)
		for i := range 6 * pcm.Rate {
			t := float64(i) / pcm.Rate
			s.add(at+i, loud/float64(k+1)*math.Sin(2*math.Pi*f*t)*math.Exp(-decay*t)*min(1, t*200))
		}
	}
}

// hearth: eight bars of three in G, a lute over a quiet ground.
func hearth(s *score) {
	const bar = length / 8
	chords := [][]int{{43, 59, 62, 67}, {43, 59, 62, 71}, {40, 59, 64, 67}, {48, 60, 64, 67}, {43, 59, 62, 67}, {45, 60, 64, 69}, {50, 57, 62, 66}, {43, 59, 62, 67}}
	tune := [][]int{{74, 71, 67}, {71, 74, 79}, {76, 74, 71}, {72, 76, 72}, {74, 71, 74}, {76, 72, 69}, {74, 69, 66}, {67, 71, 74}}
	for i, c := range chords {
		at := i * bar
		s.pluck(at, c[0], 0.5, 0.998)
		for beat, note := range []int{c[1], c[2], c[3], c[2], c[3], c[1]} {
			s.pluck(at+beat*bar/6+s.dice.IntN(600), note, 0.22, 0.996)
		}
		for beat, note := range tune[i] {
			if (i+beat)%4 != 3 {
				s.pluck(at+beat*bar/3+s.dice.IntN(900), note, 0.3, 0.995)
			}
		}
		s.pad(at, c[0]+12, 4.2, 0.035)
		s.pad(at, c[2], 4.2, 0.02)
	}
}

// shadows: a low fifth that never quite rests, and bells from far away.
func shadows(s *score) {
	const part = length / 6
	for i, ground := range []int{38, 38, 39, 38, 36, 37} {
		at := i * part
		s.pad(at, ground, 7.5, 0.22)
		s.pad(at+part/2, ground+7, 6.5, 0.1)
		s.pad(at+part/3, ground+24+[]int{0, 3, 1, 6, 3, 2}[i], 5.5, 0.035)
	}
	for i, note := range []int{62, 65, 61, 68, 60, 63, 62} {
		s.bell(i*length/7+s.dice.IntN(pcm.Rate), note+12*(i%2), 0.1)
	}
	for i := range 12 { // a drum somewhere below
		at := i * length / 12
		for k := range pcm.Rate {
			t := float64(k) / pcm.Rate
			s.add(at+k, 0.25*math.Sin(2*math.Pi*(44*t-6*t*t))*math.Exp(-5*t))
		}
	}
}

// samples levels the sound to 6 dB below full scale.
func (s *score) samples() []int16 {
	peak := 0.0
	for _, v := range s.sound {
		peak = max(peak, math.Abs(v))
	}
	out := make([]int16, length)
	for i, v := range s.sound {
		out[i] = int16(v / peak * 16000)
	}
	return out
}

const (
	// preSkip is what players drop at the beginning, as RFC 7845 recommends: 80 ms.
	preSkip = 3840
	// lookAhead is by how much libopus is late at 48 kHz.
	lookAhead = 312
	bitrate   = 40_000
)

// encode writes Ogg Opus. The encoder hears the end of the piece before its
// beginning and the beginning behind its end, so that both join without a seam.
func encode(piece []int16) []byte {
	enc, err := opus.NewEncoder(opus.EncoderOptions{Bitrate: bitrate, Complexity: 10})
	if err != nil {
		panic(err)
	}
	var w oggWriter
	head := append([]byte("OpusHead\x01\x01"), 0, 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint16(head[10:], preSkip)
	binary.LittleEndian.PutUint32(head[12:], pcm.Rate)
	w.page([][]byte{head}, 0, 2)
	tags := []byte("OpusTags")
	for _, t := range []string{"Glyphoxa compose", "\x01"} {
		if t == "\x01" {
			tags = binary.LittleEndian.AppendUint32(tags, 1)
			t = "LICENSE=that of Glyphoxa, see LICENSE there"
		}
		tags = append(binary.LittleEndian.AppendUint32(tags, uint32(len(t))), t...)
	}
	w.page([][]byte{tags}, 0, 0)

	total := preSkip + len(piece)
	frames := (total + pcm.FrameSize - 1) / pcm.FrameSize
	var packets [][]byte
	frame, out := make([]int16, pcm.FrameSize), make([]byte, 1275)
	for i := range frames {
		for k := range frame {
			frame[k] = piece[(len(piece)-preSkip+lookAhead+i*pcm.FrameSize+k)%len(piece)]
		}
		n, err := enc.Encode(frame, out)
		if err != nil {
			panic(err)
		}
		packets = append(packets, append([]byte(nil), out[:n]...))
		if len(packets) == 50 || i == frames-1 {
			position, flags := (i+1)*pcm.FrameSize, byte(0)
			if i == frames-1 {
				position, flags = total, 4
			}
			w.page(packets, position, flags)
			packets = nil
		}
	}
	return w.out
}

// oggWriter writes the pages of one stream. RFC 3533, section 6.
type oggWriter struct {
	out    []byte
	number uint32
}

func (w *oggWriter) page(packets [][]byte, position int, flags byte) {
	head := append([]byte("OggS\x00"), flags)
	head = binary.LittleEndian.AppendUint64(head, uint64(position))
	head = binary.LittleEndian.AppendUint32(head, 0x676c7970)
	head = binary.LittleEndian.AppendUint32(head, w.number)
	head = append(head, 0, 0, 0, 0)
	var lengths, body []byte
	for _, p := range packets {
		n := len(p)
		for ; n >= 255; n -= 255 {
			lengths = append(lengths, 255)
		}
		lengths, body = append(lengths, byte(n)), append(body, p...)
	}
	page := append(append(append(head, byte(len(lengths))), lengths...), body...)
	crc := uint32(0)
	for _, b := range page {
		crc ^= uint32(b) << 24
		for range 8 {
			if crc&0x80000000 != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	binary.LittleEndian.PutUint32(page[22:], crc)
	w.out, w.number = append(w.out, page...), w.number+1
}
