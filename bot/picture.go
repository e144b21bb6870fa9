package bot

import (
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxPictures is how many pictures a table keeps, the latest: with 8 MiB each they
// are 64 MiB at most.
const maxPictures = 8

// A Picture was made for the table and is shown to everybody at it.
type Picture struct {
	ID string `json:"id"`
	// NPC is who had it made, "" the game master.
	NPC string `json:"npc,omitempty"`
	// Prompt is what is to be seen on it, for those who cannot see it.
	Prompt string `json:"prompt"`
	// Type is the file's media type; [Table.PictureFile] has the file.
	Type string `json:"type"`
}

// gallery holds the files of the table's pictures.
type gallery struct {
	mu    sync.Mutex // guards both below, which belong together
	hung  []Picture
	files [][]byte
}

func (g *gallery) hang(p Picture, file []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hung = keep(append(g.hung, p), maxPictures)
	g.files = keep(append(g.files, file), maxPictures)
}

func (g *gallery) all() []Picture {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.hung)
}

// PictureFile is the file of a picture, or nil if it is not kept any more. It is
// shared: do not change it.
func (t *Table) PictureFile(id string) (file []byte, media string) {
	g := &t.gallery
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.hung, func(p Picture) bool { return p.ID == id })
	if i < 0 {
		return nil, ""
	}
	return g.files[i], g.hung[i].Type
}

// What an NPC is asked when its picture is done, or is none. The words of the
// picture's own prompt are left out: a player may have chosen them.
const (
	pictureDone   = "The picture that you had made is done, and everybody sees it now. Say so, in one sentence."
	pictureFailed = "The picture that you had promised could not be made. Say so, in one sentence, and go on."
)

// ShowPicture shows a picture to everybody and has the NPC whose it is say that it
// is done.
func (t *Table) ShowPicture(npc, prompt, media string, file []byte) {
	p := Picture{ID: rand.Text(), NPC: npc, Prompt: clean(prompt), Type: media}
	t.gallery.hang(p, file)
	t.post(func() {
		t.events.add(Event{Picture: &p})
		t.mention(npc, pictureDone, "picture", "There, it is done. Look!", "So, es ist fertig. Seht her!")
	})
}

// FailPicture has an NPC say that there will be no picture, and tells the game
// master why.
func (t *Table) FailPicture(npc string, why error) {
	t.post(func() {
		t.alert(Alert{Text: "A picture could not be made: " + why.Error(), Bad: true})
		t.mention(npc, pictureFailed, "no_picture", "I am sorry, that picture would not come out.", "Es tut mir leid, das Bild ist nichts geworden.")
	})
}

// mention has an NPC say something of its own accord: in its own words where a
// model plays it, else with a line of its campaign's for the occasion or a plain
// one. An NPC that may not speak now says nothing.
func (t *Table) mention(npc, prompt, occasion, english, german string) {
	c, ok := t.character(npc)
	if !ok || t.direct(t.remark(npc, prompt, c.Lines[occasion], english, german)) != nil {
		t.log.Debug("an NPC has nothing to say to its picture", "npc", npc)
	}
}

func (t *Table) remark(npc, prompt string, own []string, english, german string) ask {
	a := ask{npc: npc, heard: time.Now()}
	if brain := t.brains[npc]; brain != nil && !strings.HasPrefix(brain.Name(), "the improviser") {
		a.prompt = prompt
		return a
	}
	switch {
	case len(own) > 0:
		a.exact = own[0]
	case strings.HasPrefix(t.campaign.Language, "de"):
		a.exact = german
	default:
		a.exact = english
	}
	return a
}
