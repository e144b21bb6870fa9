//go:build unix && !linux

package jail

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the server into a process group that can be ended as one.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
