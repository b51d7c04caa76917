package house_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// room is a part of the repository in rooms.txt.
type room struct {
	name         string
	paths        []string // prefixes of its files
	design, most size     // what it is designed for, and what it may have: with a reason more
	reason       string
	has          size // counted now
}

// size is a number of lines.
type size struct{ code, tests int }

const roomsFile = "rooms.txt"

var update = flag.Bool("update", false, "write into rooms.txt how many lines the rooms have")

// A room may shrink, and a change that makes it smaller lowers its line: go test ./internal/house
// -run Rooms -update. One that exceeds its design needs a reason that a reviewer accepts.
func TestRoomsDoNotGrow(t *testing.T) {
	text, err := os.ReadFile(roomsFile)
	require.NoError(t, err)
	head, house, rooms := parseRooms(t, string(text))
	total := countRooms(t, rooms)
	if *update {
		require.NoError(t, os.WriteFile(roomsFile, []byte(head+written(rooms)), 0o644))
		return
	}
	assert.LessOrEqual(t, total, house, "the whole house has more lines than %s allows", roomsFile)
	for _, r := range rooms {
		assert.LessOrEqual(t, r.has.code, r.most.code, "%s: more lines of code than %s allows", r.name, roomsFile)
		assert.LessOrEqual(t, r.has.tests, r.most.tests, "%s: more lines of tests than %s allows", r.name, roomsFile)
		assert.True(t, r.most == r.design || r.reason != "", "%s exceeds its design: say why", r.name)
	}
}

// countRooms counts the lines of every room, and returns their sum.
func countRooms(t *testing.T, rooms []room) (total int) {
	for _, file := range filesEndingIn(t, ".go") {
		lines := countLines(t, file)
		total += lines
		at := 0
		for at < len(rooms) && !rooms[at].holds(file) {
			at++
		}
		switch {
		case at == len(rooms):
			t.Errorf("%s is in no room of %s", file, roomsFile)
		case strings.HasSuffix(file, "_test.go") || isSuite(file):
			rooms[at].has.tests += lines
		default:
			rooms[at].has.code += lines
		}
	}
	return total
}

// isSuite reports whether a file belongs to a package of tests that others run, and is none of the
// package's own tests.
func isSuite(file string) bool {
	return strings.HasSuffix(path.Dir(file), "test") && !strings.HasSuffix(file, "_test.go")
}

func (r *room) holds(file string) bool {
	for _, prefix := range r.paths {
		if prefix == "*test/" && isSuite(file) || strings.HasPrefix(file, prefix) {
			return true
		}
	}
	return false
}

// roomForm matches a line of rooms.txt: the whole house, a room, or what the room above has.
var roomForm = regexp.MustCompile(`^(\w+|  has) +(\d+)(?: +(\d+)(?:  |: )(\S.*))?$`)

// parseRooms returns the lines before the rooms, the most lines of the house, and the rooms.
func parseRooms(t *testing.T, text string) (head string, house int, rooms []room) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			head += line
			continue
		}
		parts := roomForm.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		require.NotNil(t, parts, "%s: %q", roomsFile, line)
		var lines size
		lines.code, _ = strconv.Atoi(parts[2]) // roomForm has digits there
		lines.tests, _ = strconv.Atoi(parts[3])
		switch parts[1] {
		case "house":
			head, house = head+line, lines.code
		case "  has":
			last := &rooms[len(rooms)-1]
			last.most, last.reason = lines, parts[4]
		default:
			rooms = append(rooms, room{name: parts[1], paths: strings.Fields(parts[4]), design: lines, most: lines})
		}
	}
	return head, house, rooms
}

// written returns the lines of rooms.txt for what the rooms have now, rounded up to hundreds.
func written(rooms []room) string {
	var b strings.Builder
	for _, r := range rooms {
		fmt.Fprintf(&b, "%-10s %7d %6d  %s\n", r.name, r.design.code, r.design.tests, strings.Join(r.paths, " "))
		if r.has.code > r.design.code || r.has.tests > r.design.tests {
			hundreds := func(lines int) int { return (lines + 99) / 100 * 100 }
			fmt.Fprintf(&b, "  has %d %d: %s\n", hundreds(r.has.code), hundreds(r.has.tests), r.reason)
		}
	}
	return b.String()
}
