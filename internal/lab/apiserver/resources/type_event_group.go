package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// groupEvents are the events in the newer form. They are the same objects as those of the core group.
func groupEvents() *Definition {
	core := coreEvents()
	return &Definition{
		Group: "events.k8s.io", Prefix: "/registry/events",
		Plural:  "events",
		Columns: core.Columns, Fields: core.Fields,
		Selectable: []string{
			"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "regarding.apiVersion",
			"regarding.resourceVersion", "regarding.fieldPath", "reason", "reportingController", "type",
		},
		renamed: map[string]string{
			"regarding.kind": "involvedObject.kind", "regarding.namespace": "involvedObject.namespace",
			"regarding.name": "involvedObject.name", "regarding.uid": "involvedObject.uid",
			"regarding.apiVersion": "involvedObject.apiVersion", "regarding.resourceVersion": "involvedObject.resourceVersion",
			"regarding.fieldPath": "involvedObject.fieldPath", "reportingController": "reportingComponent",
		},
		Stored:    &api.GroupVersion{Version: "v1"},
		ToStorage: func(o *api.Unstructured) { rename(o, eventNames, true) }, FromStorage: newerEvent,
		Strategy: Strategy{
			Default:                  core.Strategy.Default,
			Validate:                 validateGroupEvent,
			ValidateUpdate:           core.Strategy.ValidateUpdate,
			AllowUnconditionalUpdate: true,
			AllowCreateOnUpdate:      true,
		},
	}
}

// eventNames are the fields that have another name in the newer form, which comes first.
var eventNames = [][2]string{
	{"note", "message"},
	{"regarding", "involvedObject"},
	{"reportingController", "reportingComponent"},
	{"deprecatedCount", "count"},
	{"deprecatedFirstTimestamp", "firstTimestamp"},
	{"deprecatedLastTimestamp", "lastTimestamp"},
	{"deprecatedSource", "source"},
}

// rename gives fields their second names, or back their first ones.
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

// newerEvent makes the newer form of a stored event, in which some fields may be missing that are always there in the older.
func newerEvent(o *api.Unstructured) {
	rename(o, eventNames, false)
	for _, key := range []string{"reportingController", "reportingInstance"} {
		if o.Object[key] == "" {
			delete(o.Object, key)
		}
	}
}

// validateGroupEvent checks an event in its stored form that came in the newer one, for which more is wanted.
func validateGroupEvent(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	if !has(o.Object, "eventTime") {
		m.required("eventTime", "")
	}
	if kind := text(o.Object, "type"); kind != "Normal" && kind != "Warning" {
		m.invalid("type", "", "has invalid value: "+kind)
	}
	for _, key := range []string{"firstTimestamp", "lastTimestamp", "count", "source"} {
		if !isNothing(o.Object[key]) {
			m.invalid(key, "", "needs to be unset")
		}
	}
	if len(m) > 0 {
		return m
	}
	return validateEvent(o)
}
