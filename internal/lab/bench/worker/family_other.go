//go:build !unix

package worker

import (
	"os"
	"os/exec"
)

// apart does nothing where processes have no groups: Ctrl-C reaches the workers, too.
func apart(*exec.Cmd) {}

// killFamily kills a process. What it has started ends with its input.
func killFamily(process *os.Process) error { return process.Kill() }
