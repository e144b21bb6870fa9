package discord

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
)

const (
	tables  = 50
	players = 4
)

// seats is one server of many, with its players.
type seats struct {
	guild, voice, text, word string
	players                  []string
}

// crowd is a Discord with many servers, whose first player of each is an
// administrator.
func crowd(t testing.TB, n int) (*scene, []seats) {
	t.Helper()
	var all []seats
	s := running(t, Options{}, func(d *discordtest.Server) {
		for i := range n {
			one := seats{word: fmt.Sprintf("secret%03d", i)}
			one.guild, one.voice, one.text = d.AddGuild(fmt.Sprintf("Guild %d", i), "en-US")
			for p := range players {
				user := fmt.Sprintf("9100000000%05d%03d", i, p)
				rights := int64(discordtest.Everyone)
				if p == 0 {
					rights |= discordtest.Administrator
				}
				d.Join(user, fmt.Sprintf("P%d-%d", i, p), rights)
				one.players = append(one.players, user)
			}
			all = append(all, one)
		}
	})
	return s, all
}

// sit has everybody of a server sit down and a session begin.
func (s *scene) sit(t testing.TB, one seats) {
	until(t, "the bot has seen the server", func() bool {
		_, err := s.app.session.State.Channel(one.text) // which comes after the server itself
		return err == nil
	})
	for _, p := range one.players {
		s.EnterAt(p, one.guild)
	}
	until(t, "the session of "+one.guild+" has begun", func() bool {
		if strings.Contains(s.slashAt(t, one.players[0], one.guild, "session status").Content, "connected") {
			return true
		}
		s.slashAt(t, one.players[0], one.guild, "session start")
		return false
	})
}

// evening is what happens at one table: everybody says the table's word, and an NPC
// is made to say it.
func (s *scene) evening(t testing.TB, one seats) {
	for i, p := range one.players {
		if r := s.slashAt(t, p, one.guild, "say", "text", fmt.Sprintf("We are %s, says number %d.", one.word, i)); !strings.Contains(r.Content, one.word) {
			t.Errorf("%s: saying it said %q", one.guild, r.Content)
		}
	}
	s.slashAt(t, one.players[0], one.guild, "npc speak", "npc", "bartok", "text", "Welcome, "+one.word+".")
	s.slashAt(t, one.players[0], one.guild, "npc mute", "npc", "pip")
}

// each runs f for every server, for eight at a time: as many as may begin in the
// same second, and no more than a busy machine can.
func each(all []seats, f func(one seats)) {
	var wg sync.WaitGroup
	places := make(chan struct{}, 8)
	for _, one := range all {
		places <- struct{}{}
		wg.Go(func() { f(one); <-places })
	}
	wg.Wait()
}

// TestNothingCrossesBetweenFiftyTables plays at fifty tables in one process, with
// four players each, and looks for any table's words, people or changes at the
// others.
func TestNothingCrossesBetweenFiftyTables(t *testing.T) {
	s, all := crowd(t, tables)
	each(all, func(one seats) { s.sit(t, one) })
	// The last table is paused, and its DM is nobody's else.
	s.slashAt(t, all[tables-1].players[0], all[tables-1].guild, "session pause")
	each(all[:tables-1], func(one seats) { s.evening(t, one) })
	for i, one := range all {
		next := all[(i+1)%tables]
		if r := s.slashAt(t, one.players[0], next.guild, "npc list"); strings.Contains(r.Content, one.word) {
			t.Errorf("the words of %s are at %s", one.guild, next.guild)
		}
		status := s.slashAt(t, one.players[0], one.guild, "session status").Content
		if paused := strings.Contains(status, "is paused"); paused != (i == tables-1) {
			t.Errorf("table %d: paused %v: %s", i, paused, status)
		}
		found := s.slashAt(t, one.players[0], one.guild, "memory search", "query", one.word).Content
		if i < tables-1 && strings.Count(found, one.word) < players {
			t.Errorf("table %d remembers %q", i, found)
		}
		for j, other := range all {
			if i != j && strings.Contains(found+status, other.word) {
				t.Errorf("table %d knows the word of table %d: %s", i, j, found)
			}
			for _, p := range other.players {
				if i != j && s.app.consent.given(one.guild, p) != "" {
					t.Errorf("a player of table %d has a consent at table %d", j, i)
				}
			}
		}
		for p := range players {
			if !strings.Contains(status, fmt.Sprintf("P%d-%d", i, p)) {
				t.Errorf("table %d does not list its player %d: %s", i, p, status)
			}
		}
		list := s.slashAt(t, one.players[0], one.guild, "npc list").Content
		if muted := strings.Contains(list, "**Pip** · muted"); !muted {
			t.Errorf("table %d: Pip is not muted: %s", i, list)
		}
	}
	owner := map[string]seats{}
	for _, one := range all {
		owner[one.text], owner["thread-"+one.text] = one, one
	}
	for _, p := range s.Posts("") {
		for _, other := range all {
			if strings.Contains(p.Content, other.word) && owner[p.Channel].guild != other.guild {
				t.Errorf("in the channel of %s: %q", owner[p.Channel].word, p.Content)
			}
		}
	}
	each(all, func(one seats) { s.slashAt(t, one.players[0], one.guild, "session stop") })
}

// BenchmarkTables is how long a command takes while so many tables play, and how
// many a process begins a second.
func BenchmarkTables(b *testing.B) {
	for _, n := range []int{1, 10, tables} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, all := crowd(b, n)
			start := time.Now()
			each(all, func(one seats) { s.sit(b, one) })
			begun := time.Since(start)
			i := 0
			for b.Loop() {
				one := all[i%n]
				i++
				if _, err := s.SlashAt(context.Background(), one.players[1], one.guild, "say", "text", "Hello all."); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/begun.Seconds(), "sessions/s")
		})
	}
}
