package house_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// room is a part of the repository in rooms.txt.
type room struct {
	name   string
	paths  []string // prefixes of its files
	design size     // what it is designed for
	most   size     // what it may have: the design, or more with a reason
	reason string
	has    size // counted now
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
	comment, house, rooms := parseRooms(t, string(text))
	total := countRooms(t, rooms)
	if *update {
		require.NoError(t, os.WriteFile(roomsFile, []byte(comment+written(house, rooms)), 0o644))
		return
	}
	assert.LessOrEqual(t, total, house, "the whole house has more lines than %s allows", roomsFile)
	for _, r := range rooms {
		assert.LessOrEqual(t, r.has.code, r.most.code, "%s: more lines of code than %s allows", r.name, roomsFile)
		assert.LessOrEqual(t, r.has.tests, r.most.tests, "%s: more lines of tests than %s allows", r.name, roomsFile)
		if r.most != r.design {
			assert.NotEmpty(t, r.reason, "%s exceeds its design: %s has to say why", r.name, roomsFile)
		}
	}
}

// countRooms counts the lines of every room, and returns their sum.
func countRooms(t *testing.T, rooms []room) (total int) {
	for _, file := range filesEndingIn(t, ".go") {
		lines, err := countLines(file)
		require.NoError(t, err)
		total += lines
		found := false
		for i := range rooms {
			if r := &rooms[i]; r.holds(file) {
				if strings.HasSuffix(file, "_test.go") || isSuite(file) {
					r.has.tests += lines
				} else {
					r.has.code += lines
				}
				found = true
				break
			}
		}
		assert.True(t, found, "%s is in no room of %s", file, roomsFile)
	}
	return total
}

// isSuite reports whether a file belongs to a package of tests that others run, and is none of the
// package's own tests.
func isSuite(file string) bool {
	return strings.HasSuffix(path.Dir(filepath.ToSlash(file)), "test") && !strings.HasSuffix(file, "_test.go")
}

func (r *room) holds(file string) bool {
	for _, prefix := range r.paths {
		if prefix == "*test/" && isSuite(file) || strings.HasPrefix(file, prefix) {
			return true
		}
	}
	return false
}

var (
	houseForm = regexp.MustCompile(`^house +(\d+)$`)
	roomForm  = regexp.MustCompile(`^(\w+) +(\d+) +(\d+)  (\S.*)$`)
	moreForm  = regexp.MustCompile(`^  has (\d+) (\d+): ?(.*)$`)
)

// parseRooms returns the comment at the beginning of the file, the most lines of the house, and the
// rooms.
func parseRooms(t *testing.T, text string) (comment string, house int, rooms []room) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch parts := roomForm.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "#"):
			comment += line + "\n"
		case houseForm.MatchString(line):
			house = number(t, houseForm.FindStringSubmatch(line)[1])
		case parts != nil:
			design := size{number(t, parts[2]), number(t, parts[3])}
			rooms = append(rooms, room{name: parts[1], paths: strings.Fields(parts[4]), design: design, most: design})
		default:
			more := moreForm.FindStringSubmatch(line)
			require.NotNil(t, more, "%s: %q", roomsFile, line)
			last := &rooms[len(rooms)-1]
			last.most, last.reason = size{number(t, more[1]), number(t, more[2])}, more[3]
		}
	}
	return comment, house, rooms
}

func number(t *testing.T, text string) (n int) {
	_, err := fmt.Sscan(text, &n)
	require.NoError(t, err)
	return n
}

// written returns the lines of rooms.txt for what the rooms have now, rounded up to hundreds.
func written(house int, rooms []room) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %7d\n", "house", house)
	for _, r := range rooms {
		fmt.Fprintf(&b, "%-10s %7d %6d  %s\n", r.name, r.design.code, r.design.tests, strings.Join(r.paths, " "))
		if r.has.code > r.design.code || r.has.tests > r.design.tests {
			fmt.Fprintf(&b, "  has %d %d: %s\n", hundreds(r.has.code), hundreds(r.has.tests), r.reason)
		}
	}
	return b.String()
}

func hundreds(lines int) int { return (lines + 99) / 100 * 100 }
