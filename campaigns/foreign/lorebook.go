package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
	"github.com/glyphoxa/glyphoxa/npc"
)

// A book is a lorebook: texts that words bring up. Cards keep its entries in a
// list, files of world info in an object by number.
type book struct {
	Name    string  `json:"name"`
	Entries entries `json:"entries"`
}

// An entry of a lorebook. Cards and world info spell some fields differently.
type entry struct {
	Keys      []string `json:"keys"`
	Key       []string `json:"key"`
	Secondary []string `json:"secondary_keys"`
	Content   string   `json:"content"`
	Name      string   `json:"name"`
	Comment   string   `json:"comment"`
	Enabled   *bool    `json:"enabled"`
	Disable   bool     `json:"disable"`
	Constant  bool     `json:"constant"`
	Selective bool     `json:"selective"`
	Regex     bool     `json:"use_regex"`
	Order     float64  `json:"insertion_order"`
}

// entries reads a list, or an object by number, in the order of insertion.
type entries []entry

func (e *entries) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var byNumber map[string]entry
		if err := json.Unmarshal(b, &byNumber); err != nil {
			return err
		}
		names := slices.SortedFunc(maps.Keys(byNumber), func(a, b string) int {
			x, _ := strconv.Atoi(a) // what is no number comes first
			y, _ := strconv.Atoi(b)
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
		})
		for _, n := range names {
			*e = append(*e, byNumber[n])
		}
	} else if err := json.Unmarshal(b, (*[]entry)(e)); err != nil {
		return err
	}
	slices.SortStableFunc(*e, func(a, b entry) int { return cmp.Compare(a.Order, b.Order) })
	return nil
}

func (e entry) keys() []string { return append(slices.Clip(e.Keys), e.Key...) }

func (e entry) off() bool { return e.Disable || e.Enabled != nil && !*e.Enabled }

// Limits of an NPC's knowledge, as campaigns have them.
const maxKnowledge, maxAbout = 200, 30

// book turns a card's lorebook into what its character knows. What is always
// true joins the background, since nothing brings it up.
func (in *importing) book(who string, b book, speaks, background string) (known []npc.Knowledge, always string) {
	always = background
	for i, e := range b.Entries {
		text := in.allowed(who+"'s lorebook", plain(macros(undecorated(e.Content), speaks, "the player")))
		about := in.triggers(who, e)
		switch {
		case e.off() || text == "":
		case e.Constant || len(about) == 0:
			always = strings.TrimSpace(always + "\n\n" + text)
		case len(known) == maxKnowledge:
			in.notice("%s's lorebook has more than %d entries: %d are left out", who, maxKnowledge, len(b.Entries)-i)
			return known, always
		default:
			known = append(known, npc.Knowledge{About: about, Text: text})
		}
	}
	return known, always
}

// decorator lines change how other programs insert an entry.
var decorator = regexp.MustCompile(`(?m)^@@.*\n?`)

func undecorated(s string) string { return decorator.ReplaceAllString(s, "") }

// literal words of a regular expression, as far as one can tell.
var literal = regexp.MustCompile(`[\pL]{3,}(?:[ '-][\pL]{2,})*`)

// triggers are the words that bring an entry up.
func (in *importing) triggers(who string, e entry) []string {
	keys := e.keys()
	if e.Regex {
		in.notice("%s's lorebook: of patterns only the words in them are used", who)
		keys = literal.FindAllString(strings.Join(keys, " | "), -1)
	}
	if e.Selective && len(e.Secondary) > 0 {
		in.notice("%s's lorebook: second keys are not needed to bring something up here", who)
	}
	var about []string
	for _, k := range keys {
		if k = first(tidy(k), 80); k != "" && !slices.Contains(about, k) && len(about) < maxAbout {
			about = append(about, k)
		}
	}
	return about
}

// lorebook reads a book without a character: each entry becomes something that
// the game master knows of.
func (in *importing) lorebook(name string, raw json.RawMessage) error {
	var b book
	if err := json.Unmarshal(raw, &b); err != nil {
		return fmt.Errorf("the lorebook: %w", err)
	}
	in.Format = cmp.Or(in.Format, "lorebook")
	in.Draft.Title = cmp.Or(in.Draft.Title, short(b.Name), name)
	for _, e := range b.Entries {
		about := in.triggers("it", e)
		title := cmp.Or(short(e.Name), short(e.Comment))
		if title == "" && len(about) > 0 {
			title = about[0]
		}
		text := in.allowed(title, plain(macros(undecorated(e.Content), "they", "the player")))
		if e.off() || text == "" || title == "" {
			continue
		}
		aliases := slices.DeleteFunc(about, func(a string) bool { return strings.EqualFold(a, title) })
		in.entity(memory.Entity{Kind: memory.Concept, Name: title, Aliases: aliases}, text, "")
	}
	return nil
}
