package campaigns

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// A Draft is what one would like to add to a campaign: people who can be talked
// to, what there is in the world, and files that go with them. It comes from
// other programs, so nothing in it is believed before the whole campaign has
// been checked with it.
type Draft struct {
	// Title names the campaign if a new one is begun with the draft.
	Title string
	NPCs  []npc.Character
	// Entities say of the world what it knows. One with the id of an NPC says what
	// others know of that NPC.
	Entities []memory.Entity
	// Files are pictures and originals by their path in the campaign folder.
	Files map[string][]byte
}

// entitiesPerFile keeps the files that are written short enough to be edited.
const entitiesPerFile = 100

// AddTo writes the draft into the campaign folder dir, each NPC into a file of its
// own, and returns the names of the files. A folder without a campaign becomes
// one, of no particular rules, with everybody in its only scene. Nothing that is
// there is overwritten, and if the campaign has a problem afterwards that it did
// not have before, everything written is taken away again. Texts longer than a
// campaign allows are cut at the end of a sentence; cut says which.
func (d Draft) AddTo(dir string, o Options) (written, cut []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("the campaign folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("the campaign folder: %w", err)
	}
	defer root.Close()
	_, before := Load(root.FS(), o)
	files, cut, err := d.files(root.FS())
	if err != nil {
		return nil, nil, err
	}
	if _, err := root.Stat("campaign.yaml"); err == nil {
		delete(files, "campaign.yaml")
		if before != nil {
			return nil, nil, fmt.Errorf("the campaign has to be mended first: %w", before.Err())
		}
	}
	if written, err = writeNew(root, files); err != nil {
		return nil, nil, err
	}
	if _, problems := Load(root.FS(), o); problems != nil {
		for _, name := range written {
			err = errors.Join(err, root.Remove(name))
		}
		return nil, nil, errors.Join(fmt.Errorf("nothing was added, because the campaign would not be in order: %w", problems.Err()), err)
	}
	return written, cut, nil
}

// writeNew writes files that must not exist. After a fault none are left.
func writeNew(root *os.Root, files map[string][]byte) (written []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err = writeOne(root, name, files[name]); err != nil {
			break
		}
		written = append(written, name)
	}
	if err == nil {
		return written, nil
	}
	for _, name := range written {
		err = errors.Join(err, root.Remove(name))
	}
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: it was imported before; remove the file, or give another name", err)
	}
	return nil, err
}

func writeOne(root *os.Root, name string, data []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// files are the draft as the files of a campaign folder.
func (d Draft) files(fsys fs.FS) (files map[string][]byte, cut []string, err error) {
	files = map[string][]byte{}
	for name, data := range d.Files {
		if !fs.ValidPath(name) || strings.HasPrefix(name, ".") {
			return nil, nil, fmt.Errorf("%q is not a path within the campaign folder", name)
		}
		files[name] = data
	}
	of := map[string]memory.Entity{} // NPCs' entities
	var rest []entityFile
	for _, e := range d.Entities {
		if slices.ContainsFunc(d.NPCs, func(c npc.Character) bool { return c.ID == e.ID }) {
			of[e.ID] = e
			continue
		}
		f := writeEntity(e)
		cut = append(cut, fit(e.Name, &f)...)
		rest = append(rest, f)
	}
	var present []string
	for _, c := range d.NPCs {
		f := writeNPC(c, of[c.ID])
		cut = append(cut, fit(c.Name, &f)...)
		f.ID = "" // the file's name says it
		if files["npcs/"+c.ID+".yaml"], err = marshal(f); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		present = append(present, c.ID)
	}
	title := cmp.Or(d.Title, "A campaign")
	for part := range slices.Chunk(rest, entitiesPerFile) {
		name := freeName(fsys, files, "entities/"+cmp.Or(Slug(d.Title), "imported"))
		if files[name], err = marshal(entitiesFile{part}); err != nil {
			return nil, nil, fmt.Errorf("entities: %w", err)
		}
	}
	files["campaign.yaml"], err = marshal(campaignFile{
		ID: cmp.Or(Slug(title), "campaign"), Name: short(title, 100), System: "freeform", Language: "en",
		Scenes: []sceneFile{{ID: "beginning", Name: "Where it begins", Present: present[:min(len(present), 50)]}},
	})
	return files, cut, err
}

// freeName is the first of base.yaml, base-2.yaml, ... that is not there.
func freeName(fsys fs.FS, taken map[string][]byte, base string) string {
	for n := 1; ; n++ {
		name := base + ".yaml"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.yaml", base, n)
		}
		if _, used := taken[name]; used {
			continue
		}
		if _, err := fs.Stat(fsys, name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}

// Slug makes an id of a name: lower case letters, digits and dashes, at most 64.
// It is "" for names without any.
func Slug(name string) string {
	var b bytes.Buffer
	for _, r := range strings.ToLower(folded(name)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case r == '\'' || r == '’': // Bartok's Rest is bartoks-rest
		case b.Len() > 0 && b.Bytes()[b.Len()-1] != '-':
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String()[:min(b.Len(), 64)], "-")
}

func writeNPC(c npc.Character, e memory.Entity) npcFile {
	f := npcFile{
		ID: c.ID, Name: c.Name, Aliases: c.Aliases, Titles: c.Titles, Species: c.Species, Role: c.Role,
		Pronouns: c.Pronouns, Language: c.Language, Personality: c.Personality, Manner: c.Manner,
		Background: c.Background, Goals: c.Goals, Secrets: c.Secrets, Lines: c.Lines, Voice: voiceFile(c.Voice),
		Tools: c.Tools, Talkativeness: c.Talkativeness, Portrait: c.Portrait, Moods: c.Moods,
		Text: e.Text, Attributes: e.Attributes,
		Facts: writeFacts(e.Facts), Relations: writeRelations(e.Relations),
	}
	if e.ID != "" {
		f.KnownBy = writeAudience(e.Audience)
	}
	if c.Tier > 0 {
		f.BudgetTier = c.Tier.String()
	}
	for _, k := range c.Knowledge {
		f.Knowledge = append(f.Knowledge, knowledgeFile{About: k.About, Text: k.Text, KnownBy: audience(k.Audience)})
	}
	return f
}

func writeEntity(e memory.Entity) entityFile {
	return entityFile{
		ID: e.ID, Kind: string(e.Kind), Name: e.Name, Aliases: e.Aliases, Text: e.Text, KnownBy: writeAudience(e.Audience),
		Attributes: e.Attributes, Facts: writeFacts(e.Facts), Relations: writeRelations(e.Relations),
	}
}

func writeFacts(facts []memory.Fact) (files []factFile) {
	for _, f := range facts {
		files = append(files, factFile{ID: f.ID, Text: f.Text, KnownBy: writeAudience(f.Audience), False: f.False})
	}
	return files
}

func writeRelations(relations []memory.Relation) (files []relationFile) {
	for _, r := range relations {
		files = append(files, relationFile{Kind: r.Kind, To: r.To, Text: r.Text, KnownBy: writeAudience(r.Audience)})
	}
	return files
}

// writeAudience spells the game master out: what is absent may mean another.
func writeAudience(a memory.Audience) audience {
	if len(a) == 0 {
		return audience{gameMaster}
	}
	return audience(a)
}
