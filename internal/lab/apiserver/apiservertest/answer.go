package apiservertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"
)

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
