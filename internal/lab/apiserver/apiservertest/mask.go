package apiservertest

import (
	"cmp"
	"maps"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// What recordings contain in place of values that differ from run to run.
const (
	maskedUID     = "<uid>"
	maskedVersion = "<version>"
	maskedTime    = "<time>"
	maskedToken   = "<token>"
	maskedAddress = "<address>"
	maskedAge     = "<age>"
	maskedText    = "<text>"
)

// masker masks the values of one answer that differ from run to run. A value kept by the script
// becomes its variable.
type masker struct {
	variables map[string]kept
	names     []string // of the variables, those with the longest values first
}

// kept is the value of a variable.
type kept struct {
	text string
	// ofList reports that the value is the version of a list. That is the version of the last
	// write, which may equal that of an object by chance, so the two are distinguished.
	ofList bool
}

func mask(answer *Answer, variables map[string]kept) {
	m := &masker{variables: variables, names: slices.SortedFunc(maps.Keys(variables), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(variables[b].text), len(variables[a].text)), cmp.Compare(a, b))
	})}
	for i, document := range answer.Documents {
		answer.Documents[i] = m.value("", document)
	}
	answer.Text = m.text(answer.Text)
	for i, header := range answer.Headers {
		answer.Headers[i].Value = m.text(header.Value)
	}
}

// value masks the value of a member.
func (m *masker) value(key string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		if key == "metadata" {
			m.version(v)
		}
		return m.object(v)
	case []any:
		for i, item := range v {
			v[i] = m.value(key, item)
		}
		return v
	case string:
		return m.member(key, v)
	}
	return value
}

func (m *masker) object(object map[string]any) any {
	leaveOut(object)
	switch object["kind"] {
	case "Table":
		maskTable(object)
	}
	if _, ok := object["gitVersion"]; ok {
		for name, value := range object {
			if _, ok := value.(string); ok && name != "major" && name != "minor" {
				object[name] = maskedText
			}
		}
	}
	for name, value := range object {
		object[name] = m.value(name, value)
	}
	if causes, ok := object["causes"].([]any); ok {
		object["causes"] = unrepeated(causes)
	}
	return object
}

// leaveOut removes the members that are not compared. Those of pods and nodes are set by admission
// plugins that this project's server does not have.
func leaveOut(object map[string]any) {
	names := []string{"managedFields", "storageVersionHash", "qosClass", "taints"}
	if _, isPodSpec := object["containers"]; isPodSpec {
		names = append(names, "tolerations", "priority", "preemptionPolicy")
	}
	for _, name := range names {
		delete(object, name)
	}
}

// unrepeated removes causes that are there already: kube-apiserver validates some metadata twice.
func unrepeated(causes []any) []any {
	var once []any
	for _, cause := range causes {
		if !slices.ContainsFunc(once, func(other any) bool { return reflect.DeepEqual(cause, other) }) {
			once = append(once, cause)
		}
	}
	return once
}

// version masks the resourceVersion of an object's or a list's metadata.
func (m *masker) version(metadata map[string]any) {
	if version, ok := metadata["resourceVersion"].(string); ok && version != "" {
		_, named := metadata["name"]
		metadata["resourceVersion"] = m.whole(version, maskedVersion, !named)
	}
}

// maskTable removes ages and column descriptions from a table.
func maskTable(table map[string]any) {
	columns, _ := table["columnDefinitions"].([]any)
	for _, column := range columns {
		column, _ := column.(map[string]any)
		delete(column, "description")
	}
	rows, _ := table["rows"].([]any)
	for _, row := range rows {
		row, _ := row.(map[string]any)
		cells, _ := row["cells"].([]any)
		for i := range cells {
			if text, ok := cells[i].(string); ok && age.MatchString(text) {
				cells[i] = maskedAge
			}
		}
	}
}

// age matches ages as kubectl shows them.
var age = regexp.MustCompile(`^\d+[smh](\d+[sm])?$`)

// member masks a string by the name of its member.
func (m *masker) member(key, value string) string {
	if value == "" {
		return value
	}
	switch key {
	case "uid":
		return m.whole(value, maskedUID, false)
	case "continue":
		return m.whole(value, maskedToken, true)
	case "clusterIP", "clusterIPs", "serverAddress":
		if isAddress(value) {
			return maskedAddress
		}
	}
	if at, err := time.Parse(time.RFC3339Nano, value); err == nil && time.Since(at).Abs() < 2*time.Hour {
		return maskedTime
	}
	return m.text(value)
}

// whole masks a string that is an identifier of a list or an object.
func (m *masker) whole(value, mask string, ofList bool) string {
	for _, name := range m.names {
		if m.variables[name] == (kept{value, ofList}) {
			return "${" + name + "}"
		}
	}
	return mask
}

func isAddress(value string) bool {
	if _, err := netip.ParseAddr(value); err == nil {
		return true
	}
	_, err := netip.ParseAddrPort(value)
	return err == nil
}

// shortest is the minimal length of values that are replaced within text. Versions are shorter and
// would match parts of other numbers.
const shortest = 8

var (
	uidInText   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timeInText  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	ownVersions = regexp.MustCompile(`(ResourceVersion in (?:the )?record \(|current: |too old resource version: \d+ \(|serving at )(\d+)`)
	dumpInText  = regexp.MustCompile(`Invalid value: "\{\\"apiVersion\\".*?[^\\]"(:|,|$)`)
	addressText = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// text masks the identifiers within a text.
func (m *masker) text(text string) string {
	for _, name := range m.names {
		if value := m.variables[name].text; len(value) >= shortest {
			text = strings.ReplaceAll(text, value, "${"+name+"}")
		}
	}
	// Error messages show the whole object that could not be decoded, with managedFields and times.
	text = dumpInText.ReplaceAllString(text, `Invalid value: "<object>"${1}`)
	text = uidInText.ReplaceAllString(text, maskedUID)
	text = timeInText.ReplaceAllStringFunc(text, func(found string) string {
		if at, err := time.Parse(time.RFC3339Nano, found); err == nil && time.Since(at).Abs() < 2*time.Hour {
			return maskedTime
		}
		return found
	})
	text = addressText.ReplaceAllString(text, maskedAddress)
	return ownVersions.ReplaceAllString(text, "${1}"+maskedVersion)
}
