package compare

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed texts/*.md
var textFiles embed.FS

// groups are the chapters of the page, in their order; each is a file in texts/.
var groups = []struct{ name, title string }{
	{"queue", "The work queue"},
	{"fifo", "DeltaFIFO"},
	{"store", "The indexer"},
	{"dispatch", "From the watch to the handlers"},
	{"sync", "The first sync"},
	{"deletion", "Deleting namespaces on a control plane"},
}

// chapter is what a file in texts/ says: an introduction, and for each scenario how it was measured. A section whose heading is
// "missed" and the name of a measure says why that target is missed; the page has it only while it is. One that begins with "anew"
// says what the target was before it was changed, and why it was; the page always has it.
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
