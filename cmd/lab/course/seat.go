package course

import (
	"os"
	"os/user"
	"runtime"
	"slices"
	"strings"

	"orrery/internal/lab/course/texts"
)

// seat is what a teacher wants to know of a machine in the room.
type seat struct {
	Name   string `json:"name"`
	System string `json:"system"`
	Go     string `json:"go"`
	Race   bool   `json:"race"`
	// Warm reports that what the labs need was built.
	Warm bool `json:"warm"`
	// Disk is the free space in bytes, or 0 if it is not known.
	Disk float64 `json:"disk"`
	// Bad are the checks that failed.
	Bad []string `json:"bad"`
}

// newSeat returns the seat for what the doctor found.
func newSeat(s *session, found []ailment) seat {
	passed := func(check string) bool {
		return slices.ContainsFunc(found, func(a ailment) bool { return a.Check == check && a.OK })
	}
	t := seat{
		Name: name(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: "-",
		Race: passed("race detector"), Warm: passed("build"), Bad: append([]string{}, serious(found)...),
	}
	for _, a := range found {
		if a.Check == "go" && a.OK {
			t.Go = a.Says
		}
	}
	if free, err := freeSpace(s.folder.Repository); err == nil {
		t.Disk = free
	}
	return t
}

// name returns the user and the machine.
func name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "-"
	}
	if current, err := user.Current(); err == nil {
		return current.Username + "@" + host
	}
	return host
}

// line returns the seat as one line.
func (t seat) line(lang texts.Lang) string {
	word := func(yes bool) string {
		if yes {
			return lang.Say("yes")
		}
		return lang.Say("no")
	}
	state := lang.Say("room-ready")
	if len(t.Bad) > 0 {
		state = lang.Say("room-not-ready", strings.Join(t.Bad, ", "))
	}
	return lang.Say("room", t.Name, t.System, t.Go, word(t.Race), word(t.Warm), t.Disk/gigabyte, state)
}
