//go:build !linux

package driver

import (
	"errors"
	"runtime"
)

// NewProcess fails: the driver reads /proc of Linux.
func NewProcess(string, []string) (Interface, error) {
	return nil, errors.New("the driver process works on Linux only, and this is " + runtime.GOOS)
}
