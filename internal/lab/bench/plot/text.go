package plot

import (
	"strings"
	"unicode/utf8"
)

// The sizes of text, in pixels.
const (
	titleSize   = 18
	captionSize = 13
	labelSize   = 13
	tickSize    = 12
)

// lineHeight is how far apart the lines of a text are, in multiples of its size.
const lineHeight = 1.35

// textWidth estimates how wide a text is in whatever font the reader has: the widths are those of DejaVu Sans and Verdana,
// the widest that browsers choose for "sans-serif".
func textWidth(text string, size float64, bold bool) float64 {
	var width float64
	for _, r := range text {
		width += runeWidth(r)
	}
	if bold {
		width *= 1.12
	}
	return width * size
}

// runeWidth is in multiples of the font size.
func runeWidth(r rune) float64 {
	switch {
	case strings.ContainsRune("ijl'|I.,:; ", r):
		return 0.36
	case strings.ContainsRune("frt()[]-/!\"", r):
		return 0.44
	case strings.ContainsRune("mMwW%@", r):
		return 0.98
	case strings.ContainsRune("+=<>~^×–", r):
		return 0.84
	case r >= '0' && r <= '9', r >= 'a' && r <= 'z':
		return 0.64
	case r >= 'A' && r <= 'Z':
		return 0.74
	case r < utf8.RuneSelf:
		return 0.6
	case r < 0x1100:
		return 0.8
	}
	return 1.05 // ideographs
}

// wrap breaks a text into lines that are no wider than width, unless a word is.
func wrap(text string, size, width float64, bold bool) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		longer := strings.TrimPrefix(line+" "+word, " ")
		if line != "" && textWidth(longer, size, bold) > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// widest is the width of the widest of some texts.
func widest(texts []string, size float64) float64 {
	var width float64
	for _, text := range texts {
		width = max(width, textWidth(text, size, false))
	}
	return width
}
