package house_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// room is a line of rooms.txt: a part of the repository with the most lines that it may have.
type room struct {
	name             string
	prefixes         []string // of the paths of its files
	code, tests      int      // at most
	hasCode, hasTest int      // counted now
}

const roomsFile = "rooms.txt"

var update = flag.Bool("update", false, "write rooms.txt")

// A room may shrink, and whoever makes it smaller lowers its line: go test ./internal/house -run
// Rooms -update. One that grows needs a reason that a reviewer accepts.
func TestRoomsDoNotGrow(t *testing.T) {
	text, err := os.ReadFile(roomsFile)
	require.NoError(t, err)
	comment, rooms := parseRooms(t, string(text))
	for _, file := range filesEndingIn(t, ".go") {
		lines, err := countLines(file)
		require.NoError(t, err)
		found := false
		for i := range rooms {
			if rooms[i].has(file) {
				rooms[i].count(file, lines)
				found = true
				break
			}
		}
		assert.True(t, found, "%s is in no room of %s", file, roomsFile)
	}
	if *update {
		var b strings.Builder
		b.WriteString(comment)
		for _, r := range rooms {
			fmt.Fprintf(&b, "%-20s %6d %6d  %s\n", r.name, hundreds(r.hasCode), hundreds(r.hasTest),
				strings.Join(r.prefixes, " "))
		}
		require.NoError(t, os.WriteFile(roomsFile, []byte(b.String()), 0o644))
		return
	}
	for _, r := range rooms {
		assert.LessOrEqual(t, r.hasCode, r.code, "%s: more lines of code than %s allows", r.name, roomsFile)
		assert.LessOrEqual(t, r.hasTest, r.tests, "%s: more lines of tests than %s allows", r.name, roomsFile)
	}
}

// parseRooms returns the comment at the beginning of the file, and the rooms.
func parseRooms(t *testing.T, text string) (comment string, rooms []room) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			comment += line
			continue
		}
		words := strings.Fields(line)
		require.GreaterOrEqual(t, len(words), 4, line)
		code, err := strconv.Atoi(words[1])
		require.NoError(t, err, line)
		tests, err := strconv.Atoi(words[2])
		require.NoError(t, err, line)
		rooms = append(rooms, room{name: words[0], code: code, tests: tests, prefixes: words[3:]})
	}
	return comment, rooms
}

func (r *room) has(file string) bool {
	return slices.ContainsFunc(r.prefixes, func(prefix string) bool { return strings.HasPrefix(file, prefix) })
}

// count adds a file. The packages …test of contract suites are tests.
func (r *room) count(file string, lines int) {
	if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(filepath.Dir(file), "test") {
		r.hasTest += lines
	} else {
		r.hasCode += lines
	}
}

func hundreds(lines int) int { return (lines + 99) / 100 * 100 }
