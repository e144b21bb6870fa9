package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
)

const (
	// firstToken is how long a model may take to begin, on a slow machine with the
	// whole brief to read. The engine's ladder is stricter where there is another.
	firstToken = 30 * time.Second
	// nextToken is how long a stream may fall silent once it has begun to speak: a
	// voice that hangs for longer has broken off. One that only thinks or chooses
	// tools has the time of the first word, again after each sign of life.
	nextToken = 2 * time.Second
	// wholeAnswer bounds an answer of signs of life without a word.
	wholeAnswer = 3 * time.Minute
)

// ErrTruncated is an answer that stopped without the vendor's end mark.
var ErrTruncated = errors.New("the answer was cut off")

// asking sends one request of a vendor's and yields its answer, the Done delta
// last. It calls beat whenever something comes and returns [errStopped] once yield
// has returned false.
type asking func(ctx context.Context, beat func(), yield func(engine.Delta) bool) error

// stream runs one request of any vendor: again while nothing has been said and it
// may help, and with an end when the vendor falls silent.
func stream(ctx context.Context, name string, ask asking) iter.Seq2[engine.Delta, error] {
	return func(yield func(engine.Delta, error) bool) {
		begun := false
		once := func() error {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			whole := time.AfterFunc(wholeAnswer, func() { cancel(errEndless) })
			defer whole.Stop()
			silent := time.AfterFunc(firstToken, func() { cancel(errSilent) })
			defer silent.Stop()
			spoken := false
			patience := func() time.Duration {
				if spoken {
					return nextToken
				}
				return firstToken
			}
			err := ask(ctx, func() { silent.Reset(patience()) }, func(d engine.Delta) bool {
				// Whoever listens may take their time: that is not the vendor's.
				silent.Stop()
				defer func() { silent.Reset(patience()) }()
				begun, spoken = true, spoken || d.Text != ""
				return yield(d, nil)
			})
			if err != nil && !errors.Is(err, errStopped) && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		}
		for attempt := 1; ; attempt++ {
			err := once()
			if err == nil || errors.Is(err, errStopped) {
				return
			}
			if begun || errors.Is(err, errSilent) || !engine.WaitToRetry(ctx, err, attempt) {
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				yield(engine.Delta{}, fmt.Errorf("%s: %w", name, err))
				return
			}
		}
	}
}

var (
	errStopped = errors.New("stopped")
	errSilent  = errors.New("the model fell silent")
	errEndless = fmt.Errorf("no end of the answer within %v", wholeAnswer)
)

// alive beats whenever something is read.
type alive struct {
	r    io.Reader
	beat func()
}

func (a alive) Read(b []byte) (int, error) {
	n, err := a.r.Read(b)
	if n > 0 && a.beat != nil {
		a.beat()
	}
	return n, err
}

// streams says what is wrong with an answer that is no stream. It leaves closing to
// the caller.
func streams(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // without one it may be a stream
	switch {
	case resp.StatusCode != http.StatusOK:
		return engine.ReadHTTPError(resp)
	case kind == "text/html" || kind == "application/json":
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // what arrived is enough
		return fmt.Errorf("the server sent %s instead of a stream: %q", kind, b)
	}
	return nil
}
