package memory

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
	"unicode"
)

// Terms stand between quotes in the queries of two databases: whatever is said,
// they must consist of letters and digits.
func FuzzTermsAreLettersAndDigits(f *testing.F) {
	for _, s := range []string{"Bartok's stew", `") OR "x`, "ﬀ İ ß", "聞いて", "G'nar", "a\x00b\xff", "' OR 1=1 --", "x*", "ᏪᎳ ǅ", "²½"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := Ask(s)
		for _, w := range append(append(Terms(s), q.Terms...), q.Prefixes...) {
			if w == "" || len(w) > maxTerm || strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
				t.Fatalf("%q gives the term %q", s, w)
			}
		}
		if len(q.Terms)+len(q.Prefixes) > maxTerms {
			t.Fatalf("%d terms", len(q.Terms)+len(q.Prefixes))
		}
		Sound(s)
		FoldName(s)
	})
}

func FuzzASpoolGivesBackWholeRecordsOnly(f *testing.F) {
	body := []byte(`{"id":"a","campaign":"c","session":"s","speaker":{},"at":"2026-03-01T19:00:00Z","text":"x"}`)
	whole := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	whole = binary.LittleEndian.AppendUint32(whole, crc32.Checksum(body, crcTable))
	whole = append(whole, body...)
	f.Add(whole)
	f.Add(append(bytes.Clone(whole), whole[:20]...))
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		lines, size, err := readSpool(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if size > int64(len(b)) || (size == 0) != (len(lines) == 0) {
			t.Fatalf("%d lines in %d of %d bytes", len(lines), size, len(b))
		}
		for _, l := range lines {
			if err := l.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestStemsAreWhatPorterSays(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "ties": "ti", "cats": "cat", "feed": "feed", "agreed": "agre", "plastered": "plaster",
		"motoring": "motor", "sing": "sing", "conflated": "conflat", "hopping": "hop", "falling": "fall", "filing": "file", "happy": "happi",
		"sky": "sky", "relational": "relat", "conditional": "condit", "vietnamization": "vietnam", "operator": "oper", "hopefulness": "hope",
		"triplicate": "triplic", "formative": "form", "electrical": "electr", "goodness": "good", "revival": "reviv", "adoption": "adopt",
		"effective": "effect", "probate": "probat", "rate": "rate", "controll": "control", "roll": "roll", "zoë": "zoë",
	} {
		if got := stem(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}
