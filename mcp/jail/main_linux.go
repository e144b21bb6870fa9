package jail

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"
)

// The names under which the program starts itself.
const (
	keeperName = "glyphoxa-keeper"
	jailedName = "glyphoxa-jailed"
)

// Descriptors that a keeper and its child find open.
const (
	ordersFD = 3
	reportFD = 4
)

// Main takes over the process if it was started as a keeper or to become a
// server, and does not return then. Otherwise it does nothing.
func Main() {
	if len(os.Args) != 1 {
		return
	}
	switch os.Args[0] {
	case keeperName:
		os.Exit(keep())
	case jailedName:
		fmt.Fprintln(os.NewFile(reportFD, "report"), string(mustJSON(report{Error: become().Error()})))
		os.Exit(126)
	}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of our own plain types
	}
	return b
}

// keep is the keeper's life.
func keep() int {
	// A child with a parent-death signal dies with the thread that started it, so
	// this goroutine keeps its thread to the end.
	runtime.LockOSThread()
	out := os.NewFile(reportFD, "report")
	fail := func(err error) int {
		fmt.Fprintln(out, string(mustJSON(report{Error: err.Error()})))
		return 126
	}
	if err := prctl(prSetChildSubreaper, 1); err != nil {
		return fail(fmt.Errorf("become a subreaper: %w", err))
	}
	orderPipe := os.NewFile(ordersFD, "orders")
	r := bufio.NewReader(orderPipe)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return fail(fmt.Errorf("read orders: %w", err))
	}
	pid, err := startJailed(line)
	if err != nil {
		return fail(err)
	}
	out.Close()
	for fd := range 3 {
		_ = syscall.Close(fd) // they are the server's now; its end of file must be real
	}

	closed := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, r) // ends when our parent closes it, or is no more
		close(closed)
	}()
	exited := make(chan struct{})
	go func() {
		reap(pid)
		close(exited)
	}()
	select {
	case <-closed:
	case <-exited:
	}
	end(pid, exited)
	return 0
}

// startJailed starts the copy of this program that becomes the server: where it may
// not use the network, in a network of its own that leads nowhere, if the system
// lets us make one.
func startJailed(line []byte) (int, error) {
	var o orders
	if err := json.Unmarshal(line, &o); err != nil {
		return 0, fmt.Errorf("read orders: %w", err)
	}
	if o.Alone = !o.Network && !o.Open; o.Alone {
		if pid, err := startOne(o); err == nil {
			return pid, nil
		}
		o.Alone = false // many containers forbid it
	}
	return startOne(o)
}

// alone puts a process into a network namespace of its own, and into a user
// namespace, without which only root may do that. Its user stays the same.
func alone(s *syscall.SysProcAttr) {
	s.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
	s.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	s.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
}

func startOne(o orders) (int, error) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		return 0, err
	}
	sys := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if o.Alone {
		alone(sys)
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{jailedName}, &syscall.ProcAttr{
		Env:   []string{},
		Files: []uintptr{0, 1, 2, uintptr(p[0]), reportFD},
		Sys:   sys,
	})
	_ = syscall.Close(p[0])
	w := os.NewFile(uintptr(p[1]), "orders")
	defer w.Close()
	if err != nil {
		return 0, fmt.Errorf("start: %w", err)
	}
	if _, err := w.Write(append(mustJSON(o), '\n')); err != nil {
		return 0, fmt.Errorf("brief the child: %w", err)
	}
	return pid, nil
}

// reap waits for children, and returns once pid itself has ended. Until then it
// also takes in grandchildren that lost their parent.
func reap(pid int) {
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil || got == pid:
			return
		}
	}
}

// end gives the server time to go, and then ends all that is left.
func end(pid int, exited <-chan struct{}) {
	wait := func() bool {
		select {
		case <-exited:
			return true
		case <-time.After(patience):
			return false
		}
	}
	if !wait() {
		signalTree(os.Getpid(), syscall.SIGTERM)
		wait()
	}
	killTree(os.Getpid())
}
