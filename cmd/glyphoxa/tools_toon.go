package main

import (
	"context"
	"fmt"
	"io"

	"github.com/glyphoxa/glyphoxa/mcp/toon"
)

// maxTOON bounds what is converted.
const maxTOON = 64 << 20

func convertTOON(_ context.Context, d *toolsDesk, args []string) error {
	indent := d.flags.Int("indent", 2, "`SPACES` a level")
	delimiter := d.flags.String("delimiter", "comma", "`comma`, tab or pipe; only for encode")
	lenient := d.flags.Bool("lenient", false, "forgive wrong counts, indentation and duplicate keys; only for decode")
	words, err := d.words(args, 1, 1)
	if err != nil {
		return err
	}
	if *indent < 1 || *indent > 16 {
		return fmt.Errorf("%w: --indent %d", errUsage, *indent)
	}
	in, err := io.ReadAll(io.LimitReader(d.io.in, maxTOON+1))
	if err != nil {
		return err
	}
	if len(in) > maxTOON {
		return fmt.Errorf("more than %d bytes", maxTOON)
	}
	switch words[0] {
	case "encode":
		delims := map[string]toon.Delimiter{"comma": toon.Comma, ",": toon.Comma, "tab": toon.Tab, "\t": toon.Tab, "pipe": toon.Pipe, "|": toon.Pipe}
		c, ok := delims[*delimiter]
		if !ok {
			return fmt.Errorf("%w: --delimiter %q: want comma, tab or pipe", errUsage, *delimiter)
		}
		s, err := toon.Encode(in, toon.EncodeOptions{Indent: *indent, Delimiter: c})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(d.io.out, s)
		return err
	case "decode":
		b, err := toon.Decode(string(in), toon.DecodeOptions{Indent: *indent, Lenient: *lenient})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(d.io.out, string(b))
		return err
	}
	return fmt.Errorf("%w: encode or decode?", errUsage)
}
