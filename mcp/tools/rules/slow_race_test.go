//go:build race

package rules

// slow is how much the race detector slows the search down.
const slow = 20
