package resources

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/selector"
	"orrery/restclient/api"
)

// The placeholders of kubectl for absent values.
const (
	unknownText = "<unknown>"
	noneText    = "<none>"
	unsetText   = "<unset>"
)

// cell returns the cell of an object in a table: a string, int64, float64, bool or nil. Ages are
// relative to now.
type cell = func(o *api.Unstructured, now time.Time) any

func nameColumn() Column {
	return Column{Name: "Name", Type: "string", Format: "name", Description: "The name of the object, unique in its namespace among objects of its type.", Cell: objectName}
}

func ageColumn() Column {
	return Column{Name: "Age", Type: "string", Description: "How long ago the object was created.", Cell: age}
}

func objectName(o *api.Unstructured, _ time.Time) any { return o.GetName() }

func created(o *api.Unstructured, _ time.Time) any {
	return o.NestedString("metadata", "creationTimestamp")
}

// fieldOr returns the cell of a string field, with a placeholder for "".
func fieldOr(nothing string, path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any { return cmp.Or(o.NestedString(path...), nothing) }
}

// number64 returns the cell of an integer field.
func number64(path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any { return o.NestedInt64(path...) }
}

// length returns the cell of the length of a list.
func length(path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		list, _ := o.Nested(path...).([]any)
		return int64(len(list))
	}
}

// labelSetCell returns the cell of a map of labels.
func labelSetCell(path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		labels, _ := o.Nested(path...).(map[string]any)
		return cmp.Or(formatLabels(labels), noneText)
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

// field returns the cell of a string field.
func field(path ...string) cell { return fieldOr("", path...) }

// joined returns the cell of one string field of all objects in a list.
func joined(key string, path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		var found []string
		for _, item := range items(tree{"": o.Nested(path...)}, "") {
			found = append(found, text(item, key))
		}
		return strings.Join(found, ",")
	}
}

// labelSelectorCell returns the cell of a label selector.
func labelSelectorCell(path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		t, _ := o.Nested(path...).(map[string]any)
		if t == nil {
			return noneText
		}
		s, err := selector.ParseLabelSelector(t)
		if err != nil {
			return "<error>"
		}
		return cmp.Or(s.String(), noneText)
	}
}

// value returns the cell of a scalar field, with a placeholder.
func value(nothing any, path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		switch v := o.Nested(path...).(type) {
		case nil, map[string]any, []any:
			return nothing
		default:
			return v
		}
	}
}

// shown returns the cell of any field, formatted as text.
func shown(nothing string, path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		if v := o.Nested(path...); v != nil {
			return fmt.Sprint(v)
		}
		return nothing
	}
}

// list returns the cell of a list of strings.
func list(nothing string, path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		return cmp.Or(strings.Join(o.NestedStringSlice(path...), ","), nothing)
	}
}

// part returns the cell that a function formats from the object at a path.
func part(make func(t tree) string, path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		t, _ := o.Nested(path...).(map[string]any)
		return make(t)
	}
}

func reference(t tree) string { return text(t, "kind") + "/" + text(t, "name") }

// since returns the cell of the time since a timestamp.
func since(nothing string, path ...string) cell {
	return func(o *api.Unstructured, now time.Time) any {
		if moment := o.NestedString(path...); moment != "" {
			return ageOf(moment, now)
		}
		return nothing
	}
}

// few joins at most three strings, with a placeholder for none.
func few(all []string, nothing string) string {
	const most = 3
	switch {
	case len(all) == 0:
		return nothing
	case len(all) > most:
		return fmt.Sprintf("%s + %d more...", strings.Join(all[:most], ","), len(all)-most)
	}
	return strings.Join(all, ",")
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// humanDuration formats a duration like kubectl: at most two units, the second only for small
// values of the first.
func humanDuration(d time.Duration) string {
	switch {
	case d <= -2*time.Second:
		return "<invalid>"
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return count(d, time.Second) + "s"
	case d < 10*time.Minute:
		return parts(d, time.Minute, "m", time.Second, "s")
	case d < 3*time.Hour:
		return count(d, time.Minute) + "m"
	case d < 8*time.Hour:
		return parts(d, time.Hour, "h", time.Minute, "m")
	case d < 2*day:
		return count(d, time.Hour) + "h"
	case d < 8*day:
		return parts(d, day, "d", time.Hour, "h")
	case d < 2*year:
		return count(d, day) + "d"
	case d < 8*year:
		return parts(d, year, "y", day, "d")
	}
	return count(d, year) + "y"
}

func count(d, unit time.Duration) string { return strconv.FormatInt(int64(d/unit), 10) }

// parts formats two units and omits the second if it is zero.
func parts(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := count(d, large) + largeName
	if rest := d % large / small; rest > 0 {
		text += strconv.FormatInt(int64(rest), 10) + smallName
	}
	return text
}

// ageOf returns the time since a timestamp.
func ageOf(moment string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, moment)
	if err != nil || t.IsZero() {
		return unknownText
	}
	return humanDuration(now.Sub(t))
}

func age(o *api.Unstructured, now time.Time) any {
	return ageOf(o.NestedString("metadata", "creationTimestamp"), now)
}
