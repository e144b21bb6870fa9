package campaigns_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glyphoxa/glyphoxa/campaigns"
)

// seen is what a watcher was told.
type seen struct {
	campaign *campaigns.Campaign
	err      error
}

// watch follows the campaign in dir until the test ends.
func watch(t *testing.T, dir string) <-chan seen {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, done := make(chan seen, 16), make(chan struct{}) // no test causes as many changes
	go func() {
		defer close(done)
		for c, err := range campaigns.Watch(ctx, dir, options) {
			out <- seen{c, err}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return out
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestBrokenFileNeverReplacesAGoodCampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, "campaign.yaml", "{id: x, name: First, edition: 2014}")
		changes := watch(t, dir)
		if got := <-changes; got.err != nil || got.campaign.Name != "First" {
			t.Fatalf("at first: %+v", got)
		}
		write(t, dir, "campaign.yaml", "{id: x, nam: Broken, edition: 2014}")
		if got := <-changes; got.campaign != nil || got.err == nil || !strings.Contains(got.err.Error(), `campaign.yaml:1:9: unknown key "nam"`) {
			t.Fatalf("after breaking: %+v", got)
		}
		write(t, dir, "campaign.yaml", "{id: x, name: Second, edition: 2014}")
		if got := <-changes; got.err != nil || got.campaign.Name != "Second" {
			t.Fatalf("after mending: %+v", got)
		}
		if err := os.Mkdir(filepath.Join(dir, "npcs"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, dir, "npcs/ann.yaml", "{name: Ann, personality: Kind.}")
		if got := <-changes; got.err != nil || len(got.campaign.NPCs) != 1 {
			t.Fatalf("after adding an NPC: %+v", got)
		}
	})
}

func TestHalfWrittenFileIsNotTakenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, "campaign.yaml", "{id: x, name: First, edition: 2014}")
		changes := watch(t, dir)
		<-changes
		// An editor that writes a little every 300 ms, for three seconds.
		var text strings.Builder
		for range 10 {
			text.WriteString("# a\n")
			write(t, dir, "campaign.yaml", text.String())
			time.Sleep(300 * time.Millisecond)
		}
		write(t, dir, "campaign.yaml", text.String()+"{id: x, name: Done, edition: 2014}")
		if got := <-changes; got.err != nil || got.campaign.Name != "Done" {
			t.Errorf("after a slow save: %+v, %v", got.campaign, got.err)
		}
	})
}

func TestSavingTheSameTextAgainIsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		const text = "{id: x, name: First, edition: 2014}"
		write(t, dir, "campaign.yaml", text)
		changes := watch(t, dir)
		<-changes
		later := time.Now().Add(time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "campaign.yaml"), later, later); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-changes:
			t.Errorf("told of a change: %+v", got)
		case <-time.After(10 * time.Second):
		}
	})
}
