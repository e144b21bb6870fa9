//go:build !linux

package voice

import "time"

func sleepUntil(t time.Time) { time.Sleep(time.Until(t)) }

func raisePriority() {}
