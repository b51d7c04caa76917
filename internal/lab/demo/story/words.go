package story

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"orrery/internal/observe/trace"
	"orrery/internal/words"
)

var (
	place  = regexp.MustCompile(`\{(\w+)\}`)
	plural = regexp.MustCompile(`(\d+) (\w+)\[s\]`)
)

// filled returns the text of a sentence about an event. more has further fields.
func filled(text string, e *trace.Event, more map[string]any) string {
	fields := map[string]any{}
	line, _ := json.Marshal(e)
	_ = json.Unmarshal(line, &fields)
	text = place.ReplaceAllStringFunc(text, func(name string) string {
		name = name[1 : len(name)-1]
		value, ok := more[name]
		switch {
		case ok && (name != "type" || e.Type == ""):
			return fmt.Sprint(value)
		case name == "us":
			return Short(time.Duration(e.Micros) * time.Microsecond)
		case name == "d":
			return Deltas(e.Deltas)
		case name == "err" && strings.HasPrefix(e.Err, "EOF"):
			return "the connection was closed"
		case fields[name] == nil:
			return "0"
		}
		return fmt.Sprint(fields[name])
	})
	return plural.ReplaceAllStringFunc(text, func(found string) string {
		text, noun, _ := strings.Cut(strings.TrimSuffix(found, "[s]"), " ")
		number, _ := strconv.Atoi(text)
		return words.Count(number, noun)
	})
}

// deltas are the names of the letters of deltas.
var deltas = map[rune]string{
	'A': "Added", 'U': "Updated", 'D': "Deleted", 'R': "Replaced", 'S': "Sync", '†': "Deleted (tombstone)",
}

// Deltas returns the names of deltas.
func Deltas(letters string) string {
	var all []string
	for _, letter := range letters {
		all = append(all, deltas[letter])
	}
	return strings.Join(all, ", ")
}

// Short formats d with two or three significant digits.
func Short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	default:
		return d.Round(100 * time.Microsecond).String()
	}
}
