// Package words writes numbers, durations and paragraphs for people, and makes the text of a
// cluster safe for their terminals.
package words

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Count writes a number of things: "1 object", "4 passes". The noun is in the singular and has a
// regular plural.
func Count[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	for _, hiss := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, hiss) {
			return fmt.Sprintf("%d %ses", n, noun)
		}
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Duration writes a duration in at most two units, the larger ones: "45s", "4m3s", "14m", "2h5m",
// "3d4h". A negative one is "0s".
func Duration(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	const day = 24 * time.Hour
	if 10*time.Minute <= d && d < time.Hour {
		d = d.Truncate(time.Minute)
	}
	for _, unit := range []struct {
		size, smaller time.Duration
		name, rest    string
	}{{day, time.Hour, "d", "h"}, {time.Hour, time.Minute, "h", "m"}, {time.Minute, time.Second, "m", "s"}} {
		if d < unit.size {
			continue
		}
		text := fmt.Sprint(int64(d/unit.size), unit.name)
		if rest := d % unit.size / unit.smaller; rest > 0 {
			text += fmt.Sprint(int64(rest), unit.rest)
		}
		return text
	}
	return fmt.Sprint(int64(d/time.Second), "s")
}

// Wrap breaks a text at its spaces into lines of at most width characters, unless a word is longer.
// There is at least one line.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
