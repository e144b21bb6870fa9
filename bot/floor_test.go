package bot

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// script is a recogniser that understands what the test has somebody say, when the
// sound of it has ended.
type script struct {
	mu    sync.Mutex
	texts []string // of the pieces to come, in the order in which they begin
}

func (*script) Name() string { return "script" }
func (*script) Basic() bool  { return false }

func (s *script) Hear(_ context.Context, _ engine.Hearing, frames iter.Seq[[]int16]) iter.Seq2[engine.Transcript, error] {
	return func(yield func(engine.Transcript, error) bool) {
		s.mu.Lock()
		text := "?"
		if len(s.texts) > 0 {
			text, s.texts = s.texts[0], s.texts[1:]
		}
		s.mu.Unlock()
		for range frames {
		}
		time.Sleep(100 * time.Millisecond)
		yield(engine.Transcript{Text: text, Final: true}, nil)
	}
}

// thinker is a model that takes its time and keeps what it was asked last.
type thinker struct {
	takes time.Duration
	text  string

	mu    sync.Mutex
	asked []string
}

func (*thinker) Name() string { return "thinker" }

func (m *thinker) Stream(ctx context.Context, r engine.Request) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		m.mu.Lock()
		m.asked = append(m.asked, r.Messages[len(r.Messages)-1].Text)
		m.mu.Unlock()
		select {
		case <-time.After(m.takes):
		case <-ctx.Done():
			yield(engine.Delta{}, context.Cause(ctx))
			return
		}
		_ = yield(engine.Delta{Text: m.text}, nil) && yield(engine.Delta{Done: true, Usage: engine.Usage{In: 40, Out: 8}}, nil)
	}
}

// party is people at a table with open microphones in a call.
type party struct {
	t     *testing.T
	table *Table
	ear   *script
	voice [][]int16
	mics  map[string]chan []int16
}

func gather(t *testing.T, table *Table, ear *script, people ...Person) *party {
	t.Helper()
	f, err := os.Open("../voice/vad/testdata/speech.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	samples, err := pcm.ReadWAV(f, pcm.HearRate, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	p := &party{t: t, table: table, ear: ear, mics: map[string]chan []int16{}}
	// Behind the recording's first 760 ms, which are silent.
	p.voice = slices.Collect(slices.Chunk(samples[38*pcm.HearSize:98*pcm.HearSize], pcm.HearSize))
	var listening sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for _, who := range people {
		mic := make(chan []int16)
		p.mics[who.ID] = mic
		listening.Go(func() {
			if err := table.Listen(ctx, who, received(ctx, mic)); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { cancel(); listening.Wait() })
	return p
}

// says has somebody speak for so long, then stop sending.
func (p *party) says(who Person, text string, lasts time.Duration) {
	p.ear.mu.Lock()
	p.ear.texts = append(p.ear.texts, text)
	p.ear.mu.Unlock()
	for i := range int(lasts / pcm.FrameTime) {
		time.Sleep(pcm.FrameTime)
		p.mics[who.ID] <- p.voice[i%len(p.voice)]
	}
	p.mics[who.ID] <- nil
}

// npcLines are what NPCs said, with a mark where they were cut off.
func npcLines(table *Table) []string {
	var out []string
	for _, l := range table.State().Lines {
		if l.Speaker.NPC {
			text := l.Text
			if l.Cut {
				text += " ..."
			}
			out = append(out, text)
		}
	}
	return out
}

const story = "There was a miller once, and he had three sons and a very old donkey."

func TestListenersAndTableTalkLetAnNPCFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ear := &script{}
		table, _ := setup{brain: reply{text: story}, synth: hum{}, ear: ear}.open(t)
		p := gather(t, table, ear, mira, odo)
		p.says(mira, "Bartok, tell me a story.", time.Second)
		time.Sleep(600 * time.Millisecond)
		if !slices.ContainsFunc(table.State().NPCs, func(n NPC) bool { return n.ID == "bartok" && n.State == Speaking }) {
			t.Fatal("Bartok is not speaking")
		}
		p.says(mira, "Mm-hm.", 300*time.Millisecond)
		time.Sleep(time.Second)
		p.says(odo, "Could you pass the crisps over here", 1200*time.Millisecond)
		settle(t, table)
		if diff := cmp.Diff([]string{story}, npcLines(table)); diff != "" {
			t.Errorf("NPCs said (-want +got):\n%s", diff)
		}
	})
}

func TestStopWordOfAnybodyIsObeyedAndNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ear := &script{}
		table, _ := setup{brain: reply{text: strings.Repeat(story+" ", 5)}, synth: hum{}, ear: ear}.open(t)
		p := gather(t, table, ear, mira, odo)
		p.says(mira, "Bartok, tell me a story.", time.Second)
		time.Sleep(time.Second)
		p.says(odo, "Bartok, stop!", 600*time.Millisecond)
		settle(t, table)
		if got := npcLines(table); len(got) != 1 || !strings.HasSuffix(got[0], " ...") || len(got[0]) > 2*len(story) {
			t.Errorf("NPCs said %q, want the beginning of one story", got)
		}
	})
}

func TestPauseInASentenceIsOneLineWithOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ear, brain := &script{}, &thinker{takes: 200 * time.Millisecond, text: "Stew, three coppers."}
		table, _ := setup{brain: brain, synth: hum{}, ear: ear}.open(t)
		p := gather(t, table, ear, mira)
		p.says(mira, "Bartok, what is in the pot and", time.Second)
		time.Sleep(500 * time.Millisecond)
		p.says(mira, "how much is it?", 800*time.Millisecond)
		settle(t, table)
		want := []string{"Mira: Bartok, what is in the pot and how much is it?", "Bartok the Barkeep: Stew, three coppers."}
		if diff := cmp.Diff(want, talk(table)); diff != "" {
			t.Errorf("transcript (-want +got):\n%s", diff)
		}
		turns := table.State().Turns
		if len(turns) != 1 || turns[0].Wasted == 0 {
			t.Errorf("turns are %+v, want one, and the guess at half of the question counted as wasted", turns)
		}
		if n := len(brain.asked); n != 2 {
			t.Errorf("the model was asked %d times, want twice", n)
		}
	})
}

func TestGuessThatWasRightCostsNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ear, brain := &script{}, &thinker{takes: 400 * time.Millisecond, text: "Stew, three coppers."}
		table, _ := setup{brain: brain, synth: hum{}, ear: ear}.open(t)
		p := gather(t, table, ear, mira)
		// Without a mark it is not sure that this is all, so the table waits, and
		// thinks meanwhile.
		p.says(mira, "Bartok tell me what is in the pot tonight", time.Second)
		settle(t, table)
		turn := table.State().Turns[0]
		if len(brain.asked) != 1 || turn.Wasted != 0 {
			t.Errorf("the model was asked %d times and %d tokens were wasted, want once and none", len(brain.asked), turn.Wasted)
		}
		if turn.FirstToken > turn.Routed {
			t.Errorf("the first word came %v after the line, which was taken as whole after %v", turn.FirstToken, turn.Routed)
		}
		if got := turn.FirstSound; got > 700*time.Millisecond {
			t.Errorf("the first sound came after %v", got)
		}
	})
}

func TestLineThatFollowsBeforeTheAnswerIsAnsweredToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ear, brain := &script{}, &thinker{takes: 2 * time.Second, text: "Aye, both."}
		table, _ := setup{brain: brain, synth: hum{}, ear: ear}.open(t)
		p := gather(t, table, ear, mira)
		p.says(mira, "Bartok, do you have a room?", time.Second)
		time.Sleep(600 * time.Millisecond)
		p.says(mira, "and two beds, of course", 800*time.Millisecond)
		settle(t, table)
		want := []string{"Mira: Bartok, do you have a room?", "Mira: and two beds, of course", "Bartok the Barkeep: Aye, both."}
		if diff := cmp.Diff(want, talk(table)); diff != "" {
			t.Errorf("transcript (-want +got):\n%s", diff)
		}
		if last := brain.asked[len(brain.asked)-1]; !strings.Contains(last, "two beds") {
			t.Errorf("the model was asked %q last, want what was said last", last)
		}
	})
}

func TestTwoNPCsWhoWereAskedAnswerOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ear := &script{}
		table, _ := setup{brain: reply{text: "Good evening to you."}, synth: hum{}, ear: ear}.open(t)
		p := gather(t, table, ear, mira)
		speaking := map[string]int{} // frames by NPC, and whether any two were mixed
		order := []string{}
		var heard sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		sounds := table.Sound(ctx)
		heard.Go(func() {
			for s := range sounds {
				if s.Samples != nil {
					if n := len(order); n == 0 || order[n-1] != s.NPC {
						order = append(order, s.NPC)
					}
					speaking[s.NPC]++
				}
			}
		})
		p.says(mira, "Good evening, Bartok and Greymantle!", time.Second)
		settle(t, table)
		cancel()
		heard.Wait()
		if len(order) != 2 || order[0] == order[1] {
			t.Errorf("the room heard %v (%v), want two NPCs, each once", order, speaking)
		}
	})
}

func TestNPCsWaitForAGapAndNobodyStarves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ear := &script{}
		table, _ := setup{brain: reply{text: "Good evening to you."}, synth: hum{}, ear: ear}.open(t)
		var people []Person
		for i := range 4 {
			people = append(people, Person{ID: fmt.Sprint("p", i), Name: fmt.Sprint("Player", i)})
		}
		p := gather(t, table, ear, append(people, mira)...)
		var babble sync.WaitGroup
		for _, who := range people { // they talk all the time, among themselves
			babble.Go(func() {
				for range 4 {
					p.says(who, "and then the dice fell under the sofa", 1400*time.Millisecond)
				}
			})
		}
		time.Sleep(700 * time.Millisecond)
		if err := table.Say(t.Context(), mira, "Bartok, are you there?"); err != nil {
			t.Fatal(err)
		}
		babble.Wait()
		settle(t, table)
		turns := table.State().Turns
		if len(turns) != 1 || turns[0].Cut || turns[0].FirstSound == 0 || turns[0].FirstSound > 1500*time.Millisecond {
			t.Errorf("turns are %+v, want one that began within 1.5 s and was not cut", turns)
		}
	})
}
