package compare

import (
	"embed"
	"strings"
)

// designText is about the designs of the dispatcher, with a heading of its own.
//
//go:embed *_designs.md
var designText embed.FS

// Designs is the section about the designs of the dispatcher.
func (c pageChapter) Designs() (string, error) {
	text, err := designText.ReadFile("dispatch_designs.md")
	if err != nil {
		return "", err
	}
	parts := []string{
		strings.TrimSpace(string(text)),
		"![Designs of the dispatcher](benchmarks/designs.svg)",
		"| design | 1 handler | 16 handlers | allocations, 1 handler | 16 handlers |\n| --- | ---: | ---: | ---: | ---: |\n" +
			strings.Join(c.page.designRows(), "\n"),
	}
	return strings.Join(parts, "\n\n"), nil
}
