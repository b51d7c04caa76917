//go:build unix

package worker

import (
	"os"
	"os/exec"
	"syscall"
)

// apart gives a process that is about to start a group of its own: Ctrl-C reaches whoever compares, which then stops its workers in order,
// and what a worker has started can be killed with it.
func apart(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killFamily kills a process and what it has started.
func killFamily(process *os.Process) error { return syscall.Kill(-process.Pid, syscall.SIGKILL) }
