package compare

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed texts/*.md
var textFiles embed.FS

// groups lists the chapters of the page in order; each has a file in texts/.
var groups = []struct{ name, title string }{
	{"queue", "The work queue"},
	{"fifo", "DeltaFIFO"},
	{"store", "The indexer"},
	{"dispatch", "From the watch to the handlers"},
	{"sync", "The first sync"},
	{"deletion", "Deleting namespaces on a control plane"},
}

// chapter is the content of a file in texts/: an introduction, and how each scenario is measured. A
// section "missed" with the name of a measure explains a missed target, and appears on the page
// only while it is missed. A section "anew" states a former target and why it was changed; it
// always appears.
type chapter struct {
	intro string
	how   map[string]string // by scenario
	why   map[string]string // by measure
	anew  map[string]string // by measure
	order []string          // of the scenarios
}

// readChapter reads a file of texts/.
func readChapter(name string) (chapter, error) {
	text, err := textFiles.ReadFile("texts/" + name + ".md")
	if err != nil {
		return chapter{}, err
	}
	return parseChapter(string(text))
}

func parseChapter(text string) (chapter, error) {
	c := chapter{how: make(map[string]string), why: make(map[string]string), anew: make(map[string]string)}
	parts := strings.Split("\n"+text, "\n## ")
	c.intro = strings.TrimSpace(parts[0])
	for _, part := range parts[1:] {
		heading, body, _ := strings.Cut(part, "\n")
		into, key := c.how, strings.TrimSpace(heading)
		if measure, ok := strings.CutPrefix(key, "missed "); ok {
			into, key = c.why, measure
		} else if measure, ok := strings.CutPrefix(key, "anew "); ok {
			into, key = c.anew, measure
		} else {
			c.order = append(c.order, key)
		}
		if _, twice := into[key]; twice {
			return chapter{}, fmt.Errorf("two sections are called %q", heading)
		}
		if into[key] = strings.TrimSpace(body); into[key] == "" {
			return chapter{}, fmt.Errorf("the section %q is empty", heading)
		}
	}
	return c, nil
}
