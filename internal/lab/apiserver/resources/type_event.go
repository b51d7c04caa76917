package resources

import (
	"strings"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

// coreEvents are what programs report about objects, in the older of their two forms, which is also the stored one.
func coreEvents() *Definition {
	return &Definition{
		Plural:  "events",
		Columns: eventColumns(),
		Selectable: []string{
			"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
			"reason", "reportingComponent", "source", "type",
		},
		Fields: eventFields,
		Strategy: Strategy{
			Default:                  defaultEvent,
			Validate:                 validateEvent,
			AllowUnconditionalUpdate: true,
			AllowCreateOnUpdate:      true,
		},
	}
}

func eventColumns() []Column {
	return []Column{
		{Name: "Last Seen", Type: "string", Description: "When it was reported last.", Cell: eventLastSeen},
		{Name: "Type", Type: "string", Description: "Normal or Warning.", Cell: field("type")},
		{Name: "Reason", Type: "string", Description: "Why it was reported, in one word.", Cell: field("reason")},
		{Name: "Object", Type: "string", Description: "What it is about.", Cell: eventObject},
		{Name: "Subobject", Type: "string", Priority: 1, Description: "Which part of the object it is about.", Cell: field("involvedObject", "fieldPath")},
		{Name: "Source", Type: "string", Priority: 1, Description: "Who reported it.", Cell: eventSource},
		{Name: "Message", Type: "string", Description: "What happened.", Cell: eventMessage},
		{Name: "First Seen", Type: "string", Priority: 1, Description: "When it was reported first.", Cell: eventFirstSeen},
		{Name: "Count", Type: "string", Priority: 1, Description: "How often it was reported.", Cell: eventCount},
		{Name: "Name", Type: "string", Format: "name", Priority: 1, Description: "The name of the event, unique in its namespace.", Cell: objectName},
	}
}

func eventFields(o *api.Unstructured) map[string]string {
	involved := child(o.Object, "involvedObject")
	fields := map[string]string{
		"reason":             text(o.Object, "reason"),
		"reportingComponent": text(o.Object, "reportingComponent"),
		"source":             or(text(child(o.Object, "source"), "component"), text(o.Object, "reportingComponent")),
		"type":               text(o.Object, "type"),
	}
	for _, key := range []string{"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"} {
		fields["involvedObject."+key] = text(involved, key)
	}
	return fields
}

// defaultEvent writes the fields that are always there, as null where they say nothing.
func defaultEvent(o *api.Unstructured) {
	nullable(o.Object, "eventTime", "firstTimestamp", "lastTimestamp")
	fill(o.Object, "reportingComponent", "")
	fill(o.Object, "reportingInstance", "")
	fill(o.Object, "source", tree{})
	fill(o.Object, "involvedObject", tree{})
}

func validateEvent(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	namespace, involved := o.GetNamespace(), o.NestedString("involvedObject", "namespace")
	switch {
	case involved == "" && namespace != "default" && namespace != "kube-system":
		m.invalid("involvedObject.namespace", involved, "does not match event.namespace")
	case involved != "" && involved != namespace:
		m.invalid("involvedObject.namespace", involved, "does not match event.namespace")
	}
	if !has(o.Object, "eventTime") {
		return m
	}
	component := text(o.Object, "reportingComponent")
	if component == "" {
		m.required("reportingComponent", "")
	}
	m.names("reportingComponent", component, names.Qualified(component))
	for _, key := range []string{"reportingInstance", "action", "reason"} {
		if text(o.Object, key) == "" {
			m.required(key, "")
		}
	}
	return m
}

func eventLastSeen(o *api.Unstructured, now time.Time) any {
	last := o.NestedString("series", "lastObservedTime")
	if last == "" {
		last = or(text(o.Object, "lastTimestamp"), text(o.Object, "firstTimestamp"))
	}
	return ageOf(or(last, text(o.Object, "eventTime")), now)
}

func eventFirstSeen(o *api.Unstructured, now time.Time) any {
	return ageOf(or(text(o.Object, "firstTimestamp"), text(o.Object, "eventTime")), now)
}

func eventObject(o *api.Unstructured, _ time.Time) any {
	involved := child(o.Object, "involvedObject")
	kind := strings.ToLower(text(involved, "kind"))
	if name := text(involved, "name"); name != "" {
		return kind + "/" + name
	}
	return kind
}

func eventSource(o *api.Unstructured, _ time.Time) any {
	source := child(o.Object, "source")
	component := or(text(source, "component"), text(o.Object, "reportingComponent"))
	if host := or(text(source, "host"), text(o.Object, "reportingInstance")); host != "" {
		return component + ", " + host
	}
	return component
}

func eventMessage(o *api.Unstructured, _ time.Time) any {
	return strings.TrimSpace(text(o.Object, "message"))
}

func eventCount(o *api.Unstructured, _ time.Time) any {
	if series := child(o.Object, "series"); series != nil {
		return whole(series, "count")
	}
	return max(whole(o.Object, "count"), 1)
}
