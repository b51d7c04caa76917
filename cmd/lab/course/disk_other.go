//go:build !linux && !darwin && !freebsd && !windows

package course

import "errors"

// freeSpace is not known on this system.
func freeSpace(string) (float64, error) { return 0, errors.ErrUnsupported }
