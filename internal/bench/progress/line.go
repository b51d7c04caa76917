package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"orrery/internal/bench"
)

const (
	widest   = 100 // columns of a line; more would only make it harder to read
	wideBar  = 24
	smallBar = 10
	// settled is how long a phase must have gone on for a guess at when it ends.
	settled = time.Second
)

// Line draws a phase in less than width columns.
func Line(phase bench.Phase, now time.Time, width int, look Look) string {
	room := min(width-1, widest) // in the last column some terminals wrap
	name := span{strong, phase.Name}
	percent, known := percentOf(phase, now)
	counted, rate, left := countOf(phase, now), rateOf(phase, now), leftOf(phase, now)
	bars := []int{wideBar, smallBar}
	if !known {
		bars = []int{0}
	}
	for _, bar := range bars {
		head := append([]span{name}, barOf(phase, now, bar, look)...)
		// What matters least is left out first.
		for _, rest := range [][]string{{percent, counted, rate, left}, {percent, counted, rate}, {percent, counted}, {percent, rate}, {percent}} {
			if line := join(head, rest); columns(line) <= room {
				return encode(line, look)
			}
		}
	}
	if line := join([]span{name}, []string{percent}); columns(line) <= room {
		return encode(line, look)
	}
	return encode([]span{{strong, cut(phase.Name, room, look)}}, look)
}

// Summary tells about a phase that is over, without codes of a terminal.
func Summary(phase bench.Phase, now time.Time) string {
	elapsed := duration(phase.Elapsed(now))
	text := phase.Name + ": "
	if phase.Done == 0 && phase.Total == 0 {
		return text + elapsed
	}
	text += countOf(phase, now) + " in " + elapsed
	if phase.Total > 0 && phase.Done >= phase.Total {
		text = fmt.Sprintf("%s: %s in %s", phase.Name, amount(phase.Done, phase.Unit), elapsed)
	}
	if rate := rateOf(phase, now); rate != "" {
		text += ", " + rate
	}
	return text
}

func percentOf(phase bench.Phase, now time.Time) (text string, known bool) {
	part, known := phase.Part(now)
	if !known {
		return "", false
	}
	return fmt.Sprintf("%3d %%", int(part*100)), true // rounded down: 100 % is only what is over
}

func countOf(phase bench.Phase, now time.Time) string {
	switch {
	case phase.Total > 0:
		return grouped(phase.Done) + " of " + amount(phase.Total, phase.Unit)
	case phase.Done > 0:
		return amount(phase.Done, phase.Unit)
	case phase.Lasts > 0:
		return ""
	default:
		return duration(phase.Elapsed(now).Truncate(100 * time.Millisecond))
	}
}

func rateOf(phase bench.Phase, now time.Time) string {
	elapsed := phase.Elapsed(now)
	if phase.Done == 0 || elapsed <= 0 {
		return ""
	}
	return scaled(float64(phase.Done)/elapsed.Seconds()) + "/s"
}

// leftOf guesses when the phase ends: as fast as it went so far.
func leftOf(phase bench.Phase, now time.Time) string {
	part, known := phase.Part(now)
	elapsed := phase.Elapsed(now)
	if !known || part == 0 || part == 1 || elapsed < settled {
		return ""
	}
	left := time.Duration(float64(elapsed) * (1 - part) / part)
	return duration(max(left.Round(time.Second), time.Second)) + " left"
}

// barOf draws how much is over. Something that has begun is never drawn as nothing, and something that is missing never
// as everything.
func barOf(phase bench.Phase, now time.Time, width int, look Look) []span {
	part, known := phase.Part(now)
	if !known || width == 0 {
		return nil
	}
	full := int(part*float64(width) + 0.5)
	if part > 0 {
		full = max(full, 1)
	}
	if part < 1 {
		full = min(full, width-1)
	}
	over, ahead := "█", "░"
	if look.ASCII {
		over, ahead = "#", "."
	}
	return []span{{plain, "  "}, {cool, strings.Repeat(over, full)}, {faint, strings.Repeat(ahead, width-full)}}
}

func join(head []span, rest []string) []span {
	line := head[:len(head):len(head)]
	for _, text := range rest {
		if text != "" {
			line = append(line, span{plain, "  " + text})
		}
	}
	return line
}

func cut(text string, width int, look Look) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	more := "…"
	if look.ASCII {
		more = "~"
	}
	if width < 1 {
		return ""
	}
	return string([]rune(text)[:width-1]) + more
}
