package voice

import "errors"

// ErrLeft means that the call has been left.
var ErrLeft = errors.New("voice: the call was left")
