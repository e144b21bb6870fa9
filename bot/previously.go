package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/glyphoxa/glyphoxa/memory"
)

// maxPreviously bounds what is told of the last session, in bytes: half a minute
// read aloud.
const maxPreviously = 900

// previously tells at the beginning of a session what happened in the one before,
// as far as the whole table heard it, so that it may be read aloud.
func (t *Table) previously(ctx context.Context, last string) error {
	recap, err := memory.RecapOf(ctx, t.o.Memory, memory.Viewer{Campaign: t.o.Campaign.ID}, last, memory.Short, true)
	if errors.Is(err, memory.ErrUnknown) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("retell the last session: %w", err)
	}
	var b strings.Builder
	for _, s := range recap.Sentences {
		if b.Len()+len(s.Text) > maxPreviously {
			break
		}
		b.WriteString(" " + s.Text)
	}
	if b.Len() > 0 {
		t.alert(Alert{Text: "Previously:" + b.String()})
	}
	return nil
}
