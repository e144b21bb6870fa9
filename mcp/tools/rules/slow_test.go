//go:build !race

package rules

// slow is how much the race detector slows the search down.
const slow = 1

// tries is how often a search is timed.
const tries = 3
