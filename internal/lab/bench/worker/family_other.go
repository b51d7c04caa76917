//go:build !unix

package worker

import (
	"os"
	"os/exec"
)

// setGroup does nothing where processes have no groups: Ctrl-C reaches the workers, too.
func setGroup(*exec.Cmd) {}

// killGroup kills a process. Its children end with their input.
func killGroup(process *os.Process) error { return process.Kill() }
