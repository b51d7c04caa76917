//go:build unix

package worker

import (
	"os"
	"os/exec"
	"syscall"
)

// setGroup gives a process a group of its own before it starts: Ctrl-C reaches the comparison only,
// which then stops its workers in order, and a worker can be killed with its children.
func setGroup(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process and its children.
func killGroup(process *os.Process) error { return syscall.Kill(-process.Pid, syscall.SIGKILL) }
