package steps

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// memoryLimit is how much memory a step may use: a loop that appends without end would otherwise
// stop the learner's machine before the time limit.
const memoryLimit = 3 << 30

// watchMemory calls kill when the process uses more memory than the limit, and reports that. It
// returns when ctx ends. Systems without /proc are not watched.
func watchMemory(ctx context.Context, pid int, limit uint64, kill func()) (exceeded bool) {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
		if resident(pid) > limit {
			kill()
			return true
		}
	}
}

// resident returns the bytes of memory that a process uses, 0 if that is unknown.
func resident(pid int) uint64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}
