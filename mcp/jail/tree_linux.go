package jail

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// below returns the processes that descend from root, in no order, without those
// that have already ended.
func below(root int) []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	ended := map[int]bool{}
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + n + "/stat")
		if err != nil {
			continue
		}
		// pid (name) state ppid ...; the name may hold anything, so read from its
		// last bracket.
		f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(f) < 2 {
			continue
		}
		ppid, err := strconv.Atoi(string(f[1]))
		if err != nil {
			continue
		}
		children[ppid] = append(children[ppid], pid)
		ended[pid] = f[0][0] == 'Z'
	}
	var found []int
	for queue := children[root]; len(queue) > 0; queue = queue[1:] {
		if !ended[queue[0]] {
			found = append(found, queue[0])
		}
		queue = append(queue, children[queue[0]]...)
	}
	return found
}

func signalTree(root int, sig syscall.Signal) {
	for _, pid := range below(root) {
		_ = syscall.Kill(pid, sig)
	}
}

// killTree kills what descends from root, until there is nothing left: a process
// may have started another between looking and killing. All are stopped first, so
// that a fork bomb cannot outrun us. It gives up after a second.
func killTree(root int) {
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
		pids := below(root)
		if len(pids) == 0 {
			return
		}
		for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
			for _, pid := range pids {
				_ = syscall.Kill(pid, sig)
			}
		}
		time.Sleep(2 * time.Millisecond) // for the kernel to take them away
	}
}
