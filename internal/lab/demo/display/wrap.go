package display

import "strings"

// wrap breaks a text at spaces into lines of at most width columns; a word that is longer is broken where it must be.
func wrap(text string, width int) []string {
	width = max(1, width)
	var lines []string
	line := []rune{}
	for _, word := range strings.Fields(text) {
		letters := []rune(word)
		if len(line) > 0 && len(line)+1+len(letters) <= width {
			line = append(append(line, ' '), letters...)
			continue
		}
		if len(line) > 0 {
			lines = append(lines, string(line))
		}
		for len(letters) > width {
			lines = append(lines, string(letters[:width]))
			letters = letters[width:]
		}
		line = letters
	}
	if len(line) > 0 {
		lines = append(lines, string(line))
	}
	return lines
}
