package voice_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets many calls be held at once: they take their time, and hardly any
// of the processor's.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
