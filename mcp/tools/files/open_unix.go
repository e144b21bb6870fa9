//go:build unix

package files

import "syscall"

// doNotWait has opening a pipe return at once.
const doNotWait = syscall.O_NONBLOCK
