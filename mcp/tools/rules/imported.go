package rules

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// WriteEntries keeps imported rules: one JSON object a line.
func WriteEntries(to io.Writer, entries []*Entry) error {
	out := bufio.NewWriter(to)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return fmt.Errorf("rule %s: %w", e.ID, err)
		}
	}
	return out.Flush()
}

// readEntries reads what WriteEntries wrote.
func readEntries(from io.Reader) ([]*Entry, error) {
	dec := json.NewDecoder(io.LimitReader(from, maxTotalBytes))
	var all []*Entry
	for {
		e := new(Entry)
		switch err := dec.Decode(e); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("rule %d: %w", len(all)+1, err)
		case e.ID == "" || e.Name == "" || e.System == "":
			return nil, fmt.Errorf("rule %d: has no id, name or system", len(all)+1)
		case len(all) == maxImported:
			return nil, errTooMany
		}
		all = append(all, e)
	}
}

// addImported adds every file of rules in the folder.
func (l *Library) addImported(folder fs.FS) error {
	files, err := fs.Glob(folder, "*.jsonl")
	if err != nil {
		return err
	}
	for _, name := range files {
		f, err := folder.Open(name)
		if err != nil {
			return err
		}
		entries, err := readEntries(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("imported rules: %s: %w", name, err)
		}
		l.merge(entries)
	}
	return nil
}

// merge adds imported entries. Where the library has the rule already, its own
// names and spoken line stay, and the imported text becomes the card, with its
// source and licence.
func (l *Library) merge(entries []*Entry) {
	for _, e := range entries {
		own := l.own(e)
		switch {
		case own == nil && l.byID[e.ID] == nil:
			l.byID[e.ID] = e
			l.entries = append(l.entries, e)
		case own != nil && own.Source == "":
			// Entries are shared between libraries, so this one gets its own.
			merged := *own
			merged.Text, merged.Source, merged.License = e.Text, e.Source, e.License
			l.byID[own.ID] = &merged
			l.entries[slices.Index(l.entries, own)] = &merged
		}
		// Otherwise an earlier import was about the same rule and stays.
	}
}

// own is the entry of the library that an imported one is about, or nil.
func (l *Library) own(e *Entry) *Entry {
	if e.System != system {
		return nil
	}
	slug := e.ID[strings.LastIndexByte(e.ID, '/')+1:]
	for _, edition := range []Edition{e.Edition, ""} {
		if o := l.byID[id(edition, e.Kind, slug)]; o != nil {
			return o
		}
	}
	return nil
}
