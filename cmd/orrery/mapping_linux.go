package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// mapping is a piece of this process's memory that shows a file as it is, the program's own above all.
//
// By the time that a program has started and worked the kernel has nearly all of it in the process's memory: with each
// page that is used come the fifteen around it. A controller at rest needs a small part. The rest can be let go, which is
// a matter of page tables: the pages stay in the cache of the file system for as long as nobody else needs the room,
// and come back when they are used, which costs a burst of deletions less than a millisecond.
type mapping struct{ start, size uintptr }

// unchangedMappings are those that can be let go without losing anything: nothing may write to them and nothing has. A
// loader that relocates, or a debugger that sets a breakpoint, leaves pages that are in no file, in memory or swapped out.
// Without /proc there are none.
func unchangedMappings() []mapping {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return nil
	}
	return parseSmaps(string(smaps))
}

func parseSmaps(smaps string) []mapping {
	var unchanged []mapping
	var current mapping
	missing := 0 // how many lines must still say that all pages of current are those of the file
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case !strings.HasSuffix(fields[0], ":"):
			current, missing = parseMapping(fields), 2
		case (fields[0] == "Anonymous:" || fields[0] == "Swap:") && fields[1] == "0":
			if missing--; missing == 0 && current.size > 0 {
				unchanged = append(unchanged, current)
			}
		}
	}
	return unchanged
}

// parseMapping reads the line that a mapping begins with: addresses, rights, offset, device, inode, path. It is the zero
// value if there is no file or if it may be written to.
func parseMapping(fields []string) mapping {
	if len(fields) < 6 || fields[4] == "0" || (fields[1] != "r--p" && fields[1] != "r-xp") {
		return mapping{}
	}
	from, to, _ := strings.Cut(fields[0], "-")
	start, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return mapping{}
	}
	end, err := strconv.ParseUint(to, 16, 64)
	if err != nil || end < start {
		return mapping{}
	}
	return mapping{start: uintptr(start), size: uintptr(end - start)}
}

// letGo takes the pages of mappings out of this process's memory. A kernel that does not want to need not.
func letGo(mappings []mapping) {
	for _, m := range mappings {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.start, m.size, syscall.MADV_DONTNEED)
	}
}
