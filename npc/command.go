package npc

import (
	"strings"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// A CommandKind is what the game master orders.
type CommandKind uint8

// The commands that a game master may speak.
const (
	NoCommand   CommandKind = iota
	Mute                    // the NPC hears and says nothing until Unmute
	Unmute                  // it may speak again
	Quiet                   // it breaks off what it says now
	Stop                    // as Quiet, for all who are meant, and nobody begins
	Continue                // speaking is allowed again
	Say                     // it says Words
	TakeTime                // its next answer may take the deep tier
	SetTier                 // the tier is Tier until told otherwise
	ReleaseTier             // the tier is chosen for each utterance again
)

var commandNames = [...]string{"none", "mute", "unmute", "quiet", "stop", "continue", "say", "take your time", "set tier", "release tier"}

// String is the command in words.
func (k CommandKind) String() string { return commandNames[k] }

// A Command is an order that the game master spoke. The same words from anybody
// else are just speech.
type Command struct {
	Kind CommandKind
	// Targets are the ids of the NPCs it is for, in the order they were named.
	Targets []string
	// All is set if it is for every NPC.
	All bool
	// Words are what is to be said, as they were spoken.
	Words string
	// Tier is the tier to be set.
	Tier mcp.Tier
}

// The meanings of words in commands, in the order of orderSections.
const (
	cmdMute meaning = iota
	cmdUnmute
	cmdQuiet
	cmdStop
	cmdGo
	cmdSay
	cmdMake
	cmdTime
	cmdFast
	cmdStandard
	cmdDeep
	cmdAuto
	cmdAll
	cmdFiller
)

// kinds are what each meaning orders, the more particular first.
var kinds = [...]struct {
	m    meaning
	kind CommandKind
	tier mcp.Tier
}{
	{cmdUnmute, Unmute, 0}, {cmdTime, TakeTime, 0}, {cmdFast, SetTier, mcp.Fast}, {cmdStandard, SetTier, mcp.Standard}, {cmdDeep, SetTier, mcp.Deep},
	{cmdAuto, ReleaseTier, 0}, {cmdQuiet, Quiet, 0}, {cmdMute, Mute, 0}, {cmdStop, Stop, 0}, {cmdGo, Continue, 0},
}

// command reads text as an order. It is one only if every word of it belongs to
// the order, so that "stop lying to them, Bartok" stays speech. who is the first
// NPC it is for, or -1.
func (c *Cast) command(text string) (cmd Command, who int) {
	var l line
	l.lang = c.lang
	l.cut(text)
	l.look(&c.lang.orders)
	if l.n == 0 || l.n > 60 {
		return cmd, -1
	}
	var fs founds
	c.find(&l, &fs, -1)
	who = -1
	var named [maxFound]int
	n := 0
	name := func(f found) bool {
		if f.form.by == byHuman || f.who < 0 || n == maxFound {
			return false
		}
		if who < 0 {
			who = f.who
		}
		named[n] = f.who
		n++
		return true
	}
	// The ids are collected only once it is sure that this is an order: most of
	// what a game master says is not.
	targets := func() {
		for _, w := range named[:n] {
			cmd.Targets = append(cmd.Targets, c.npcs[w].id)
		}
	}
	made := false
	for i := 0; i < l.n; {
		// "Bartok, say ..." and "have Bartok say ...": the rest is what is said.
		if l.is(i, cmdSay) && n > 0 && cmd.Kind == NoCommand && l.saying(i, made) {
			j := i + 1
			for l.is(j, cmdSay) {
				j++
			}
			if j >= l.n {
				return Command{}, -1
			}
			cmd.Kind, cmd.Words = Say, after(text, j)
			targets()
			return cmd, who
		}
		if f := fs.at(i); f != nil && !(l.words[i].means != 0 && f.form.common) {
			if f.poss || !name(*f) {
				return Command{}, -1
			}
			i = f.hi
			continue
		}
		w := l.words[i].means
		switch {
		case w.has(cmdAll):
			cmd.All = true
			i++
			continue
		case w.has(cmdMake) && i+1 < l.n && (fs.at(i+1) != nil || l.is(i+1, cmdFiller)):
			made = true
			i++
			continue
		}
		kind, tier := NoCommand, mcp.Fast
		for _, k := range kinds {
			if w.has(k.m) {
				kind, tier = k.kind, k.tier
				break
			}
		}
		switch {
		case kind != NoCommand:
			if cmd.Kind == NoCommand {
				cmd.Kind, cmd.Tier = kind, tier
			}
			// The rest of the phrase.
			m := w
			for i++; i < l.n && l.words[i].means&m != 0 && fs.at(i) == nil && !l.words[i-1].end() && l.words[i-1].stop == 0; i++ {
				m &= l.words[i].means
			}
		case w.has(cmdFiller):
			i++
		default:
			f, ok := found{}, false
			for k := 3; k >= 1 && !ok; k-- {
				f, ok = c.guess(&l, i, i+k)
			}
			if !ok || !name(f) {
				return Command{}, -1
			}
			i = f.hi
		}
	}
	switch {
	case cmd.Kind == NoCommand:
		return Command{}, -1
	case n == 0 && !cmd.All && cmd.Kind != SetTier && cmd.Kind != ReleaseTier:
		return Command{}, -1 // "stop", said to the players
	}
	targets()
	return cmd, who
}

// saying reports whether the word "say" at i orders an NPC to say what follows:
// right after its name, or after "have Bartok".
func (l *line) saying(i int, made bool) bool {
	if made {
		return true
	}
	for k := i - 1; k >= 0 && l.is(k, cmdFiller); k-- {
		switch string(l.full(k)) {
		case "can", "you", "could", "would", "will", "may": // a question
			return false
		}
	}
	return true
}

// after is text from its word j on.
func after(text string, j int) string {
	n := 0
	in := false
	for i, r := range text {
		space := r == ' ' || r == '\t' || r == '\n' || r == ',' || r == ':' || r == '-' || r == '"' || r == '“'
		if space {
			in = false
			continue
		}
		if !in {
			if n == j {
				return strings.Trim(text[i:], " \t\n\"“”")
			}
			n++
			in = true
		}
	}
	return ""
}
