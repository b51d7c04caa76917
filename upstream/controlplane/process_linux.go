package controlplane

import "syscall"

// childAttributes gives a child its own process group, and SIGKILL when the thread that starts it
// ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
