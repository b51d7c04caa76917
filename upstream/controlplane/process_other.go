//go:build unix && !linux

package controlplane

import "syscall"

// childAttributes puts a child into its own process group. Only Linux can tie its life to that of its parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
