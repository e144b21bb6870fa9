package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// MaxRetries is how often a request is repeated before anything has been heard of
// its answer. A second time would come too late: another provider is to have taken
// over within half a second.
const MaxRetries = 1

// longestWait is the longest that a turn can wait for a vendor that asks for
// patience; beyond it another vendor is the better answer.
const longestWait = 2 * time.Second

// WaitToRetry waits before attempt number attempt (from 1) after err and reports
// whether to try at all: not after a refusal, not too often, not when the vendor
// asks for more patience than a table has, and not when ctx ends.
func WaitToRetry(ctx context.Context, err error, attempt int) bool {
	if attempt > MaxRetries || ctx.Err() != nil {
		return false
	}
	// 100 ms, give or take a half, so that sessions do not knock together.
	const usual = 100 * time.Millisecond
	wait := usual/2 + rand.N(usual)
	if e, ok := errors.AsType[*HTTPError](err); ok {
		if !e.Temporary() || e.RetryAfter > longestWait {
			return false
		}
		wait = max(wait, e.RetryAfter)
	}
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}
