package dice

import (
	"errors"
	"strings"
	"testing"
)

func TestShippedTablesDrawWithoutLooseEnds(t *testing.T) {
	tables, err := NewTables(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := NewSeeded(5)
	for _, name := range tables.Names() {
		for range 200 {
			got, err := tables.Draw(r, name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got.Result == "" || strings.Contains(got.Result, "[[") || got.Roll < 1 || got.Roll > got.Of {
				t.Fatalf("%s: %+v", name, got)
			}
		}
	}
	for _, name := range []string{"wild_magic", "treasure_hoard", "random_encounter"} {
		if _, err := tables.Draw(r, name); err != nil {
			t.Error(err)
		}
	}
}

func TestRowsAreDrawnByWeight(t *testing.T) {
	tables, err := NewTables([]Table{{Name: "w", Rows: []Row{{Weight: 3, Text: "often"}, {Text: "seldom"}}}})
	if err != nil {
		t.Fatal(err)
	}
	o := &outcomes{}
	r := newRoller(o)
	counts := map[string]int{}
	for more := true; more; more = o.next() {
		got, err := tables.Draw(r, "w")
		if err != nil {
			t.Fatal(err)
		}
		counts[got.Result]++
	}
	if counts["often"] != 3 || counts["seldom"] != 1 {
		t.Errorf("got %v, want 3 to 1", counts)
	}
}

func TestCampaignTablesRollAndDrawInsideTheirRows(t *testing.T) {
	tables, err := NewTables([]Table{
		{Name: "tavern", Rows: []Row{{Text: "[[2d1+1]] guests, [[2d1 @guest]]"}}},
		{Name: "guest", Rows: []Row{{Text: "a bard"}}},
		{Name: "wild_magic", Rows: []Row{{Text: "nothing"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tables.Draw(NewSeeded(1), " Tavern ")
	if want := "3 guests, a bard; a bard"; err != nil || got.Result != want {
		t.Errorf("got %q, %v, want %q", got.Result, err, want)
	}
	if got, err := tables.Draw(NewSeeded(1), "wild magic"); err != nil || got.Result != "nothing" {
		t.Errorf("the campaign's own table did not win: %+v, %v", got, err)
	}
}

func TestATableThatNeverEndsIsStopped(t *testing.T) {
	for _, rows := range [][]Row{
		{{Text: "[[@loop]]"}},
		{{Text: "[[4 @loop]]"}},
		{{Text: "[[1000 @leaf]]"}},
	} {
		tables, err := NewTables([]Table{{Name: "loop", Rows: rows}, {Name: "leaf", Rows: []Row{{Text: "x"}}}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = tables.Draw(NewSeeded(1), "loop")
		if e, ok := errors.AsType[*Error](err); !ok || e.Class != Limit {
			t.Errorf("%v: got %v, want a limit", rows, err)
		}
	}
}

func TestBrokenTablesAreRefusedBeforeTheGame(t *testing.T) {
	one := []Row{{Text: "x"}}
	for name, table := range map[string]Table{
		"name":     {Name: "Über Table", Rows: one},
		"unnamed":  {Rows: one},
		"empty":    {Name: "t"},
		"weight":   {Name: "t", Rows: []Row{{Weight: -1, Text: "x"}}},
		"heavy":    {Name: "t", Rows: []Row{{Weight: maxWeight, Text: "x"}, {Text: "y"}}},
		"missing":  {Name: "t", Rows: []Row{{Text: "[[@nowhere]]"}}},
		"dice":     {Name: "t", Rows: []Row{{Text: "[[2d]] rats"}}},
		"long":     {Name: "t", Rows: []Row{{Text: strings.Repeat("x", maxRowText+1)}}},
		"too many": {Name: "t", Rows: make([]Row, maxRows+1)},
	} {
		if _, err := NewTables([]Table{table}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := ReadTables(strings.NewReader("- name: t\n  rows: [{txt: x}]\n")); err == nil {
		t.Error("an unknown key was accepted")
	}
	if _, err := ReadTables(strings.NewReader(strings.Repeat("#", maxTableBytes+1))); err == nil {
		t.Error("a huge file was accepted")
	}
	if _, err := NewTables(make([]Table, maxTables+1)); err == nil {
		t.Error("nameless tables were accepted")
	}
}
