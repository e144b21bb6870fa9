package find

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

var docs = []Doc{
	{Name: "read_text_file", Server: "fs", Description: "Read the complete contents of a file as text", Params: []string{"path"}},
	{Name: "listDirectories", Server: "fs", Description: "Get a listing of what is in a folder", Params: []string{"path"}},
	{Name: "get_weather", Server: "sky", Description: "Current weather for a town", Params: []string{"location", "season"}},
	{Name: "play_track", Server: "music", Description: "Start a song that fits the mood", Params: []string{"mood"}},
}

func TestTheRightToolComesFirst(t *testing.T) {
	x := New(docs)
	for query, want := range map[string]int{
		"read the file":                 0,
		"what lies in these directory?": 1,
		"what is the weather like":      2,
		"something for the season":      2,
		"songs":                         3,
		"MUSIC!":                        3,
	} {
		if got := x.Search(query, 1); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %v, want %d", query, got, want)
		}
	}
	if got := x.Search("the of and zebra", 5); got != nil {
		t.Errorf("no shared word: %v", got)
	}
	if got := x.Search("path", 5); len(got) != 2 {
		t.Errorf("a parameter's name: %v, want both", got)
	}
	if got := New(nil).Search("x", 1); got != nil {
		t.Errorf("nothing to search: %v", got)
	}
}

func TestWordsAreSplitAsPeopleReadThem(t *testing.T) {
	want := []string{"list", "directory", "http", "url2", "glass", "dress", "song"}
	if d := cmp.Diff(want, words("listDirectory of the HTTP-url2, glass_dress songs")); d != "" {
		t.Error(d)
	}
}
