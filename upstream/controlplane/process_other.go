//go:build unix && !linux

package controlplane

import "syscall"

// childAttributes gives a child its own process group. Only Linux can tie its life to its parent's.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
