package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxName is the longest function name that every model API accepts.
const maxName = 64

// separator stands between a server's name and its tool's. Server names never
// contain it, so that two servers' tools cannot collide.
const separator = "__"

// publicName is the name a model is given for a server's tool: legal for every
// model API, and different for different (server, tool) pairs. A name that has to
// be changed or cut ends in a hash of what it was.
func publicName(server, tool string) string {
	var b strings.Builder
	changed := false
	for _, r := range tool {
		if r == '-' || r == '_' || isAlnum(r) {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
			changed = true
		}
	}
	name := server + separator + b.String()
	if tool == "" || len(name) > maxName {
		changed = true
	}
	if !changed {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	const hash = 8
	return name[:min(len(name), maxName-hash-1)] + "_" + hex.EncodeToString(sum[:hash/2])
}

func isAlnum(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// checkServerName says what is wrong with a configured server name. Names are
// part of tool names, of file names and of whitelists.
func checkServerName(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("a server needs a name")
	case len(s) > 24:
		return fmt.Errorf("server name %q: at most 24 characters", s)
	case strings.Contains(s, separator), strings.HasPrefix(s, "_"), strings.HasSuffix(s, "_"):
		return fmt.Errorf("server name %q: no double underscore, none at the ends", s)
	}
	for _, r := range s {
		if r != '-' && r != '_' && !isAlnum(r) {
			return fmt.Errorf("server name %q: letters, digits, - and _ only", s)
		}
	}
	return nil
}

// checkToolName says what is wrong with a built-in tool's name.
func checkToolName(s string) error {
	if s == "" || len(s) > maxName {
		return fmt.Errorf("tool name %q: want 1 to %d characters", s, maxName)
	}
	if strings.Contains(s, separator) {
		return fmt.Errorf("tool name %q: a double underscore is for tools of servers", s)
	}
	for _, r := range s {
		if r != '-' && r != '_' && !isAlnum(r) {
			return fmt.Errorf("tool name %q: letters, digits, - and _ only", s)
		}
	}
	return nil
}
