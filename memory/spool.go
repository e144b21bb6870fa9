package memory

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// A spool is a file in which lines wait for the store:
//
//	+----------------+----------------+------------------+
//	| length, 4 B LE | CRC-32C, 4 B   | line as JSON ... |
//	+----------------+----------------+------------------+
//
// It is written without fsync: it is there for the death of the process, while
// the death of the machine is what the store's own fsync is for.
type spool struct {
	file *os.File
	size int64
}

const (
	// maxSpool bounds the file; beyond it, lines wait in memory only.
	maxSpool = 64 << 20
	// maxRecord is above what the largest line can need.
	maxRecord = 1 << 20
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// openSpool opens the file and returns the lines that were left in it. A torn
// record at its end is what a killed process leaves, and is cut off.
func openSpool(path string) (*spool, []Line, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("memory: spool: %w", err)
	}
	lines, size, err := readSpool(io.LimitReader(f, maxSpool))
	if err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("memory: spool %s: %w", path, err)
	}
	return &spool{f, size}, lines, nil
}

// readSpool returns the whole records at the beginning of r and how many bytes
// they take.
func readSpool(r io.Reader) (lines []Line, size int64, err error) {
	br := bufio.NewReader(r)
	for {
		var head [8]byte
		if _, err := io.ReadFull(br, head[:]); err != nil {
			return lines, size, ended(err)
		}
		n := binary.LittleEndian.Uint32(head[:4])
		if n == 0 || n > maxRecord {
			return lines, size, nil
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(br, body); err != nil {
			return lines, size, ended(err)
		}
		var l Line
		if crc32.Checksum(body, crcTable) != binary.LittleEndian.Uint32(head[4:]) || json.Unmarshal(body, &l) != nil || l.Check() != nil {
			return lines, size, nil
		}
		lines = append(lines, l)
		size += int64(len(head)) + int64(n)
	}
}

// ended makes nothing of the end of the file, wherever it comes.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func (s *spool) add(lines []Line) error {
	var b []byte
	for _, l := range lines {
		body, err := json.Marshal(l)
		if err != nil {
			return err
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
		b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(body, crcTable))
		b = append(b, body...)
	}
	if s.size+int64(len(b)) > maxSpool {
		return fmt.Errorf("the spool would exceed %d bytes", int64(maxSpool))
	}
	n, err := s.file.Write(b)
	if err != nil {
		// Half a record would hide whatever follows it.
		if n > 0 {
			return errors.Join(err, s.rewind(s.size))
		}
		return err
	}
	s.size += int64(n)
	return nil
}

func (s *spool) rewind(size int64) error {
	if err := s.file.Truncate(size); err != nil {
		return err
	}
	_, err := s.file.Seek(size, io.SeekStart)
	s.size = size
	return err
}

func (s *spool) clear() error {
	if s.size == 0 {
		return nil
	}
	return s.rewind(0)
}

func (s *spool) close() error { return s.file.Close() }
