package mls

import "math/bits"

// The ratchet tree is an array of nodes: leaf i is node 2i and parents are at
// odd indices, always for a power of two leaves. RFC 9420, "Array-Based Trees".
//
//	           X
//	   X               X
//	X     X        X       X
//	0  1  2  3  4  5  6        node index
//
// The functions are total for the indices of such a tree.

func level(x uint32) int    { return bits.TrailingZeros32(^x) }
func left(x uint32) uint32  { return x ^ 1<<(level(x)-1) }
func right(x uint32) uint32 { return x ^ 3<<(level(x)-1) }

func parentOf(x uint32) uint32 {
	k := level(x)
	return (x | 1<<k) &^ (1 << (k + 1))
}

func siblingOf(x uint32) uint32 {
	if p := parentOf(x); x > p {
		return left(p)
	}
	return right(parentOf(x))
}

// under says whether x is top or below it.
func under(x, top uint32) bool {
	k := level(top)
	return x>>(k+1) == top>>(k+1)
}
