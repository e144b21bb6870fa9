package meaning

import (
	"slices"
	"testing"
)

func TestAWordIsMoreLikeItsKindThanLikeAnyOther(t *testing.T) {
	for _, c := range []struct{ word, kin, stranger string }{
		{"bed", "room", "prize"}, {"dog", "puppy", "password"}, {"cello", "violin", "river"},
		{"ale", "beer", "window"}, {"sword", "dagger", "lodging"}, {"arson", "fire", "violin"},
		{"purchase", "buy", "goblin"}, {"bartender", "waiter", "algebra"}, {"wizard", "magic", "invoice"},
		{"vacation", "trip", "hammer"}, {"child", "kid", "copper"}, {"murder", "killed", "supper"},
	} {
		kin, stranger := like(t, c.word, c.kin), like(t, c.word, c.stranger)
		if kin <= stranger+0.1 {
			t.Errorf("%s is like %s by %.2f and like %s by %.2f", c.word, c.kin, kin, c.stranger, stranger)
		}
	}
}

func TestLikenessIsOneForTheSameWordAndTheSameBothWays(t *testing.T) {
	words := []string{"bed", "room", "prize", "dragon", "the"}
	for _, a := range words {
		if got := like(t, a, a); got != 1 {
			t.Errorf("%s is like itself by %v", a, got)
		}
		for _, b := range words {
			if there, back := like(t, a, b), like(t, b, a); there != back || there < 0 || there > 1 {
				t.Errorf("%s and %s: %v there, %v back", a, b, there, back)
			}
		}
	}
}

func TestAnUnknownWordIsLikeNothing(t *testing.T) {
	for _, w := range []string{"", "greymantle", "Bed", "schwert", "zzz"} {
		if s, ok := Of(w); ok || s.Like(s) != 0 {
			t.Errorf("the table knows %q", w)
		}
		if near := Near(w, 3); near != nil {
			t.Errorf("%q is near %v", w, near)
		}
	}
}

func TestNearestWordsComeFirst(t *testing.T) {
	near := Near("beer", 20)
	if len(near) != 20 {
		t.Fatalf("%d words are near beer, want 20", len(near))
	}
	if !slices.IsSortedFunc(near, func(a, b Neighbor) int { return int((b.Like - a.Like) * 1e6) }) {
		t.Errorf("not in order: %v", near)
	}
	if !slices.ContainsFunc(near, func(n Neighbor) bool { return n.Word == "wine" || n.Word == "ale" }) {
		t.Errorf("near beer are only %v", near)
	}
}

func like(t *testing.T, a, b string) float64 {
	t.Helper()
	x, okX := Of(a)
	y, okY := Of(b)
	if !okX || !okY {
		t.Fatalf("the table lacks %q or %q", a, b)
	}
	return x.Like(y)
}

func BenchmarkLike(b *testing.B) {
	x, _ := Of("tavern")
	y, _ := Of("inn")
	b.ReportAllocs()
	for b.Loop() {
		x.Like(y)
	}
}

func BenchmarkOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Of("tavern")
	}
}

func BenchmarkNear(b *testing.B) {
	for b.Loop() {
		Near("tavern", 30)
	}
}
