package resources

import "orrery/restclient/api"

// Events are stored in their older form, that of the core group.

// groupEvents configures events.k8s.io, whose events are the objects of the core group in another
// form.
func groupEvents(d *Definition) {
	d.Prefix, d.Stored = "/registry/events", &api.GroupVersion{Version: "v1"}
	d.ToStorage, d.FromStorage = func(o *api.Unstructured) { rename(o, eventNames, true) }, newerEvent
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
