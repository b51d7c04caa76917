package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"orrery/internal/lab/bench"
)

const (
	widest    = 100 // columns of a line; more would only make it harder to read
	wideBar   = 24  // of those
	smallBar  = 10
	smallRoom = 70 // columns that a line with a small bar takes, about
	// settled is how long a phase must have gone on for a guess at when it ends.
	settled = time.Second
)

// Line draws a phase in less than width columns.
func Line(phase bench.Phase, now time.Time, width int, look Look) string {
	room := min(width-1, widest) // in the last column some terminals wrap
	name := span{strong, phase.Name}
	percent := percentOf(phase, now)
	counted, rate, left := countOf(phase, now), rateOf(phase, now), leftOf(phase, now)
	// The width of the bar depends on the terminal only, so that it does not jump when a number gets a digit more.
	bar := barOf(phase, now, min(max(smallBar+(room-smallRoom)/2, smallBar), wideBar), look)
	// What matters least is left out first.
	for _, try := range []struct {
		bar  []span
		rest []string
	}{
		{bar, []string{percent, counted, rate, left}},
		{bar, []string{percent, counted, rate}},
		{bar, []string{percent, rate}},
		{bar, []string{percent}},
		{nil, []string{percent}},
	} {
		if line := join(name, try.bar, try.rest); columns(line) <= room {
			return encode(line, look)
		}
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
	if phase.Done >= phase.Total {
		text += amount(phase.Done, phase.Unit)
	} else {
		text += countOf(phase, now) // it was interrupted
	}
	text += " in " + elapsed
	if rate := rateOf(phase, now); rate != "" {
		text += ", " + rate
	}
	return text
}

func percentOf(phase bench.Phase, now time.Time) string {
	part, known := phase.Part(now)
	if !known {
		return ""
	}
	return fmt.Sprintf("%3d %%", int(part*100)) // rounded down: 100 % is only what is over
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
	if left < time.Minute {
		return fmt.Sprintf("%d s left", max(int(left.Seconds()+0.5), 1))
	}
	return fmt.Sprintf("%d min left", int(left.Minutes()+0.5))
}

// barOf draws how much is over. Something that has begun is never drawn as nothing, and something that is missing never
// as everything.
func barOf(phase bench.Phase, now time.Time, width int, look Look) []span {
	part, known := phase.Part(now)
	if !known {
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

func join(name span, bar []span, rest []string) []span {
	line := append([]span{name}, bar...)
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
