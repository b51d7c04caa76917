package resources

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"orrery/restclient/api"
)

// Placeholders of kubectl for absent values.
const (
	unknownText = "<unknown>"
	noneText    = "<none>"
)

// cell returns the cell of an object in a table: a string, int64, float64, bool or nil. Ages are
// relative to now.
type cell = func(o *api.Unstructured, now time.Time) any

// commonColumn returns a column that every type may have.
func commonColumn(name, format, description string) Column {
	cells := sources()["every type"][name].cell("string")
	return Column{Name: name, Type: "string", Format: format, Description: description, Cell: cells}
}

func nameColumn() Column {
	return commonColumn("Name", "name", "The name of the object, unique in its namespace among objects of its type.")
}

func ageColumn() Column { return commonColumn("Age", "", "How long ago the object was created.") }

// sources maps the names of types and columns to the sources of their cells.
var sources = sync.OnceValue(func() map[string]map[string]source {
	return decoded[map[string]map[string]source]("columns.yaml")
})

// source says what the cells of a column show: the value at the first path that has one, in the
// format As, or else Or; or what the function Call of computedCells returns. Deleting is shown for
// an object that is being deleted.
type source struct {
	Path               pathList
	As, Call, Deleting string
	Or                 any
}

func (s *source) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&s.Path)
	}
	type plain source
	return node.Decode((*plain)(s))
}

type pathList []jsonPath

func (l *pathList) UnmarshalYAML(node *yaml.Node) error {
	texts := []string{node.Value}
	if node.Kind == yaml.SequenceNode {
		if err := node.Decode(&texts); err != nil {
			return err
		}
	}
	for _, text := range texts {
		path, err := parseJSONPath(text)
		if err != nil {
			return err
		}
		*l = append(*l, path)
	}
	return nil
}

// cell returns the cells of a column of the given type, or nil for the zero value.
func (s source) cell(kind string) cell {
	if s.Path == nil && s.Or == nil {
		return computedCells[s.Call]
	}
	nothing := s.Or
	switch n, isNumber := nothing.(int); {
	case isNumber:
		nothing = int64(n)
	case nothing != nil:
	case kind == "integer":
		nothing = int64(0)
	case kind == "boolean":
		nothing = false
	default:
		nothing = ""
	}
	format := formats[s.As]
	return func(o *api.Unstructured, now time.Time) any {
		if s.Deleting != "" && o.GetDeletionTimestamp() != nil {
			return s.Deleting
		}
		for _, path := range s.Path {
			found := slices.DeleteFunc(path.find(o.Object), func(value any) bool { return value == nil })
			if len(found) == 0 {
				continue
			}
			if shown := format(found, now); shown != nil && shown != "" {
				return shown
			}
		}
		return nothing
	}
}

// computedCells are the cells that are more than a value in a format.
var computedCells = map[string]cell{
	"apiServiceAvailable": apiServiceAvailable, "nodeStatus": nodeStatus,
	"configMapKeys": func(o *api.Unstructured, _ time.Time) any {
		return size(o.Object["data"]) + size(o.Object["binaryData"])
	},
	"podReady": podReady, "podRestarts": podRestarts, "podStatus": podStatus,
	"readyReplicas": readyReplicas, "serviceExternal": serviceExternal, "servicePorts": servicePorts,
}

// formats show the values at a path, of which there is at least one. Most show the first.
var formats = map[string]func(found []any, now time.Time) any{
	"":            func(found []any, _ time.Time) any { return scalar(found[0]) },
	"text":        func(found []any, _ time.Time) any { return fmt.Sprint(found[0]) },
	"count":       func(found []any, _ time.Time) any { return size(found[0]) },
	"age":         func(found []any, now time.Time) any { return ageOf(fmt.Sprint(found[0]), now) },
	"labels":      func(found []any, _ time.Time) any { return formatLabels(object(found[0])) },
	"selector":    func(found []any, _ time.Time) any { return formatSelector(object(found[0])) },
	"accessModes": func(found []any, _ time.Time) any { return accessModes.Replace(joined(found)) },
	"list":        func(found []any, _ time.Time) any { return joined(found) },

	"apiVersion/kind": pairs("apiVersion", "kind"),
	"kind/name":       pairs("kind", "name"),
	"namespace/name":  pairs("namespace", "name"),
	"reference": func(found []any, _ time.Time) any {
		reference := object(found[0])
		return strings.TrimSuffix(strings.ToLower(text(reference, "kind"))+"/"+text(reference, "name"), "/")
	},
}

var accessModes = strings.NewReplacer(
	"ReadWriteOncePod", "RWOP", "ReadWriteOnce", "RWO", "ReadOnlyMany", "ROX", "ReadWriteMany", "RWX")

// scalar returns nil for an object or list.
func scalar(value any) any {
	switch v := value.(type) {
	case map[string]any, []any:
		return nil
	case string:
		return strings.TrimSpace(v)
	}
	return value
}

func joined(found []any) string {
	shown := make([]string, len(found))
	for i, value := range found {
		shown[i] = fmt.Sprint(value)
	}
	return strings.Join(shown, ",")
}

func object(value any) tree {
	t, _ := value.(map[string]any)
	return t
}

func size(value any) int64 {
	list, _ := value.([]any)
	return int64(len(list) + len(object(value)))
}

// pairs joins two fields of each object.
func pairs(first, second string) func(found []any, now time.Time) any {
	return func(found []any, _ time.Time) any {
		var shown []string
		for _, value := range found {
			shown = append(shown, text(object(value), first)+"/"+text(object(value), second))
		}
		return strings.Join(shown, ", ")
	}
}

func formatLabels(labels tree) string {
	var parts []string
	for _, key := range sortedKeys(labels) {
		parts = append(parts, key+"="+text(labels, key))
	}
	return strings.Join(parts, ",")
}

func formatSelector(t tree) string {
	s, err := ParseLabelSelector(t)
	if err != nil {
		return "<error>"
	}
	return s.String()
}

func ratio(part, of int64) string { return fmt.Sprintf("%d/%d", part, of) }

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// age has the units for durations below a limit, and a letter for each. The second unit is for
// small values of the first.
type age struct {
	below, unit, second time.Duration
	names               string
}

var ages = []age{
	{2 * time.Minute, time.Second, 0, "s"},
	{10 * time.Minute, time.Minute, time.Second, "ms"},
	{3 * time.Hour, time.Minute, 0, "m"},
	{8 * time.Hour, time.Hour, time.Minute, "hm"},
	{2 * day, time.Hour, 0, "h"},
	{8 * day, day, time.Hour, "dh"},
	{2 * year, day, 0, "d"},
	{8 * year, year, day, "yd"},
	{math.MaxInt64, year, 0, "y"},
}

// humanDuration formats a duration like kubectl. It omits a second unit that is zero.
func humanDuration(d time.Duration) string {
	switch {
	case d <= -2*time.Second:
		return "<invalid>"
	case d < 0:
		return "0s"
	}
	d = min(d, math.MaxInt64-1) // which the last row has
	age := ages[slices.IndexFunc(ages, func(row age) bool { return d < row.below })]
	text := decimal(int64(d/age.unit)) + age.names[:1]
	if age.second > 0 && d%age.unit >= age.second {
		text += decimal(int64(d%age.unit/age.second)) + age.names[1:]
	}
	return text
}

// ageOf returns the time since a timestamp.
func ageOf(moment string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, moment)
	switch {
	case moment == "" || t.IsZero() && err == nil:
		return unknownText
	case err != nil:
		return "<invalid>"
	}
	return humanDuration(now.Sub(t))
}

// The columns of pods know nothing of init containers and of containers that fail: no program runs
// here.

func podReady(o *api.Unstructured, _ time.Time) any {
	ready := int64(0)
	for _, c := range items(child(o.Object, "status"), "containerStatuses") {
		if boolean(c, "ready") && child(child(c, "state"), "running") != nil {
			ready++
		}
	}
	return ratio(ready, int64(len(items(child(o.Object, "spec"), "containers"))))
}

// podStatus returns the reason or the phase of a pod.
func podStatus(o *api.Unstructured, _ time.Time) any {
	status := child(o.Object, "status")
	reason, phase := text(status, "reason"), text(status, "phase")
	switch finished := phase == "Failed" || phase == "Succeeded"; {
	case o.GetDeletionTimestamp() == nil || finished:
		return cmp.Or(reason, phase)
	case reason == "NodeLost":
		return "Unknown"
	}
	return "Terminating"
}

// condition returns a field of the condition of the given type.
func condition(status tree, kind, key string) string {
	for _, c := range items(status, "conditions") {
		if text(c, "type") == kind {
			return text(c, key)
		}
	}
	return ""
}

func podRestarts(o *api.Unstructured, _ time.Time) any {
	count := int64(0)
	for _, c := range items(child(o.Object, "status"), "containerStatuses") {
		count += integer(c, "restartCount")
	}
	return decimal(count)
}

func nodeStatus(o *api.Unstructured, _ time.Time) any {
	status := "Unknown"
	switch condition(child(o.Object, "status"), "Ready", "status") {
	case "True":
		status = "Ready"
	case "False", "Unknown":
		status = "NotReady"
	}
	if o.NestedBool("spec", "unschedulable") {
		status += ",SchedulingDisabled"
	}
	return status
}
