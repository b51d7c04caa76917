package driver

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stat has fields of /proc/PID/stat.
type stat struct {
	state   byte
	session int
	start   uint64 // in clock ticks since the boot
	cpu     time.Duration
	memory  int64
}

// ticksPerSecond is USER_HZ, which is 100 on every system that Go runs on.
const ticksPerSecond = 100

// readStat reads a process's stat. ok is false if there is no such process.
func readStat(pid int) (s stat, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name of the program is in brackets and may have anything in it; the fields behind it are
	// numbers.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if err != nil || len(fields) < 22 {
		return stat{}, false
	}
	number := func(i int) int64 {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	ticks := number(11) + number(12) + number(13) + number(14) // utime, stime, and those of children that have ended
	return stat{
		state:   fields[0][0],
		session: int(number(3)),
		start:   uint64(number(19)),
		cpu:     time.Duration(ticks) * time.Second / ticksPerSecond,
		memory:  number(21) * int64(os.Getpagesize()),
	}, true
}

// processes returns the PIDs of all processes.
func processes() map[int]bool {
	entries, _ := os.ReadDir("/proc")
	found := map[int]bool{}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			found[pid] = true
		}
	}
	return found
}

// members returns the processes of a server that have not ended: those in the session of its first
// process. After its end, its PID may belong to another process, and only those count that have
// the server's variable in their environment.
func (d *Process) members(r *record) map[int]stat {
	found := map[int]stat{}
	if r.PID == 0 || r.Boot != bootID() {
		return found
	}
	first, alive := readStat(r.PID)
	for pid := range processes() {
		s, ok := readStat(pid)
		if !ok || s.session != r.PID || s.state == 'Z' {
			continue
		}
		if alive && first.start == r.Start || tagged(pid, d.file(r.Request.Name)) {
			found[pid] = s
		}
	}
	return found
}

// used is what the processes of a server use together.
type used struct {
	cpu    time.Duration
	memory int64
}

func (d *Process) usage(r *record) (sum used) {
	for _, member := range d.members(r) {
		sum.cpu += member.cpu
		sum.memory += member.memory
	}
	return sum
}

// tagged reports whether a process was started for the server with this file.
func tagged(pid int, file string) bool {
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(strings.Split(string(environment), "\x00"), environmentKey+"="+file)
}

// bootID names the time since this machine was started.
var bootID = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
})

// totalMemory returns the memory of this machine in bytes, 0 if that is not known.
func totalMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	var kibibytes int64
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kibibytes); err != nil {
		return 0
	}
	return kibibytes << 10
}
