package foreign

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

var pngSignature = []byte("\x89PNG\r\n\x1a\n")

const (
	maxChunks = 20_000  // of a PNG; animations have thousands
	maxSide   = 8192    // pixels; a small file may claim to unpack to anything
	cardV3    = "ccv3"  // the chunk of V3 cards, which is preferred
	cardV2    = "chara" // the chunk of V1 and V2 cards
)

// readPNG reads the card in a picture. The picture itself becomes the portrait.
func readPNG(name string, data []byte, o Options) (*Import, error) {
	texts, bare, err := chunks(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	encoded, ok := texts[cardV3]
	if !ok {
		encoded, ok = texts[cardV2]
	}
	if !ok {
		return nil, fmt.Errorf("%s is a picture without a character card in it: export the card as PNG or JSON, programs that show pictures often take it out", name)
	}
	card, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return nil, fmt.Errorf("%s: the card in the picture is damaged: %w", name, err)
	}
	in := begin(o)
	if err := in.json(title(name), card); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	in.Format += " in a PNG"
	in.portrait(bare, ".png")
	return in.finish()
}

// portrait gives the only NPC of an import its picture.
func (in *importing) portrait(picture []byte, ext string) {
	if len(in.Draft.NPCs) != 1 || len(picture) == 0 {
		return
	}
	c := &in.Draft.NPCs[0]
	if len(picture) > maxPicture {
		in.notice("%s's picture has %d kB and is left out: portraits may have %d", c.Name, len(picture)>>10, maxPicture>>10)
		return
	}
	c.Portrait = "portraits/" + c.ID + ext
	in.keep(c.Portrait, picture)
}

// chunks reads a PNG's texts, and returns the picture without any: what somebody
// wrote into it has no business on a web page.
func chunks(data []byte) (texts map[string]string, bare []byte, err error) {
	texts = map[string]string{}
	bare = append(bare, pngSignature...)
	rest := data[len(pngSignature):]
	for n := 0; len(rest) > 0; n++ {
		if len(rest) < 12 || n == maxChunks {
			return nil, nil, errors.New("the picture is damaged or has been cut off")
		}
		size := binary.BigEndian.Uint32(rest)
		if uint64(size) > uint64(len(rest)-12) {
			return nil, nil, fmt.Errorf("the picture is damaged: a part of %d bytes does not fit into it", size)
		}
		kind, body := string(rest[4:8]), rest[8:8+size]
		if crc32.ChecksumIEEE(rest[4:8+size]) != binary.BigEndian.Uint32(rest[8+size:]) {
			return nil, nil, fmt.Errorf("the picture is damaged: the part %q has a wrong check sum", kind)
		}
		switch kind {
		case "IHDR":
			if len(body) < 8 || binary.BigEndian.Uint32(body) > maxSide || binary.BigEndian.Uint32(body[4:]) > maxSide {
				return nil, nil, fmt.Errorf("the picture claims to be larger than %d pixels", maxSide)
			}
		case "tEXt":
			if key, text, ok := bytes.Cut(body, []byte{0}); ok && texts[string(key)] == "" {
				texts[string(key)] = string(text)
			}
		}
		if kind != "tEXt" && kind != "zTXt" && kind != "iTXt" && kind != "eXIf" {
			bare = append(bare, rest[:12+size]...)
		}
		rest = rest[12+size:]
		if kind == "IEND" {
			break
		}
	}
	return texts, bare, nil
}

// withText is a PNG with one more text, in front of its end.
func withText(picture []byte, key, text string) []byte {
	end := bytes.LastIndex(picture, []byte("IEND")) - 4
	if end < len(pngSignature) {
		return picture
	}
	body := append([]byte("tEXt"+key+"\x00"), text...)
	out := append([]byte{}, picture[:end]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)-4))
	out = append(out, body...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	return append(out, picture[end:]...)
}
