package apiservertest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// answerTime bounds a request; it is far more than any answer takes.
	answerTime = 30 * time.Second
	// A request with "until" is repeated every repeatEvery for at most repeatFor.
	repeatEvery = 50 * time.Millisecond
	repeatFor   = 30 * time.Second
)

// Player plays one script against a server. It must be used by one goroutine.
type Player struct {
	target    Target
	variables map[string]kept
}

// NewPlayer returns a player without variables.
func NewPlayer(target Target) *Player {
	return &Player{target: target, variables: map[string]kept{}}
}

// Play sends the request of a case, repeats it as the case demands, sets the variables, and returns
// the masked answer. An error means that there was no answer, or not the expected one.
func (p *Player) Play(ctx context.Context, c *Case) (*Answer, error) {
	answer, err := p.await(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, keep := range c.Keep {
		value, ok := lookup(answer, keep.Path)
		if !ok {
			return nil, fmt.Errorf("the answer has no %s to keep as %s:\n%s", keep.Path, keep.Variable, answer)
		}
		_, named := lookup(answer, "metadata.name")
		p.variables[keep.Variable] = kept{value, !named}
	}
	mask(answer, p.variables)
	if c.NoBody {
		answer.Documents, answer.Text = nil, ""
	}
	return answer, nil
}

// await repeats the request until the answer meets the case's condition.
func (p *Player) await(ctx context.Context, c *Case) (*Answer, error) {
	if c.Until == nil {
		return p.send(ctx, c)
	}
	ctx, cancel := context.WithTimeout(ctx, repeatFor)
	defer cancel()
	ticker := time.NewTicker(repeatEvery)
	defer ticker.Stop()
	for {
		answer, err := p.send(ctx, c)
		if err != nil {
			return nil, err
		}
		if c.Until.met(answer) {
			return answer, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("timed out waiting for %+v; the last answer was\n%s", *c.Until, answer)
		}
	}
}

func (u *Until) met(answer *Answer) bool {
	if u.Path == "" {
		return answer.Status == u.Status
	}
	value, _ := lookup(answer, u.Path)
	return value == u.Value
}

// send sends the request once and reads the answer.
func (p *Player) send(ctx context.Context, c *Case) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel() // also ends a stream after enough events
	request, err := p.request(ctx, c)
	if err != nil {
		return nil, err
	}
	transport := p.target.Transport
	if c.Anonymous {
		transport = p.target.Anonymous
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()

	answer := &Answer{Status: response.StatusCode}
	for _, name := range headersThatMatter {
		for _, value := range response.Header.Values(name) {
			answer.Headers = append(answer.Headers, Header{Name: name, Value: value})
		}
	}
	if isJSON(response.Header.Get("Content-Type")) {
		answer.Documents, err = documentsOf(response.Body, c.Events)
	} else {
		var text []byte
		text, err = io.ReadAll(response.Body)
		answer.Text = string(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer (status %d): %w", answer.Status, err)
	}
	return answer, nil
}

func (p *Player) request(ctx context.Context, c *Case) (*http.Request, error) {
	path, err := p.fill(c.Path)
	if err != nil {
		return nil, err
	}
	text, err := p.fill(c.Body)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if text != "" {
		body = strings.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, c.Method, p.target.URL+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "orrery-apiservertest")
	if text != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, header := range c.Headers {
		value, err := p.fill(header.Value)
		if err != nil {
			return nil, err
		}
		request.Header.Set(header.Name, value)
	}
	return request, nil
}

var variable = regexp.MustCompile(`\$\{([a-zA-Z0-9:]+)\}`)

// fill replaces the variables in a text.
func (p *Player) fill(text string) (string, error) {
	var missing error
	filled := variable.ReplaceAllStringFunc(text, func(use string) string {
		name := use[2 : len(use)-1]
		if length, ok := strings.CutPrefix(name, "pad:"); ok {
			n, err := strconv.Atoi(length)
			if err != nil {
				missing = fmt.Errorf("%s: %w", use, err)
				return use
			}
			return strings.Repeat("x", n)
		}
		value, ok := p.variables[name]
		if !ok {
			missing = fmt.Errorf("no answer before has set %s", use)
		}
		return value.text
	})
	return filled, missing
}

// lookup returns the value at a path of an answer, such as items.0.metadata.name. For a stream the
// path starts with the number of the event.
func lookup(answer *Answer, path string) (string, bool) {
	var value any = answer.Documents
	if len(answer.Documents) == 1 {
		value = answer.Documents[0]
	}
	for step := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[step]
			if !ok {
				return "", false
			}
			value = member
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return "", false
			}
			value = v[i]
		default:
			return "", false
		}
	}
	return fmt.Sprint(value), true
}

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
