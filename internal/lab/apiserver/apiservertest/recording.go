package apiservertest

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"path"
	"strconv"
	"strings"
)

//go:embed testdata
var testdata embed.FS

// recordingSuffix is the suffix of the recording of theme.txt.
const recordingSuffix = ".recorded"

// Recording has kube-apiserver's answers to the requests of a script, by title.
type Recording struct {
	Answers map[string]*Answer
}

// Scripts returns all scripts, ordered by theme.
func Scripts() ([]*Script, error) {
	names, err := fs.Glob(testdata, "testdata/*.txt")
	if err != nil {
		return nil, err
	}
	var scripts []*Script
	for _, name := range names {
		text, err := testdata.ReadFile(name)
		if err != nil {
			return nil, err
		}
		script, err := ParseScript(strings.TrimSuffix(path.Base(name), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, script)
	}
	return scripts, nil
}

func RecordingOf(script *Script) (*Recording, error) {
	text, err := testdata.ReadFile("testdata/" + RecordingFile(script))
	if err != nil {
		return nil, err
	}
	return ParseRecording(script, string(text))
}

// RecordingFile returns the name of a script's recording.
func RecordingFile(script *Script) string { return script.Theme + recordingSuffix }

// FormatRecording formats the answers in the order of the cases.
func FormatRecording(script *Script, answers []*Answer) string {
	var text strings.Builder
	fmt.Fprintf(&text, "# What kube-apiserver answers to %s.txt. Made by \"make -C upstream record\"; do not edit.\n",
		script.Theme)
	for i, answer := range answers {
		fmt.Fprintf(&text, "\n%s%s\n%s", marker, script.Cases[i].Title, answer)
	}
	return text.String()
}

// ParseRecording parses the output of [FormatRecording]. Cases and answers must correspond.
func ParseRecording(script *Script, text string) (*Recording, error) {
	sections, err := sectionsOf(text)
	if err != nil {
		return nil, fmt.Errorf("recording of %s: %w", script.Theme, err)
	}
	recording := &Recording{Answers: map[string]*Answer{}}
	for _, section := range sections {
		answer, err := parseAnswer(section.lines)
		if err != nil {
			return nil, fmt.Errorf("recording of %s: %q: %w", script.Theme, section.title, err)
		}
		recording.Answers[section.title] = answer
	}
	for _, c := range script.Cases {
		if recording.Answers[c.Title] == nil {
			return nil, fmt.Errorf("recording of %s: %q was not recorded; run make -C upstream record", script.Theme,
				c.Title)
		}
	}
	if len(recording.Answers) != len(script.Cases) {
		return nil, fmt.Errorf("recording of %s: has %d answers for %d cases; run make -C upstream record",
			script.Theme, len(recording.Answers), len(script.Cases))
	}
	return recording, nil
}

// Answer is a masked answer of a server.
type Answer struct {
	Status  int
	Headers []Header
	// Documents are the JSON values in the body: one, or the events of a stream. If empty, the body
	// is Text.
	Documents []any
	Text      string
}

// headersThatMatter are compared, in this order.
var headersThatMatter = []string{"Content-Type", "Warning", "Retry-After", "Allow", "Location", "Www-Authenticate"}

// String formats the answer as in recordings.
func (a *Answer) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "HTTP %d\n", a.Status)
	for _, header := range a.Headers {
		fmt.Fprintf(&text, "%s: %s\n", header.Name, header.Value)
	}
	if len(a.Documents) == 0 && a.Text == "" {
		return text.String()
	}
	text.WriteString("\n")
	for _, document := range a.Documents {
		text.Write(indent(document))
	}
	if a.Text != "" {
		text.WriteString(strings.TrimRight(a.Text, "\n") + "\n")
	}
	return text.String()
}

// indent formats a JSON value: members sorted, no HTML escapes.
func indent(value any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err) // it was decoded from JSON
	}
	return buffer.Bytes()
}

// header returns the first value of a header.
func (a *Answer) header(name string) string {
	for _, header := range a.Headers {
		if header.Name == name {
			return header.Value
		}
	}
	return ""
}

// isJSON reports whether a media type is JSON, possibly a stream of it.
func isJSON(contentType string) bool {
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && mediaType == "application/json"
}

// parseAnswer parses an answer in a recording.
func parseAnswer(lines []string) (*Answer, error) {
	if len(lines) == 0 {
		return nil, fmt.Errorf("is empty")
	}
	status, ok := strings.CutPrefix(lines[0], "HTTP ")
	number, err := strconv.Atoi(status)
	if !ok || err != nil {
		return nil, fmt.Errorf("%q is not a status", lines[0])
	}
	a := &Answer{Status: number}
	rest := lines[1:]
	for len(rest) > 0 && rest[0] != "" {
		name, value, ok := strings.Cut(rest[0], ": ")
		if !ok {
			return nil, fmt.Errorf("%q is no header", rest[0])
		}
		a.Headers = append(a.Headers, Header{Name: name, Value: value})
		rest = rest[1:]
	}
	body := strings.TrimSpace(strings.Join(rest, "\n"))
	if body != "" && isJSON(a.header("Content-Type")) {
		a.Documents, err = documentsOf(strings.NewReader(body), 0)
		return a, err
	}
	a.Text = body
	return a, nil
}

// documentsOf decodes up to most consecutive JSON values; 0 means all. Numbers are preserved.
func documentsOf(body io.Reader, most int) ([]any, error) {
	decoder := json.NewDecoder(body)
	decoder.UseNumber()
	var documents []any
	for most == 0 || len(documents) < most {
		var document any
		err := decoder.Decode(&document)
		if err == io.EOF {
			return documents, nil
		}
		if err != nil {
			return documents, fmt.Errorf("document %d: %w", len(documents)+1, err)
		}
		documents = append(documents, document)
	}
	return documents, nil
}
