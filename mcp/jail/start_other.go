//go:build !linux

package jail

import (
	"errors"
	"os/exec"
	"sync"
	"time"
)

// Main does nothing here: only Linux needs a keeper.
func Main() {}

// Start starts the server with a clean environment. Nothing else confines it on
// this system, and [Child.Confinement] says so.
func Start(s Spec) (*Child, error) {
	if len(s.Argv) == 0 {
		return nil, errors.New("no command")
	}
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = baseEnv(s), s.Dir, s.Stderr
	cmd.WaitDelay = time.Second // a grandchild may hold its pipes open
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	gone := make(chan struct{})
	var tasks sync.WaitGroup
	tasks.Go(func() {
		cmd.Wait() // its exit status says nothing that its silence does not
		close(gone)
	})
	return &Child{
		In: in, Out: out, PID: cmd.Process.Pid,
		Confinement: "a clean environment only: this system offers no more",
		stop: sync.OnceValue(func() error {
			in.Close()
			select {
			case <-gone:
			case <-time.After(patience):
			}
			killGroup(cmd)
			<-gone
			tasks.Wait()
			return nil
		}),
	}, nil
}
