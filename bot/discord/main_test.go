package discord

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets many bots wait at once: they take their time, and hardly any of
// the processor's.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
