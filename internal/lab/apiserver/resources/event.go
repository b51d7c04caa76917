package resources

import (
	"cmp"
	"strings"
	"time"

	"orrery/restclient/api"
)

// Events are stored in their older form, that of the core group.

func eventSource(o tree, fields map[string]string) {
	fields["source"] = cmp.Or(text(child(o, "source"), "component"), text(o, "reportingComponent"))
}

func eventObject(o *api.Unstructured, _ time.Time) any {
	involved := child(o.Object, "involvedObject")
	kind := strings.ToLower(text(involved, "kind"))
	if name := text(involved, "name"); name != "" {
		return kind + "/" + name
	}
	return kind
}

func eventReporter(o *api.Unstructured, _ time.Time) any {
	source := child(o.Object, "source")
	component := cmp.Or(text(source, "component"), text(o.Object, "reportingComponent"))
	if host := cmp.Or(text(source, "host"), text(o.Object, "reportingInstance")); host != "" {
		return component + ", " + host
	}
	return component
}

// groupEvents configures events.k8s.io, whose events are the objects of the core group in another
// form.
func groupEvents(d *Definition) {
	d.Prefix, d.Stored = "/registry/events", &api.GroupVersion{Version: "v1"}
	d.ToStorage, d.FromStorage = func(o *api.Unstructured) { rename(o, eventNames, true) }, newerEvent
	stored := d.Selectable
	d.Selectable, d.renamed = nil, map[string]string{}
	for _, stored := range stored {
		name := strings.Replace(stored, "involvedObject.", "regarding.", 1)
		if name = strings.Replace(name, "reportingComponent", "reportingController", 1); name == "source" {
			continue
		}
		d.Selectable, d.renamed[name] = append(d.Selectable, name), stored
	}
}

// eventNames are the fields that have different names in events.k8s.io (first) and in the core
// group.
var eventNames = [][2]string{
	{"note", "message"},
	{"regarding", "involvedObject"},
	{"reportingController", "reportingComponent"},
	{"deprecatedCount", "count"},
	{"deprecatedFirstTimestamp", "firstTimestamp"},
	{"deprecatedLastTimestamp", "lastTimestamp"},
	{"deprecatedSource", "source"},
}

// rename renames fields from the first name to the second, or back.
func rename(o *api.Unstructured, names [][2]string, forward bool) {
	for _, pair := range names {
		from, to := pair[0], pair[1]
		if !forward {
			from, to = to, from
		}
		if value, ok := o.Object[from]; ok {
			delete(o.Object, from)
			o.Object[to] = value
		}
	}
}

// newerEvent converts a stored event to events.k8s.io, which omits some empty fields.
func newerEvent(o *api.Unstructured) {
	rename(o, eventNames, false)
	for _, key := range []string{"reportingController", "reportingInstance"} {
		if o.Object[key] == "" {
			delete(o.Object, key)
		}
	}
}
