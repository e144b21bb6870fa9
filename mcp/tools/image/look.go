package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // to read the head of
	_ "image/png"
)

// MaxSide is the most pixels of a picture's side. A small file may unpack to any
// size in whoever shows it; nobody asked for more than this.
const MaxSide = 4096

// ErrPicture is the cause where a file is no picture that could be shown.
var ErrPicture = errors.New("this is no PNG, JPEG or WebP")

// look finds out what a file is from its bytes, whatever its server called it. It
// reads its head and unpacks no pixel.
func look(data []byte) (media string, err error) {
	if len(data) > MaxPicture {
		return "", fmt.Errorf("the picture has %d bytes; %d are allowed", len(data), MaxPicture)
	}
	if bytes.HasPrefix(data, []byte("RIFF")) {
		w, h, err := webp(data)
		if err != nil {
			return "", err
		}
		return "image/webp", sides(w, h)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || format != "png" && format != "jpeg" {
		return "", ErrPicture
	}
	return "image/" + format, sides(c.Width, c.Height)
}

func sides(w, h int) error {
	if w < 1 || h < 1 || w > MaxSide || h > MaxSide {
		return fmt.Errorf("the picture claims %d by %d pixels; %d a side are allowed", w, h, MaxSide)
	}
	return nil
}

// webp reads the size of a WebP's first chunk. RFC 9649, section 2.
func webp(b []byte) (w, h int, err error) {
	if len(b) < 30 || string(b[8:12]) != "WEBP" {
		return 0, 0, ErrPicture
	}
	switch string(b[12:16]) {
	case "VP8X":
		return 1 + int(b[24]) + int(b[25])<<8 + int(b[26])<<16, 1 + int(b[27]) + int(b[28])<<8 + int(b[29])<<16, nil
	case "VP8L":
		if b[20] != 0x2f {
			return 0, 0, ErrPicture
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff), nil
	case "VP8 ":
		if b[23] != 0x9d || b[24] != 0x01 || b[25] != 0x2a {
			return 0, 0, ErrPicture
		}
		return int(binary.LittleEndian.Uint16(b[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[28:]) & 0x3fff), nil
	}
	return 0, 0, ErrPicture
}
