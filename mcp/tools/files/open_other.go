//go:build !unix

package files

// doNotWait is not needed where files cannot be pipes.
const doNotWait = 0
