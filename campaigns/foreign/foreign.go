// Package foreign reads people and worlds that were written for other programs,
// and writes ours for them.
//
// It reads character cards (V1, V2 and V3, as JSON, in a PNG or in a CHARX
// archive), lorebooks, actors and journals exported from Foundry, campaigns
// exported from Roll20, and vaults of Markdown pages with [[links]] such as
// Obsidian keeps. What comes out is a [campaigns.Draft] to look at: nothing is
// written before somebody agreed to it.
//
// # Promises
//
//   - A card's system prompt and its instructions after the history are shown and
//     never used: they are made to replace those of the program that plays them.
//   - Nothing is fetched: pictures come from the file itself or not at all.
//   - What a card says beyond what we know is kept, byte for byte, in the campaign
//     folder, and is there again when the card is exported.
//   - Who may see a page there is who knows it here; secret blocks, the game
//     master's notes and %%comments%% are the game master's facts.
//   - What crosses a line of the campaign is left out and reported.
//   - Archives that unpack to more than they should, names that leave the folder,
//     and files beyond the limits below are refused with a reason.
package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/npc/spoken"
)

// Limits on what is read. The largest public cards have 10 MB of picture and
// 300 kB of text; a world of 2,000 pages is years of work.
const (
	MaxFile     = 32 << 20 // bytes of one file or archive
	maxJSON     = 8 << 20  // bytes of JSON, also unpacked from a picture
	maxUnpacked = 64 << 20 // bytes of an archive's files together
	maxRatio    = 200      // unpacked to packed; text packs to a tenth
	maxEntries  = 4000     // files of an archive or folder
	maxPage     = 1 << 20  // bytes of one Markdown page
	maxPicture  = 1 << 20  // bytes of a portrait, as campaigns allow
)

// An Import is what was found in a foreign file.
type Import struct {
	// Format says what the file turned out to be, for people.
	Format string
	Draft  campaigns.Draft
	// Unused are texts that are kept but never given to a model, each with where
	// it stood: system prompts above all.
	Unused []Unused
	// Notices say what was left out or changed, and why.
	Notices []string
	// Credits name makers and versions.
	Credits []string
}

// Unused is a text that is shown to people only.
type Unused struct{ Where, Text string }

// Options say for whom is imported.
type Options struct {
	// Safety is the campaign's: what crosses its lines is left out.
	Safety campaigns.Safety
	// Language is the campaign's, a BCP 47 tag.
	Language string
	// Name replaces the name of a single character.
	Name string
}

// An importing is one reading of a file.
type importing struct {
	Import
	options Options
	safety  spoken.Safety
	ids     map[string]bool
}

func begin(o Options) *importing {
	return &importing{options: o, safety: spoken.Safety(o.Safety), ids: map[string]bool{}}
}

// notice reports something, once.
func (in *importing) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(in.Notices, text) {
		return
	}
	in.Notices = append(in.Notices, text)
}

// Open reads a file, or a folder with a vault or exported files.
func Open(name string, o Options) (*Import, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		files, err := folder(root.FS())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return collection(filepath.Base(name), files, o)
	}
	if info.Size() > MaxFile {
		return nil, fmt.Errorf("%s has %d MiB: at most %d", name, info.Size()>>20, MaxFile>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Read(filepath.Base(name), data, o)
}

// Read reads a file's contents. name is only used to name things by; what the
// file is shows in its contents.
func Read(name string, data []byte, o Options) (*Import, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s has %d MiB: at most %d", name, len(data)>>20, MaxFile>>20)
	}
	switch trimmed := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))); {
	case bytes.HasPrefix(data, pngSignature):
		return readPNG(name, data, o)
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return readArchive(name, data, o)
	case bytes.HasPrefix(trimmed, []byte("{")), bytes.HasPrefix(trimmed, []byte("[")):
		in := begin(o)
		if err := in.json(title(name), trimmed); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return in.finish()
	case strings.EqualFold(filepath.Ext(name), ".md"):
		return collection(title(name), []file{{name, data}}, o)
	}
	return nil, fmt.Errorf("%s is none of %s", name, formats)
}

const formats = "a character card (JSON, PNG, CHARX), a lorebook, an export from Foundry or Roll20, or Markdown"

// title is a file's name as one would say it.
func title(name string) string {
	return strings.NewReplacer("_", " ", "-", " ").Replace(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
}

// errNothing is for files that are well-formed and hold nothing for us.
var errNothing = errors.New("there is nobody and nothing to import in it")

// finish checks that there is something. Of two with the same name only the first
// can be talked to: nobody could tell who is meant.
func (in *importing) finish() (*Import, error) {
	names := map[string]bool{}
	in.Draft.NPCs = slices.DeleteFunc(in.Draft.NPCs, func(c npc.Character) bool {
		all := append([]string{c.Name}, c.Aliases...)
		if slices.ContainsFunc(all, func(n string) bool { return names[strings.ToLower(n)] }) {
			in.notice("there is more than one %s: only the first can be talked to", c.Name)
			return true
		}
		for _, n := range all {
			names[strings.ToLower(n)] = true
		}
		return false
	})
	if len(in.Draft.NPCs)+len(in.Draft.Entities) == 0 {
		return nil, errNothing
	}
	return &in.Import, nil
}

// shape is what tells one sort of JSON from another.
type shape struct {
	Spec, Type, Name string
	FirstMes         *string         `json:"first_mes"`
	Data             json.RawMessage `json:"data"`
	Pages            json.RawMessage `json:"pages"`
	System           json.RawMessage `json:"system"`
	Entries          json.RawMessage `json:"entries"`
	Handouts         json.RawMessage `json:"handouts"`
	Characters       json.RawMessage `json:"characters"`
	Attribs          json.RawMessage `json:"attribs"`
	Bio              json.RawMessage `json:"bio"`
}

// json reads one JSON document, of whatever sort it turns out to be. Arrays, and
// one object a line as Foundry keeps them, are read one by one.
func (in *importing) json(name string, data []byte) error {
	if len(data) > maxJSON {
		return fmt.Errorf("%d MiB of JSON: at most %d", len(data)>>20, maxJSON>>20)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	for n := 0; dec.More(); n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fmt.Errorf("this is no JSON: %w", err)
		}
		if n >= maxEntries {
			return fmt.Errorf("more than %d objects: export fewer at once", maxEntries)
		}
		if raw[0] != '[' {
			if err := in.object(name, raw); err != nil {
				return err
			}
			continue
		}
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("this is no JSON: %w", err)
		}
		for _, one := range list[:min(len(list), maxEntries)] {
			if err := in.object(name, one); err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *importing) object(name string, raw json.RawMessage) error {
	var s shape
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("this is none of %s: %w", formats, err)
	}
	switch {
	case s.Spec == "lorebook_v3":
		return in.lorebook(name, s.Data)
	case strings.HasPrefix(s.Spec, "chara_card_"):
		return in.card(raw, s.Data, s.Spec)
	case s.FirstMes != nil:
		return in.card(raw, raw, "chara_card_v1")
	case s.Pages != nil:
		return in.journal(raw)
	case s.System != nil && s.Type != "":
		return in.actor(raw)
	case s.Handouts != nil || s.Characters != nil:
		return in.roll20(raw)
	case s.Attribs != nil || s.Bio != nil:
		return in.roll20Character(raw)
	case s.Entries != nil:
		return in.lorebook(name, raw)
	}
	return fmt.Errorf("this is none of %s", formats)
}
