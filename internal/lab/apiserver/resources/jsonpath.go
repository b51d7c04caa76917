package resources

import (
	"errors"
	"regexp"
	"strings"

	"github.com/theory/jsonpath"
)

// jsonPath is the path of a column, such as .status.conditions[?(@.type=="Ready")].status.
type jsonPath struct{ path *jsonpath.Path }

// find returns the values at the path. Those of an object are ordered by their names.
func (p jsonPath) find(root any) []any {
	located := p.path.SelectLocated(root)
	located.Sort()
	var found []any
	for value := range located.Nodes() {
		found = append(found, value)
	}
	return found
}

// unquotedField matches a field in the JSONPath of Kubernetes, in which names are not quoted and a
// backslash escapes a character, and a field in brackets, where it does so, too. It also matches
// texts and fractions, so that their dots are none.
var unquotedField = regexp.MustCompile(`\['[^']*'\]|"[^"]*"|'[^']*'|[0-9]+\.[0-9]+|\.((?:\\.|[^.\[\]\\(){}=!<>,"'\s])*)`)

// parseJSONPath parses a path in the syntax of Kubernetes as RFC 9535. An empty name stands for the
// value itself.
func parseJSONPath(text string) (jsonPath, error) {
	if strings.Contains(unquotedField.ReplaceAllString(text, ""), ",") { // whose results could be many
		return jsonPath{}, errors.New("unions are not supported")
	}
	standard := unquotedField.ReplaceAllStringFunc(text, func(match string) string {
		name, isField := strings.CutPrefix(match, ".")
		if strings.HasPrefix(match, "['") {
			name, isField = match[len("['"):len(match)-len("']")], true
		}
		switch {
		case !isField || name == "*":
			return match
		case name == "":
			return ""
		}
		return "[" + encoded(escape.ReplaceAllString(name, "$1")) + "]"
	})
	path, err := jsonpath.Parse("$" + standard)
	return jsonPath{path}, err
}

var escape = regexp.MustCompile(`\\(.)`)
