// Package jail starts a tool server as a child process that can do little, and
// ends it with everything it started.
//
// # How
//
// On Linux the program starts itself twice. The first copy, the keeper, is a
// subreaper: whatever the server starts, in whatever session or process group,
// stays below it. The second copy confines itself and then becomes the server:
// resource limits, no new privileges, and Landlock rules that leave it the
// system's programs and libraries to read, its own directory to write, and the
// network only if it is meant to have it: without it the server lives in a network
// namespace that leads nowhere or, where none can be made, Landlock forbids TCP. If
// any of that fails the server does not start; a kernel without Landlock counts as
// failure too, unless [Spec.Open] is set.
//
// When the child is closed, or this program dies in whatever way, the keeper gives
// the server two seconds after the end of its input, two more after SIGTERM, and
// then kills every process below itself until there is none.
//
// On other systems there is no keeper: a child gets a clean environment and, where
// the system has them, a process group, and [Child.Confinement] says so.
//
// # Use
//
// A program that calls [Start] must call [Main] before anything else in its main
// function (and in TestMain of its tests).
//
// # Limits
//
// Without namespaces, as in many containers, UDP is open before Landlock ABI 10; what
// holds a server is in [Child.Confinement]. Neither covers what other programs do on a
// server's behalf over sockets it can reach. It is a fence against careless and
// curious servers; against hostile ones use a machine of their own.
package jail

import (
	"errors"
	"io"
	"os"
	"time"
)

// A Spec says what to start and what it may do.
type Spec struct {
	// Argv is the command and its arguments, never given to a shell. Argv[0] is
	// looked up in Path. An argument that names a file here, such as
	// tools/weather.py, is made absolute, and the package that such a file belongs
	// to may be read.
	Argv []string
	// Env is the whole environment but for PATH, HOME, TMPDIR and LANG, which are
	// set where it does not: an entry is NAME=value.
	Env []string
	// Path is where commands are looked up; "" takes this program's PATH.
	Path string
	// Dir is the server's own directory: its working directory and HOME, and the
	// only place it may write to. It must exist.
	Dir string
	// Read and Write are further files and directories it may reach.
	Read, Write []string
	// Network allows TCP connections and, where the kernel can tell, UDP.
	Network bool
	// Open leaves files and network open. Everything else stays.
	Open bool
	// Limits bound what it may use.
	Limits Limits
	// Stderr receives what it says there; nil discards that. It is written from
	// one goroutine, which ends before Close returns.
	Stderr io.Writer
}

// Limits are resource limits of each process. Zero fields take the defaults.
type Limits struct {
	// CPU is processor time. An hour.
	CPU time.Duration
	// Memory is private writable memory in bytes. 4 GiB: V8 and browsers reserve
	// far more than they use.
	Memory uint64
	// Files is open files. 1,024; Node.js dies below 160.
	Files uint64
	// FileSize is the largest file it may write, in bytes. 1 GiB.
	FileSize uint64
}

func (l Limits) filled() Limits {
	if l.CPU <= 0 {
		l.CPU = time.Hour
	}
	if l.Memory == 0 {
		l.Memory = 4 << 30
	}
	if l.Files == 0 {
		l.Files = 1024
	}
	if l.FileSize == 0 {
		l.FileSize = 1 << 30
	}
	return l
}

// How long a server may take to go.
const (
	patience = 2 * time.Second // after the end of its input, and again after SIGTERM
	// lastWord is when Close stops waiting for the keeper itself.
	lastWord = 5500 * time.Millisecond
	// startTime is how long confining and starting may take.
	startTime = 10 * time.Second
)

// ErrUnconfined means that the server was not started because it could not be
// confined.
var ErrUnconfined = errors.New("could not be confined")

// A Child is a running server.
type Child struct {
	// In is its standard input, Out its standard output.
	In  io.WriteCloser
	Out io.ReadCloser
	// Confinement says in words what holds it.
	Confinement string
	// PID is the server's process, for logs.
	PID int

	stop func() error
}

// Close ends the server and everything it started, and returns within 6 seconds.
// Calling it again does nothing.
func (c *Child) Close() error { return c.stop() }

// baseEnv is the environment every server gets, with env's entries last.
func baseEnv(s Spec) []string {
	path := s.Path
	if path == "" {
		path = os.Getenv("PATH")
	}
	env := []string{"PATH=" + path, "HOME=" + s.Dir, "TMPDIR=" + s.Dir, "LANG=C.UTF-8"}
	return append(env, s.Env...)
}
