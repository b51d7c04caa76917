//go:build linux || darwin || freebsd

package course

import "syscall"

// freeSpace returns the bytes that this user may still write on a folder's disk.
func freeSpace(dir string) (bytes float64, err error) {
	var disk syscall.Statfs_t
	err = syscall.Statfs(dir, &disk)
	return float64(disk.Bavail) * float64(disk.Bsize), err
}
