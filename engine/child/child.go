// Package child runs the small programs that speak and listen for the table:
// espeak-ng, flite, pocketsphinx. They are kept in processes of their own because
// of their licences, and because they are C programs that read what strangers say.
//
// # Promises
//
//   - A program is started without a shell, with a fixed environment, in its own
//     process group; the whole group is killed when its time is over.
//   - At most as many run at once as [Find] was told; further ones wait.
//   - [Process.Kill] returns within 100 ms and leaves no process behind.
package child

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// killWait is how long a killed program may take to let go of its pipes.
const killWait = 100 * time.Millisecond

// A Program is an installed program. It is safe for concurrent use.
type Program struct {
	path string
	// slots holds one token per running process; starting one more waits.
	slots chan struct{}
}

// Find looks for a program on the PATH. At most atOnce of it run at a time. The
// error wraps [exec.ErrNotFound] where there is none.
func Find(name string, atOnce int) (*Program, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	return &Program{path: path, slots: make(chan struct{}, atOnce)}, nil
}

// A Process is one run of a program. Whoever starts it calls Wait or
// Kill, once.
type Process struct {
	// In is the program's standard input, Out its output.
	In  io.WriteCloser
	Out io.Reader

	cmd     *exec.Cmd
	ctx     context.Context
	cancel  context.CancelFunc
	errs    tail
	release func()
}

// Start runs the program for at most limit, waiting first for its turn. Its
// directory is the root, so that nothing depends on where glyphoxa was started.
func (p *Program) Start(ctx context.Context, limit time.Duration, args ...string) (*Process, error) {
	return p.StartWith(ctx, limit, nil, args...)
}

// StartWith is Start with open files, which the program finds at /dev/fd/3 and up.
func (p *Program) StartWith(ctx context.Context, limit time.Duration, files []*os.File, args ...string) (*Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	name := filepath.Base(p.path)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s took over %v", name, limit))
	r := &Process{ctx: ctx, cancel: cancel, release: func() { cancel(); <-p.slots }}
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir = "/"
	cmd.Env = environment()
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = killWait
	cmd.Stderr = &r.errs
	r.cmd = cmd
	in, err := cmd.StdinPipe()
	if err != nil {
		r.release()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.release()
		return nil, err
	}
	r.In, r.Out = in, out
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // before release ends ctx itself
		}
		r.release()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return r, nil
}

// Wait waits for the program to end by itself, after its output has been read. An
// error holds the last of what it said on its error output.
func (r *Process) Wait() error {
	defer r.release()
	err := r.cmd.Wait()
	if err == nil {
		return nil
	}
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	name := filepath.Base(r.cmd.Path)
	if said := strings.TrimSpace(string(r.errs.kept)); said != "" {
		return fmt.Errorf("%s: %w: %s", name, err, said)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Kill ends the program and waits until it is gone. It is for output that nobody
// wants any more; after it, Wait is not called.
func (r *Process) Kill() {
	r.cancel()
	// The program was told to die: how it did is of no interest.
	_ = r.Wait()
}

// environment is all that a child gets to know: where espeak-ng keeps its voices
// if that is unusual, and that text is UTF-8.
func environment() []string {
	env := []string{"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin"}
	if data := os.Getenv("ESPEAK_DATA_PATH"); data != "" {
		env = append(env, "ESPEAK_DATA_PATH="+data)
	}
	return env
}

// maxTail is how much of an error output is kept for the error message.
const maxTail = 500

// tail keeps the last bytes written to it.
type tail struct{ kept []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b[max(0, len(b)-maxTail):]...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}
