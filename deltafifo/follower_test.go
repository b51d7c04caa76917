package deltafifo

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is asked in whatever order, a follower answers what the map would.
func TestFollowerAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.Map(rapid.IntRange(0, 30), strconv.Itoa)
		listed := rapid.SliceOf(key).Draw(t, "listed")
		f := New(Config[string]{KeyFunc: func(s string) (string, error) { return s, nil }})
		incoming, err := f.lineUp(listed)
		if err != nil {
			t.Fatal(err)
		}
		follower := follower[string]{line: incoming, order: incoming.order}
		// The list once more, as a store has it, with some others before, between and after.
		for _, known := range append(rapid.SliceOf(key).Draw(t, "others"), listed...) {
			if rapid.Bool().Draw(t, "another first") {
				other := key.Draw(t, "another")
				if got, want := follower.has(other), incoming.get(other) != nil; got != want {
					t.Fatalf("%s: %t", other, got)
				}
			}
			if got, want := follower.has(known), incoming.get(known) != nil; got != want {
				t.Fatalf("%s: %t", known, got)
			}
		}
	})
}
