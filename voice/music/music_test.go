package music

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tone is two seconds of 440 Hz as WAV.
func tone(rate, hertz int) []byte {
	s := make([]int16, 2*rate)
	for i := range s {
		s[i] = int16(12000 * math.Sin(2*math.Pi*float64(hertz)*float64(i)/float64(rate)))
	}
	return pcm.EncodeWAV(rate, s)
}

// whole decodes a piece once.
func whole(t testing.TB, p *Piece) []int16 {
	t.Helper()
	l, err := newLoop(p)
	if err != nil {
		t.Fatal(err)
	}
	for !l.ended {
		if err := l.fill(len(l.buf) + pcm.Rate); err != nil {
			t.Fatal(err)
		}
	}
	return l.buf
}

// share is how much of a sound is one frequency, from 0 to 1.
func share(s []int16, hertz float64) float64 {
	var re, im, all float64
	for i, v := range s {
		x := float64(v)
		re += x * math.Cos(2*math.Pi*hertz*float64(i)/pcm.Rate)
		im += x * math.Sin(2*math.Pi*hertz*float64(i)/pcm.Rate)
		all += x * x
	}
	if all == 0 {
		return 0
	}
	return 2 * (re*re + im*im) / (all * float64(len(s)))
}

func TestEveryFormatSoundsAsItWasMade(t *testing.T) {
	for name, data := range map[string][]byte{
		"tone.flac": read(t, "testdata/tone.flac"), "tone.mp3": read(t, "testdata/tone.mp3"),
		"tone.wav": tone(44100, 440), "slow.wav": tone(8000, 440),
		"titled.mp3": append([]byte("ID3\x04\x00\x00\x00\x00\x01\x00"+strings.Repeat("x", 128)), read(t, "testdata/tone.mp3")...),
	} {
		p, err := NewPiece(name, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := whole(t, p)
		if d := float64(len(s)) / pcm.Rate; d < 1.95 || d > 2.2 { // MP3 adds silence at both ends
			t.Errorf("%s sounds for %.3f s, want 2", name, d)
		}
		middle := s[pcm.Rate/2 : pcm.Rate*3/2]
		if got := share(middle, 440); got < 0.98 {
			t.Errorf("%s: %.3f of the sound is its tone, want nearly all", name, got)
		}
		if level := pcm.Level(middle); level < -13 || level > -10 {
			t.Errorf("%s: %.1f dB, want about -11.7", name, level)
		}
	}
}

func TestShippedPiecesLoopWithoutASeam(t *testing.T) {
	for _, x := range shipped {
		p, err := NewLibrary(nil).Named(x.name)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.data) > 200<<10 {
			t.Errorf("%s has %d bytes: every copy of the program carries them", x.name, len(p.data))
		}
		s := whole(t, p)
		if len(s) != 24*pcm.Rate {
			t.Errorf("%s has %d samples, want 24 s to the sample", x.name, len(s))
		}
		// Where the piece begins again it moves no faster than elsewhere.
		step := func(from, to int16) float64 { return math.Abs(float64(to) - float64(from)) }
		most := 0.0
		for i := range len(s) - 1 {
			most = max(most, step(s[i], s[i+1]))
		}
		if got := step(s[len(s)-1], s[0]); got > most/2 {
			t.Errorf("%s jumps by %.0f where it begins again; elsewhere by %.0f at most", x.name, got, most)
		}
		if level := pcm.Level(s); level < -35 || level > -12 {
			t.Errorf("%s is at %.1f dB, want music", x.name, level)
		}
	}
}

func TestLoopGoesOnWithoutAGap(t *testing.T) {
	p, err := NewPiece("tone", tone(44100, 440))
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLoop(p)
	if err != nil {
		t.Fatal(err)
	}
	frame := make([]int16, pcm.FrameSize)
	for i := range 500 { // ten seconds: five times through
		if err := l.next(frame); err != nil {
			t.Fatal(err)
		}
		if level := pcm.Level(frame); i > 0 && level < -20 {
			t.Errorf("frame %d is at %.1f dB: there is a gap", i, level)
		}
	}
	if l.again < 4 {
		t.Errorf("the piece began again %d times, want 4", l.again)
	}
}

func TestDeckFadesFromOnePieceToTheNextAndDucks(t *testing.T) {
	low, err := NewPiece("low", tone(48000, 300))
	if err != nil {
		t.Fatal(err)
	}
	high, err := NewPiece("high", tone(48000, 1500))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDeck()
	frame := make([]int16, pcm.FrameSize)
	next := func(n int) []int16 {
		t.Helper()
		for range n {
			if on, err := d.Next(frame); !on || err != nil {
				t.Fatalf("playing %v, %v", on, err)
			}
		}
		return frame
	}
	if on, _ := d.Next(frame); on {
		t.Error("an empty deck plays")
	}
	if err := d.Play(low); err != nil {
		t.Fatal(err)
	}
	if first, loud := pcm.Level(next(1)), pcm.Level(next(crossFade)); first > loud-20 {
		t.Errorf("it begins at %.1f dB and reaches %.1f, want it to fade in", first, loud)
	}
	loud := pcm.Level(next(1))
	if err := d.Play(high); err != nil {
		t.Fatal(err)
	}
	half := next(crossFade / 2)
	if a, b := share(half, 300), share(half, 1500); a < 0.1 || b < 0.1 {
		t.Errorf("half-way, %.2f is the old piece and %.2f the new, want both", a, b)
	}
	if end := next(crossFade); share(end, 1500) < 0.98 {
		t.Errorf("after fading %.2f is the new piece, want it alone", share(end, 1500))
	}
	d.Duck(0.25)
	if got := pcm.Level(next(duckDown + 1)); math.Abs(got-(loud-12)) > 1.5 {
		t.Errorf("ducked by %.1f dB within 100 ms, want 12", loud-got)
	}
	d.Duck(1)
	if got := pcm.Level(next(duckUp + 1)); math.Abs(got-loud) > 1.5 {
		t.Errorf("%.1f dB after speech has ended, want %.1f again", got, loud)
	}
	d.Stop()
	next(fadeOut / 2)
	if got := pcm.Level(frame); got > loud-3 || got < loud-12 {
		t.Errorf("%.1f dB half-way through fading out of %.1f", got, loud)
	}
	next(fadeOut / 2)
	if on, _ := d.Next(frame); on {
		t.Error("a second after Stop there is still music")
	}
}

func TestMoodFindsThePieceOfTheCampaignBeforeAShippedOne(t *testing.T) {
	fsys := fstest.MapFS{
		"music/market, busy.wav":  {Data: tone(16000, 500)},
		"music/Final Battle.WAV":  {Data: tone(16000, 600)},
		"music/notes.txt":         {Data: []byte("no music")},
		"music/sub/hidden.wav":    {Data: tone(16000, 700)},
		"ambience/deep-woods.wav": {Data: tone(16000, 800)},
	}
	l := NewLibrary(fsys)
	if diff := cmp.Diff([]string{"Final Battle", "market, busy", "hearth", "shadows"}, l.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for mood, want := range map[string]string{
		"a busy market": "market, busy", "fight": "Final Battle", "battle music, epic": "Final Battle", "town": "market, busy", "peaceful": "hearth", "Tavern!": "hearth",
		"eerie dungeon": "shadows", "traurig": "shadows", "hearth": "hearth",
		"some music": "Final Battle",
	} {
		p, err := l.Find(mood)
		if err != nil || p.Name != want {
			t.Errorf("%q: got %+v, %v, want %s", mood, p, err, want)
		}
	}
	if p, err := NewLibrary(nil).Find("a song"); err != nil || p.Name != "hearth" {
		t.Errorf("a song without saying which: got %+v, %v, want hearth", p, err)
	}
	if _, err := l.Find("polka music"); !errors.Is(err, ErrNoPiece) || !strings.Contains(err.Error(), "Final Battle") {
		t.Errorf("no such mood: got %v, want ErrNoPiece that lists what there is", err)
	}
	if p, err := l.Named("ambience/deep-woods.wav"); err != nil || p.Name != "deep-woods" {
		t.Errorf("a scene's file: got %+v, %v", p, err)
	}
	for _, name := range []string{"../secret.wav", "/etc/passwd", "nowhere.ogg", "", ".", "music", "music/notes.txt"} {
		if _, err := l.Named(name); err == nil {
			t.Errorf("%q was played", name)
		}
	}
}

func TestBrokenFilesAreRefusedWithAReason(t *testing.T) {
	hearth := read(t, "shipped/hearth.ogg")
	changed := func(b []byte, at int, to ...byte) []byte {
		b = bytes.Clone(b)
		copy(b[at:], to)
		return b
	}
	vorbis := oggPage(2, []byte("\x01vorbis\x00\x00\x00\x00\x02\x44\xac\x00\x00"))
	surround := bytes.Clone(hearth[28:47])
	surround[9], surround[18] = 6, 1
	huge := func(declared uint32) []byte {
		b := tone(8000, 440)
		binary.LittleEndian.PutUint32(b[40:], declared)
		return b[:100]
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":              {nil, "no Ogg Opus"},
		"text":               {[]byte("this is a song"), "no Ogg Opus"},
		"ogg head":           {hearth[:20], "page"},
		"ogg cut":            {hearth[:2000], "page"},
		"ogg changed":        {changed(hearth, 400, 0xaa), "checksum"},
		"ogg huge":           {changed(hearth, 26, 255), "page"},
		"vorbis":             {vorbis, "Vorbis"},
		"surround":           {oggPage(2, surround), "6 channels"},
		"only a head":        {hearth[:47], "before any sound"},
		"flac cut":           {read(t, "testdata/tone.flac")[:60], ""},
		"flac huge metadata": {append(changed(read(t, "testdata/tone.flac")[:42], 4, 0), 0x86, 0xff, 0xff, 0xff), ""},
		"flac no rate":       {changed(read(t, "testdata/tone.flac"), 18, 0, 0, 0), ""},
		"mp3 huge titles":    {[]byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7fxx"), "claim"},
		"mp3 bad titles":     {[]byte("ID3\x04\x00\x00\xff\xff\xff\xffxx"), "no length"},
		"mp3 cut":            {read(t, "testdata/tone.mp3")[:50], ""},
		"wav huge":           {huge(0xfffffff0), "less than"},
		"wav short":          {pcm.EncodeWAV(48000, make([]int16, 4800)), "less than"},
	} {
		if p, err := NewPiece(name, c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %+v, %v, want an error with %q", name, p, err, c.want)
		}
	}
	if _, err := NewPiece("large", make([]byte, MaxFile+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("65 MB: got %v, want ErrTooLarge", err)
	}
}

// oggPage is one page of one packet.
func oggPage(flags byte, packet []byte) []byte {
	b := append([]byte("OggS\x00"), flags)
	b = append(b, make([]byte, 20)...)
	b = append(b, 1, byte(len(packet)))
	b = append(b, packet...)
	binary.LittleEndian.PutUint32(b[22:], oggCRC(b))
	return b
}

func TestFileThatBreaksInTheMiddleIsPlayedAsFarAsItGoes(t *testing.T) {
	hearth := bytes.Clone(read(t, "shipped/hearth.ogg"))
	hearth[len(hearth)/2] ^= 0xff
	p, err := NewPiece("damaged", hearth)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLoop(p)
	if err != nil {
		t.Fatal(err)
	}
	frame := make([]int16, pcm.FrameSize)
	for range 1500 { // thirty seconds: more than twice what is whole
		if err := l.next(frame); err != nil {
			t.Fatal(err)
		}
	}
	if l.again == 0 {
		t.Error("it never began again")
	}
}

// fuzzed decodes at most two seconds of whatever it is given.
func fuzzed(t *testing.T, data []byte) {
	t.Helper()
	if len(data) > 64<<10 {
		return
	}
	p, err := NewPiece("fuzz", data)
	if err != nil {
		return
	}
	l, err := newLoop(p)
	if err != nil {
		t.Fatalf("looked playable and is not: %v", err)
	}
	frame := make([]int16, pcm.FrameSize)
	for range 100 {
		if l.next(frame) != nil {
			return
		}
	}
}

func FuzzOgg(f *testing.F) {
	hearth := read(f, "shipped/hearth.ogg")
	f.Add(hearth[:12000])
	f.Add(oggPage(6, []byte("OpusHead\x01\x01\x00\x0f\x80\xbb\x00\x00\x00\x00\x00")))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Checksums are mended, or nothing behind them would ever be reached.
		b := bytes.Clone(data)
		for at := 0; at+pageHead < len(b) && string(b[at:at+4]) == "OggS"; {
			end := at + pageHead + int(b[at+26])
			if end > len(b) {
				break
			}
			for _, n := range b[at+pageHead : end] {
				end += int(n)
			}
			if end > len(b) {
				break
			}
			binary.LittleEndian.PutUint32(b[at+22:], oggCRC(b[at:end]))
			at = end
		}
		fuzzed(t, b)
	})
}

func FuzzFLAC(f *testing.F) {
	f.Add(read(f, "testdata/tone.flac"))
	f.Fuzz(fuzzed)
}

func FuzzMP3(f *testing.F) {
	f.Add(read(f, "testdata/tone.mp3"))
	f.Fuzz(fuzzed)
}

func FuzzWAV(f *testing.F) {
	f.Add(tone(8000, 440))
	f.Fuzz(fuzzed)
}

func BenchmarkDeck(b *testing.B) {
	p, err := NewLibrary(nil).Named("hearth")
	if err != nil {
		b.Fatal(err)
	}
	d := NewDeck()
	if err := d.Play(p); err != nil {
		b.Fatal(err)
	}
	frame := make([]int16, pcm.FrameSize)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Next(frame); err != nil && !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}
