package bot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
	"github.com/glyphoxa/glyphoxa/voice"
)

const (
	// tail is how many lines of the past a page and a model are shown.
	tail = 40
	// resume is how old a session may be that a restarted table goes on with.
	resume = 12 * time.Hour
	// maxWaiting is how many answers may be owed. Further lines are remembered
	// and not answered.
	maxWaiting = 16
	// maxPlayers is how many names of people are kept, the latest.
	maxPlayers = 32
)

// game is the state of the table; only the loop touches it.
type game struct {
	// campaign is the one in play, with what was added at the table; own is the
	// same without that. Both are replaced as a whole.
	campaign, own *campaigns.Campaign
	session       string
	scene         Scene
	cast          *npc.Cast
	brains        map[string]engine.Model
	// performers are the NPCs that hear and speak by themselves, from their first
	// turn on; nil values are those that do not.
	performers map[string]Performer
	glossary   *memory.Glossary
	cards      []NPC // in the campaign's order
	muted      map[string]bool
	stopped    string // why all NPCs are silent; "" if they are not
	override   *grant
	lifted     map[string]*grant // of single NPCs
	barred     []string          // tools that the DM switched off
	whispers   map[string][]string
	taught     []lesson
	spent      Spending
	added      []memory.Entity // by the DM, beside the campaign's
	started    time.Time       // of the session
	lines      []memory.Line   // the last ones, for pages and briefs
	shown      []Line          // the same as pages see them
	turns      []Turn
	tools      []Tool
	alerts     []Alert
	met        map[string]bool // NPCs that have spoken in this session

	call   *voice.Conn // nil while the table is only in its room
	voices map[string]*voice.Voice

	waiting   []ask
	floor     engine.Floor
	guessing  *running // an answer to what may not be all; see guess
	guessed   string   // the utterance it was last prepared for, and how often
	guesses   int
	fillers   map[string]*fillers // by NPC
	pace      map[paceKey]time.Duration
	absorbed  map[string][]string // by NPC: what tools found too late to be said
	wasted    engine.Usage        // by answers that were taken back
	floorDue  *time.Timer         // when it wants to hear of the time; nil before the first
	running   *running
	turnID    uint64
	lineID    uint64
	deep      time.Time           // of the last DEEP turn
	exchanges map[string]exchange // by the person's id
	players   []string            // names of those who have spoken
	hearing   int                 // utterances that are being recognised
	settling  []chan struct{}
	listened  map[string]listened      // by the person's id
	feelings  map[string]*npc.Feelings // by NPC
	// unhurried NPCs may take the deep tier for their next answer; "" is whoever
	// answers next
	unhurried map[string]bool
	people    map[string]string // names of those who have spoken, by id
	rules     []Card            // the last ones
	questions []*query          // that wait for the DM, oldest first
	closing   bool
}

// An ask is an answer that is owed.
type ask struct {
	npc        string
	line       memory.Line
	heard      time.Time     // when the player had finished
	recognised time.Duration // how long recognition took after that
	prompt     string        // what the DM wants it to do instead of answering
	exact      string        // what the DM has it say word for word
	owed       time.Time     // when it was queued
	sound      []int16       // the line as it was spoken, 16 kHz mono; nil if it was not
	results    []string      // what a tool found that was allowed after the first answer
	// decision is how the line was understood.
	decision npc.Decision
}

// set prepares memory and state before the loop runs.
func (t *Table) set(ctx context.Context) error {
	c := t.o.Campaign
	t.campaign = c
	t.muted, t.met, t.exchanges = map[string]bool{}, map[string]bool{}, map[string]exchange{}
	added, err := readAdditions(t.o.Additions)
	if err != nil {
		return err
	}
	t.added = added
	c = t.peopled(c)
	t.campaign = c
	t.unhurried, t.people = map[string]bool{}, map[string]string{}
	if err := t.o.Memory.PutWorld(ctx, c.ID, c.Entities); err != nil {
		return fmt.Errorf("store the campaign's world: %w", err)
	}
	if err := t.openSession(ctx); err != nil {
		return err
	}
	w, err := memory.NewWriter(t.o.Memory, &memory.WriterOptions{Spool: t.o.Spool, Trouble: t.trouble})
	if err != nil {
		return err
	}
	t.writer = w
	t.recaller = memory.NewRecaller(t.o.Memory)
	t.glossary = glossaryOf(c)
	if t.brains, err = t.think(ctx, c); err != nil {
		return err
	}
	t.deal()
	t.enter(c.Scenes[0])
	return nil
}

// openSession goes on with a session that was interrupted a short while ago, or
// begins a new one. Either way the table knows what was said last.
func (t *Table) openSession(ctx context.Context) error {
	c := t.o.Campaign
	old, err := t.o.Memory.Sessions(ctx, c.ID, 1)
	if err != nil {
		return fmt.Errorf("read the last session: %w", err)
	}
	now := time.Now()
	s := memory.Session{ID: now.UTC().Format("2006-01-02T15-04-05.000"), Campaign: c.ID, Started: now}
	if len(old) > 0 && now.Sub(old[0].Started) < resume {
		s = old[0]
	}
	if err := t.o.Memory.StartSession(ctx, s); err != nil {
		return fmt.Errorf("begin the session: %w", err)
	}
	t.session, t.started = s.ID, s.Started
	lines, err := t.o.Memory.Recent(ctx, memory.Viewer{Campaign: c.ID}, memory.Window{Limit: tail})
	if err != nil {
		return fmt.Errorf("read what was said last: %w", err)
	}
	t.lines = lines
	for _, l := range lines {
		t.shown = append(t.shown, Line{
			ID: l.ID, Text: l.Text, Final: true, Cut: l.Cut, To: l.To,
			Speaker: Person{ID: l.Speaker.ID, Name: l.Speaker.Name, NPC: l.Speaker.Kind == memory.NPCSpeaker, DM: l.Speaker.Kind == memory.DMSpeaker},
		})
		if l.Speaker.Kind == memory.NPCSpeaker && l.Session == t.session {
			t.met[l.Speaker.ID] = true
		}
	}
	if len(old) > 0 && old[0].ID != s.ID {
		return t.previously(ctx, old[0].ID)
	}
	return nil
}

// trouble tells the DM that memory cannot write, or that it can again.
func (t *Table) trouble(err error) {
	t.post(func() {
		if err == nil {
			t.alert(Alert{Text: "Memory is writing again; nothing was lost."})
			return
		}
		t.alert(Alert{Text: fmt.Sprintf("Memory cannot write (%v). The game goes on and lines wait.", err), Bad: true})
	})
}

// enter makes s the scene: who is present is who can hear, answer and remember.
func (t *Table) enter(s campaigns.Scene) {
	t.scene = Scene{ID: s.ID, Name: s.Name, Text: s.Text, Mood: s.Mood, Present: slices.Clone(s.Present)}
	t.recast()
	t.playScene(s)
}

// recast rebuilds what depends on who is present and who is muted.
func (t *Table) recast() {
	t.freshen()
	t.cast = npc.NewCast(t.campaign.NPCs, npc.Room{
		Present: t.scene.Present, Muted: t.mutedIDs(), Players: t.players, PCs: t.characters(), Language: t.campaign.Language,
		Phrases: t.campaign.Phrases, Rules: t.o.Rules,
	})
	for i := range t.cards {
		card := &t.cards[i]
		state := card.State
		switch {
		case !slices.Contains(t.scene.Present, card.ID):
			state = Absent
		case t.muted[card.ID] || t.stopped != "":
			state = Muted
		case t.running != nil && t.running.npc == card.ID:
		default:
			state = Listening
		}
		t.setState(card, state)
	}
	s := t.scene
	t.events.add(Event{Scene: &s})
}

// characters are the names of the players' characters.
func (t *Table) characters() []string {
	var names []string
	for _, e := range t.campaign.Entities {
		if e.Kind == memory.Player {
			names = append(append(names, e.Name), e.Aliases...)
		}
	}
	return names
}

// meet learns the name of somebody at the table: a player who is called Bartok
// is not the innkeeper.
func (t *Table) meet(who Person) {
	if !who.NPC && (len(t.people) < maxPlayers || t.people[who.ID] != "") {
		t.people[who.ID] = who.Name
	}
	if !who.NPC && !slices.Contains(t.players, who.Name) {
		t.players = keep(append(t.players, who.Name), maxPlayers)
		t.recast()
	}
}

// setState shows what an NPC is doing. A card may be gone: the campaign can change
// while somebody speaks.
func (t *Table) setState(card *NPC, s State) {
	if card == nil || card.State == s {
		return
	}
	card.State = s
	t.showCard(card)
}

func (t *Table) showCard(card *NPC) {
	c := *card
	t.events.add(Event{NPC: &c})
}

func (t *Table) card(id string) *NPC {
	if i := slices.IndexFunc(t.cards, func(c NPC) bool { return c.ID == id }); i >= 0 {
		return &t.cards[i]
	}
	return nil
}

func (t *Table) character(id string) (npc.Character, bool) {
	i := slices.IndexFunc(t.campaign.NPCs, func(c npc.Character) bool { return c.ID == id })
	if i < 0 {
		return npc.Character{}, false
	}
	return t.campaign.NPCs[i], true
}

// alert tells the DM something, once.
func (t *Table) alert(a Alert) {
	if slices.Contains(t.alerts, a) {
		return
	}
	t.alerts = keep(append(t.alerts, a), 20)
	t.events.add(Event{Alert: &a})
	t.log.Info("alert", "text", a.Text)
}

// snapshot copies the state for a page.
func (t *Table) snapshot() Snapshot {
	s := Snapshot{
		Event: t.events.lastID(), Campaign: t.campaign.Name, Scene: t.scene,
		NPCs: slices.Clone(t.cards), Lines: slices.Clone(t.shown), Turns: slices.Clone(t.turns),
		Tools: slices.Clone(t.tools), Alerts: slices.Clone(t.alerts), Cards: slices.Clone(t.rules),
		Brain: t.o.About.Brain, Ear: t.o.About.Ear, Mouth: t.o.About.Mouth,
		Music: t.band.playing(), Pictures: t.gallery.all(),
		Stopped: t.stopped != "", Why: t.stopped, Paused: t.paused.Load(), Session: t.session, Started: t.started,
		Tier: t.override.shown(time.Now()), Barred: slices.Clone(t.barred), Spent: t.spent,
	}
	for i := range s.NPCs {
		s.NPCs[i].Lifted = t.lifted[s.NPCs[i].ID].shown(time.Now())
	}
	t.expireQuestions(time.Now())
	for _, q := range t.questions {
		s.Questions = append(s.Questions, q.Question)
	}
	for _, sc := range t.campaign.Scenes {
		s.Scenes = append(s.Scenes, Scene{ID: sc.ID, Name: sc.Name, Text: sc.Text, Mood: sc.Mood, Present: sc.Present})
	}
	return s
}

// keep drops the oldest of list beyond n.
func keep[T any](list []T, n int) []T {
	if len(list) > n {
		list = slices.Delete(list, 0, len(list)-n)
	}
	return list
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// voiceOf is the engine's form of a campaign's voice.
func voiceOf(c npc.Character) engine.Voice {
	v := c.Voice
	return engine.Voice{Engine: v.Engine, ID: v.ID, Language: v.Language, Pitch: v.Pitch, Rate: v.Rate, Gain: v.Gain}
}
