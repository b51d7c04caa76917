package resources

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/selector"
	"orrery/restclient/api"
)

func nameColumn() Column {
	return Column{Name: "Name", Type: "string", Format: "name", Description: "The name of the object, unique in its namespace among objects of its type.", Cell: objectName}
}

func ageColumn() Column {
	return Column{Name: "Age", Type: "string", Description: "How long ago the object was created.", Cell: age}
}

func createdColumn() Column {
	return Column{Name: "Created At", Type: "date", Description: "When the object was created.", Cell: created}
}

func objectName(o *api.Unstructured, _ time.Time) any { return o.GetName() }

func created(o *api.Unstructured, _ time.Time) any {
	return o.NestedString("metadata", "creationTimestamp")
}

// field makes the cell of a text in the document.
func field(path ...string) func(*api.Unstructured, time.Time) any {
	return func(o *api.Unstructured, _ time.Time) any { return o.NestedString(path...) }
}

// fieldOr does so, with a word for nothing.
func fieldOr(nothing string, path ...string) func(*api.Unstructured, time.Time) any {
	return func(o *api.Unstructured, _ time.Time) any { return or(o.NestedString(path...), nothing) }
}

func or(text, nothing string) string {
	if text == "" {
		return nothing
	}
	return text
}

// number makes the cell of a whole number in the document; 0 if it is not there.
func number64(path ...string) func(*api.Unstructured, time.Time) any {
	return func(o *api.Unstructured, _ time.Time) any { return o.NestedInt64(path...) }
}

// length makes the cell of the length of a list in the document.
func length(path ...string) func(*api.Unstructured, time.Time) any {
	return func(o *api.Unstructured, _ time.Time) any {
		list, _ := o.Nested(path...).([]any)
		return int64(len(list))
	}
}

func configMapKeys(o *api.Unstructured, _ time.Time) any {
	return int64(len(child(o.Object, "data")) + len(child(o.Object, "binaryData")))
}

func secretKeys(o *api.Unstructured, _ time.Time) any { return int64(len(child(o.Object, "data"))) }

// joined makes the cell of one field of each object in a list.
func joined(list func(*api.Unstructured) []tree, key string) func(*api.Unstructured, time.Time) any {
	return func(o *api.Unstructured, _ time.Time) any {
		var found []string
		for _, item := range list(o) {
			found = append(found, text(item, key))
		}
		return strings.Join(found, ",")
	}
}

func templateContainers(o *api.Unstructured) []tree {
	spec, _ := o.Nested("spec", "template", "spec").(map[string]any)
	return items(spec, "containers")
}

// labelSelectorCell makes the cell of a label selector with matchLabels and matchExpressions.
func labelSelectorCell(path ...string) func(*api.Unstructured, time.Time) any {
	return func(o *api.Unstructured, _ time.Time) any {
		t, _ := o.Nested(path...).(map[string]any)
		if t == nil {
			return noneText
		}
		s, err := selector.ParseLabelSelector(t)
		if err != nil {
			return "<error>"
		}
		return or(s.String(), noneText)
	}
}

// labelSetCell makes the cell of a map of labels.
func labelSetCell(path ...string) func(*api.Unstructured, time.Time) any {
	return func(o *api.Unstructured, _ time.Time) any {
		labels, _ := o.Nested(path...).(map[string]any)
		return or(formatLabels(labels), noneText)
	}
}

func formatLabels(labels tree) string {
	var parts []string
	for _, key := range sortedKeys(labels) {
		parts = append(parts, key+"="+text(labels, key))
	}
	return strings.Join(parts, ",")
}

func ratio(part, of int64) string { return fmt.Sprintf("%d/%d", part, of) }

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
