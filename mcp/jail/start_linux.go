package jail

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// orders is what the keeper is told, on one line of its control pipe. It then
// holds the other end of that pipe: when it closes, the server has to go.
type orders struct {
	Argv, Env   []string
	Exe, Dir    string
	Read, Write []string
	Network     bool
	Open        bool
	Alone       bool // set by the keeper: in a network of its own
	Limits      Limits
}

// report is what the keeper and its child answer, on one line each.
type report struct {
	Error       string `json:"error,omitempty"`
	Confinement string `json:"confinement,omitempty"`
	PID         int    `json:"pid,omitempty"`
}

// Start starts the server and returns once it runs, confined.
func Start(s Spec) (*Child, error) {
	o, err := prepare(s)
	if err != nil {
		return nil, err
	}
	pipes := make([]*os.File, 0, 10)
	defer func() {
		for _, f := range pipes {
			f.Close() // those that were handed on are nil by then
		}
	}()
	pair := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			pipes = append(pipes, r, w)
		}
		return r, w
	}
	inR, inW := pair()
	outR, outW := pair()
	errR, errW := pair()
	ctlR, ctlW := pair()
	repR, repW := pair()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe",
		Args: []string{keeperName},
		Env:  []string{},
		Dir:  "/",
		// A group of its own: an interrupt typed at the terminal is for us.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		Stdin:       inR, Stdout: outW, Stderr: errW,
		ExtraFiles: []*os.File{ctlR, repW},
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	for _, f := range []*os.File{inR, outW, errW, ctlR, repW} {
		f.Close()
	}
	pipes = nil

	k := &keeper{cmd: cmd, in: inW, ctl: ctlW, out: outR, gone: make(chan struct{})}
	k.tasks.Go(func() {
		k.err = cmd.Wait()
		close(k.gone)
	})
	k.tasks.Go(func() { drain(errR, s.Stderr) })
	rep, err := k.introduce(o, repR)
	if err != nil {
		_ = k.close()
		outR.Close()
		return nil, err
	}
	return &Child{In: inW, Out: outR, Confinement: rep.Confinement, PID: rep.PID, stop: sync.OnceValue(func() error {
		defer outR.Close()
		return k.close()
	})}, nil
}

// prepare checks the spec and finds the command.
func prepare(s Spec) (orders, error) {
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return orders{}, errors.New("no command")
	}
	for _, a := range append(append([]string{s.Dir}, s.Argv...), s.Env...) {
		if strings.ContainsRune(a, 0) {
			return orders{}, errors.New("a NUL byte in the command")
		}
	}
	dir, err := filepath.Abs(s.Dir)
	if err != nil || s.Dir == "" {
		return orders{}, fmt.Errorf("directory %q: %w", s.Dir, errors.Join(err, os.ErrInvalid))
	}
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		return orders{}, fmt.Errorf("directory %q: %w", s.Dir, errors.Join(err, os.ErrNotExist))
	}
	s.Dir = dir
	exe, err := lookPath(s)
	if err != nil {
		return orders{}, err
	}
	argv := slices.Clone(s.Argv)
	for i, a := range argv[1:] {
		argv[i+1] = fromHere(a)
	}
	return orders{
		Argv: argv, Env: baseEnv(s), Exe: exe, Dir: dir, Read: s.Read, Write: s.Write,
		Network: s.Network, Open: s.Open, Limits: s.Limits.filled(),
	}, nil
}

// fromHere makes a script's name absolute if it is relative to this program's
// directory, since the server runs in another one.
func fromHere(arg string) string {
	if strings.HasPrefix(arg, "-") || filepath.IsAbs(arg) || filepath.Ext(arg) == "" && !strings.Contains(arg, "/") {
		return arg
	}
	if fi, err := os.Stat(arg); err != nil || !fi.Mode().IsRegular() {
		return arg
	}
	abs, err := filepath.Abs(arg)
	if err != nil {
		return arg
	}
	return abs
}

// lookPath finds the command as a shell would, but never in the current directory.
func lookPath(s Spec) (string, error) {
	name := s.Argv[0]
	if strings.Contains(name, "/") {
		p, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		return p, executable(p)
	}
	path := s.Path
	if path == "" {
		path = os.Getenv("PATH")
	}
	for _, dir := range filepath.SplitList(path) {
		if p := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(p) == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s: %w: is it installed, and on the PATH?", name, exec.ErrNotFound)
}

func executable(p string) error {
	fi, err := os.Stat(p)
	switch {
	case err != nil:
		return err
	case fi.IsDir(), fi.Mode()&0o111 == 0:
		return fmt.Errorf("%s: %w", p, os.ErrPermission)
	}
	return nil
}

// A keeper is the parent's view of the process that watches over a server.
type keeper struct {
	cmd  *exec.Cmd
	in   *os.File
	out  *os.File
	ctl  *os.File // closing it is the order to end
	gone chan struct{}
	err  error // of Wait; to be read after gone is closed

	tasks sync.WaitGroup
}

// introduce gives the keeper its orders and waits for its report.
func (k *keeper) introduce(o orders, from *os.File) (report, error) {
	defer from.Close()
	b, err := json.Marshal(o)
	if err != nil {
		return report{}, err
	}
	if err := errors.Join(from.SetReadDeadline(time.Now().Add(startTime)), k.ctl.SetWriteDeadline(time.Now().Add(startTime))); err != nil {
		return report{}, err
	}
	if _, err := k.ctl.Write(append(b, '\n')); err != nil {
		return report{}, fmt.Errorf("brief the keeper: %w", err)
	}
	// The pipe ends when the server's own program starts. What is written last
	// counts: the report of success comes before the attempt.
	said, err := io.ReadAll(io.LimitReader(from, 64<<10))
	if err != nil {
		return report{}, fmt.Errorf("the server's keeper did not report: %w", err)
	}
	var r report
	for line := range bytes.Lines(said) {
		r = report{}
		if err := json.Unmarshal(line, &r); err != nil {
			return report{}, fmt.Errorf("the server's keeper reported %q: %w", line, err)
		}
	}
	switch {
	case r.Error != "":
		return report{}, errors.New(r.Error)
	case r.PID == 0:
		return report{}, errors.New("the server's keeper said nothing: main must call jail.Main first")
	}
	return r, nil
}

// close ends the keeper, which ends what is below it.
func (k *keeper) close() error {
	k.in.Close()
	k.ctl.Close()
	select {
	case <-k.gone:
	case <-time.After(lastWord):
		killTree(k.cmd.Process.Pid)
		if err := k.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("kill the server's keeper: %w", err)
		}
		<-k.gone
	}
	k.tasks.Wait()
	return nil
}

// drain reads the server's standard error to its end.
func drain(from *os.File, to io.Writer) {
	defer from.Close()
	if to == nil {
		to = io.Discard
	}
	if _, err := io.Copy(to, from); err != nil {
		_, _ = io.Copy(io.Discard, from) // a full pipe would stop the server
	}
}
