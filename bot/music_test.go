package bot

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/voice/music"
	"github.com/glyphoxa/glyphoxa/voice/pcm"
)

// whistle is four seconds of a loud tone as WAV.
func whistle(hertz float64) []byte {
	s := make([]int16, 4*pcm.Rate)
	for i := range s {
		s[i] = int16(20000 * math.Sin(2*math.Pi*hertz*float64(i)/pcm.Rate))
	}
	return pcm.EncodeWAV(pcm.Rate, s)
}

// quietTable is a table with nothing but music, in virtual time.
func quietTable(t *testing.T, files fstest.MapFS) *Table {
	t.Helper()
	table := &Table{
		o: Options{Music: music.NewLibrary(files)}, events: newEventLog(), band: newBand(), ctx: t.Context(), inbox: make(chan func(), 64),
	}
	return table
}

func TestMusicPlaysInTheRoomAndIsTurnedDownUnderVoices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := quietTable(t, fstest.MapFS{"music/market.wav": {Data: whistle(440)}})
		sounds, stop := table.room.listen()
		defer stop()
		table.tasks.Go(func() { table.perform(t.Context()) })
		if piece, err := table.PlayMusic(t.Context(), "bartok", "a market"); err != nil || piece != "market" {
			t.Fatalf("got %q, %v", piece, err)
		}
		// level takes sound for a while and tells how loud the music is at its end.
		level := func(d time.Duration, also func()) float64 {
			t.Helper()
			last, end, n := -96.0, time.Now().Add(d), 0
			for time.Now().Before(end) {
				if s := <-sounds; s.NPC == Background {
					last = pcm.Level(s.Samples)
					n++
				}
				also()
			}
			if frames := int(d / pcm.FrameTime); n < frames-2 || n > frames+2 {
				t.Errorf("%d frames in %v, want %d: one every 20 ms", n, d, frames)
			}
			return last
		}
		nothing := func() {}
		loud := level(3*time.Second, nothing)
		if loud < -30 {
			t.Fatalf("the music is at %.1f dB, want it heard", loud)
		}
		spoken := level(time.Second, func() {
			table.room.send(Sound{NPC: "bartok", Samples: make([]int16, pcm.FrameSize)})
			<-sounds
		})
		if d := loud - spoken; d < 10.5 || d > 13.5 {
			t.Errorf("while an NPC speaks it is %.1f dB lower, want 12", d)
		}
		if got := level(2*time.Second, nothing); math.Abs(got-loud) > 1 {
			t.Errorf("afterwards it is at %.1f dB, want %.1f again", got, loud)
		}
		table.band.hush(true)
		if d := loud - level(time.Second, nothing); d < 4.5 || d > 7.5 {
			t.Errorf("while a player speaks it is %.1f dB lower, want 6", d)
		}
		table.band.hush(false)
		if piece, err := table.StopMusic(t.Context(), ""); err != nil || piece != "market" {
			t.Errorf("stopping: got %q, %v", piece, err)
		}
		time.Sleep(2 * time.Second)
		for len(sounds) > 0 {
			<-sounds
		}
		time.Sleep(time.Second)
		if len(sounds) > 0 {
			t.Errorf("two seconds after it was stopped there is sound at %.1f dB", pcm.Level((<-sounds).Samples))
		}
	})
}

func TestLastWishForMusicWins(t *testing.T) {
	table := quietTable(t, fstest.MapFS{"music/market.wav": {Data: whistle(440)}, "music/battle.wav": {Data: whistle(600)}})
	slow, began := make(chan struct{}), make(chan struct{})
	done := make(chan string)
	go func() {
		piece, err := table.strikeUp(Music{}, true, func() (*music.Piece, error) {
			close(began)
			<-slow
			return table.o.Music.Find("market")
		})
		if err != nil {
			t.Error(err)
		}
		done <- piece
	}()
	<-began
	if _, err := table.PlayMusic(t.Context(), "", "battle"); err != nil {
		t.Fatal(err)
	}
	close(slow)
	if got := <-done; got != "battle" || table.band.playing().Piece != "battle" {
		t.Errorf("what was read late says %q plays, and %q does; want battle", got, table.band.playing().Piece)
	}
	if _, err := table.PlayMusic(t.Context(), "", "polka"); !errors.Is(err, music.ErrNoPiece) || table.band.playing().Piece != "battle" {
		t.Errorf("a mood without music: got %v with %q playing, want ErrNoPiece and battle", err, table.band.playing().Piece)
	}
}

func TestScenesBringTheirMusicAndTheDMStopsIt(t *testing.T) {
	table, _ := setup{
		brain: reply{text: "Aye."},
		music: music.NewLibrary(fstest.MapFS{"music/market.wav": {Data: whistle(440)}}),
		change: func(c *campaigns.Campaign) {
			c.Scenes[0].Music = "music/market.wav"
			c.Scenes[1].Music = ""
			c.Scenes = append(c.Scenes, campaigns.Scene{ID: "crypt", Name: "The Crypt", Music: "shadows"}, campaigns.Scene{ID: "lost", Name: "Lost", Music: "music/nowhere.ogg"})
		},
	}.open(t)
	// plays waits until a piece plays, or none.
	after := uint64(0)
	plays := func(want string) {
		t.Helper()
		for e := range table.Events(t.Context(), after) {
			if after = e.ID; e.Music != nil && e.Music.Piece == want {
				return
			}
		}
	}
	plays("market")
	scenes := table.State().Scenes
	for _, c := range []struct{ scene, want string }{{scenes[1].ID, ""}, {"crypt", "shadows"}} {
		if err := table.SetScene(t.Context(), lead, c.scene); err != nil {
			t.Fatal(err)
		}
		plays(c.want)
	}
	if err := table.SetMusic(t.Context(), mira, ""); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("a player stops the music: got %v, want ErrNotAllowed", err)
	}
	if err := table.SetMusic(t.Context(), lead, "a calm tavern"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Music{Piece: "hearth", Mood: "a calm tavern"}, table.State().Music); diff != "" {
		t.Errorf("what plays (-want +got):\n%s", diff)
	}
	// What somebody asked for stays when a scene has no music of its own.
	if err := table.SetScene(t.Context(), lead, scenes[1].ID); err != nil {
		t.Fatal(err)
	}
	if got := table.State().Music.Piece; got != "hearth" {
		t.Errorf("%q plays in a scene without music, want what the DM chose", got)
	}
	if err := table.SetMusic(t.Context(), lead, ""); err != nil || table.State().Music.Piece != "" {
		t.Errorf("after the DM stopped it: %v, %q plays", err, table.State().Music.Piece)
	}
	if err := table.SetMusic(t.Context(), lead, "dungeon"); err != nil {
		t.Fatal(err)
	}
	if err := table.XCard(t.Context(), mira, true); err != nil || table.State().Music.Piece != "" {
		t.Errorf("after an X-card: %v, %q plays", err, table.State().Music.Piece)
	}
	if err := table.SetScene(t.Context(), lead, "lost"); err != nil {
		t.Fatal(err)
	}
	for e := range table.Events(t.Context(), 0) {
		if e.Alert != nil && strings.Contains(e.Alert.Text, "Lost") {
			break
		}
	}
}

func TestTableWithoutMusicSaysSo(t *testing.T) {
	table, _ := setup{brain: reply{text: "Aye."}}.open(t)
	if _, err := table.PlayMusic(t.Context(), "bartok", "calm"); !errors.Is(err, ErrNoMusic) {
		t.Errorf("got %v, want ErrNoMusic", err)
	}
}
