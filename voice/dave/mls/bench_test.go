package mls

import (
	"fmt"
	"testing"
)

// The work of one member when somebody joins or leaves a call of this size.

func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{5, 25, 100} {
		r := newFullRoom(b, 1, n)
		add, remove := r.add(r.invitation()), r.remove(1)
		for _, change := range []struct {
			name string
			m    *PublicMessage
		}{{"add", add}, {"remove", remove}} {
			b.Run(fmt.Sprintf("%s/%d", change.name, n), func(b *testing.B) {
				for b.Loop() {
					g := *r.members[0]
					if err := g.Propose(change.m); err != nil {
						b.Fatal(err)
					}
					if _, err := g.Commit(r.random); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkProcess(b *testing.B) {
	for _, n := range []int{5, 25, 100} {
		for _, change := range []string{"add", "remove"} {
			b.Run(fmt.Sprintf("%s/%d", change, n), func(b *testing.B) {
				r := newFullRoom(b, 1, n)
				m := r.remove(1)
				if change == "add" {
					m = r.add(r.invitation())
				}
				r.propose(m)
				c := r.commit(2)
				g := r.members[0]
				for b.Loop() {
					if _, err := g.Process(c.Message); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{5, 25, 100} {
		r := newFullRoom(b, 1, n)
		own := r.invitation()
		r.propose(r.add(own))
		c := r.commit(0)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				again := *own
				if _, err := Join(c.Welcome, &again, r.external.Sender); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
