package apiservertest

import (
	"fmt"
	"strconv"
	"strings"
)

// Script is a sequence of requests.
type Script struct {
	// Theme is the file name without ".txt".
	Theme string
	Cases []*Case
}

// marker starts the title of a case, in scripts and recordings.
const marker = "=== "

// ParseScript parses a script. Errors name the theme and the case.
func ParseScript(theme, text string) (*Script, error) {
	script := &Script{Theme: theme}
	sections, err := sectionsOf(text)
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", theme, err)
	}
	for _, section := range sections {
		c, err := parseCase(section)
		if err != nil {
			return nil, fmt.Errorf("script %s: case %q: %w", theme, section.title, err)
		}
		script.Cases = append(script.Cases, c)
	}
	return script, nil
}

// section is the text below a title.
type section struct {
	title string
	lines []string
}

// sectionsOf splits a script or recording at its titles, which must be unique. Lines that start
// with # are comments.
func sectionsOf(text string) (sections []section, err error) {
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		title, isTitle := strings.CutPrefix(line, marker)
		switch {
		case isTitle && seen[title]:
			return nil, fmt.Errorf("two cases are called %q", title)
		case isTitle:
			seen[title] = true
			sections = append(sections, section{title: title})
		case strings.HasPrefix(line, "#"):
		case len(sections) > 0:
			last := &sections[len(sections)-1]
			last.lines = append(last.lines, line)
		case line != "":
			return nil, fmt.Errorf("%q stands before the first title", line)
		}
	}
	return sections, nil
}

// Case is one request of a script.
type Case struct {
	Title  string
	Method string
	// Path is the path and query, with variables.
	Path    string
	Headers []Header
	// Body may contain variables. Empty means no body.
	Body string

	// Keep are the variables set from the answer.
	Keep []Keep
	// Until repeats the request until the answer meets it. Nil sends it once.
	Until *Until
	// Events is how many events of a stream are read; 0 means that the answer is not a stream.
	Events int
	// Anonymous sends the request without credentials.
	Anonymous bool
	// NoBody excludes the body of the answer from the comparison.
	NoBody bool
	// OwnMessage excludes the messages in a Status from the comparison with this project's server.
	OwnMessage bool
	// Gap is why this project's server deliberately differs; "" if it does not.
	Gap string
}

// Header is a header of a request or answer.
type Header struct{ Name, Value string }

// Keep sets a variable to the value at a path of the answer.
type Keep struct{ Variable, Path string }

// Until is the condition of a repeated request: a status, or the value at a path.
type Until struct {
	Status      int
	Path, Value string
}

func parseCase(s section) (*Case, error) {
	c := &Case{Title: s.title}
	if len(s.lines) == 0 {
		return nil, fmt.Errorf("has no request")
	}
	var ok bool
	if c.Method, c.Path, ok = strings.Cut(s.lines[0], " "); !ok || !strings.HasPrefix(c.Path, "/") {
		return nil, fmt.Errorf("%q is not a request", s.lines[0])
	}
	rest := s.lines[1:]
	for len(rest) > 0 && rest[0] != "" {
		if err := c.parseLine(rest[0]); err != nil {
			return nil, err
		}
		rest = rest[1:]
	}
	c.Body = strings.TrimSpace(strings.Join(rest, "\n"))
	return c, nil
}

// parseLine parses a line between the request and its body.
func (c *Case) parseLine(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	left, right, assigns := strings.Cut(rest, " = ")
	number, notNumber := strconv.Atoi(rest)
	switch {
	case word == "keep" && assigns:
		c.Keep = append(c.Keep, Keep{Variable: left, Path: right})
	case word == "until" && assigns:
		c.Until = &Until{Path: left, Value: right}
	case word == "until" && notNumber == nil:
		c.Until = &Until{Status: number}
	case word == "events" && notNumber == nil:
		c.Events = number
	case line == "as anonymous":
		c.Anonymous = true
	case line == "without body":
		c.NoBody = true
	case line == "own message":
		c.OwnMessage = true
	case word == "gap":
		c.Gap = rest
	default:
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			return fmt.Errorf("%q is neither a header nor keep, until, events, as, without, own, gap", line)
		}
		c.Headers = append(c.Headers, Header{Name: name, Value: value})
	}
	return nil
}
