package why

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"orrery/restclient/api"
)

func conversionCauses() []Cause {
	return []Cause{{
		ID: "C09", Title: "a conversion webhook is down", Issues: []int{118357, 71925},
		Lesson: "A custom resource with several versions may need a webhook to convert between them. Without it the server can " +
			"neither list nor delete the objects.",
		Proof: "The list of the type, or ContentFailure, has the failure of the conversion webhook; the CustomResourceDefinition has " +
			"strategy Webhook; its Service is missing or has no ready endpoint.",
		Do: []string{
			"if its Service is in another namespace: bring its pods back",
			"if it was in this one, where no pod can start: run it in another namespace, and set " +
				"spec.conversion.webhook.clientConfig.service of the CustomResourceDefinition to it",
			"only if the versions have the same schema: set the strategy None",
		},
		DoNot: "delete the CustomResourceDefinition: its objects must be deleted first, which needs the same webhook",
		judge: conversionFails,
	}}
}

// convertsBadly matches the server's words, in a condition or in the answer to a list.
var convertsBadly = regexp.MustCompile(`conversion webhook for ([^ ,]+), Kind=([A-Za-z0-9]+) failed`)

// BlamesConversion reports whether the condition, or the list of a type, names a conversion
// webhook.
func (e *Evidence) BlamesConversion() bool {
	return convertsBadly.MatchString(e.Namespace.Condition(api.NamespaceDeletionContentFailure)) ||
		slices.ContainsFunc(e.Types, func(t Type) bool { return t.Failed != nil && convertsBadly.MatchString(t.Failed.Message) })
}

func conversionFails(e *Evidence) []Finding {
	var findings []Finding
	found := func(name string) bool {
		return slices.ContainsFunc(findings, func(f Finding) bool { return f.Culprit.Name == name })
	}
	for i := range e.Types {
		t := &e.Types[i]
		if t.Failed == nil || !convertsBadly.MatchString(t.Failed.Message) {
			continue
		}
		f := Finding{Blocks: []Blocked{{Resource: t.Name()}}}
		f.saw(1, t.Failed.Request, "%d: %s", t.Failed.Code, t.Failed.Message)
		if e.onlyPodsYet() {
			f.Certainty = Later
		}
		if e.converterIsDown(&f, t.Name()) {
			findings = append(findings, f)
		}
	}
	// A server whose watch cache cannot start fails in namespaces that have no such object.
	for _, text := range texts(e.condition(api.NamespaceDeletionContentFailure)) {
		match := convertsBadly.FindStringSubmatch(text)
		if match == nil {
			continue
		}
		group, _, _ := strings.Cut(match[1], "/")
		name := match[2] + "." + group
		for _, t := range e.Types {
			if t.Group == group && strings.HasPrefix(t.Resource, strings.ToLower(match[2])) {
				name = t.Name()
			}
		}
		for _, d := range e.Definitions.Items {
			if _, of, _ := strings.Cut(d.Type, "."); of == group && d.Kind == match[2] {
				name = d.Type
			}
		}
		f := Finding{}
		f.saw(1, e.Namespace.Request, "ContentFailure: %s", text)
		listed := slices.ContainsFunc(e.Types, func(t Type) bool { return t.Name() == name && t.Failed == nil })
		if found(name) || !e.converterIsDown(&f, name) || listed && len(f.Missing) > 0 {
			continue // it is named already, or the condition is of a time before the repair
		}
		if listed {
			f.Says = fmt.Sprintf("the conversion webhook of %s is down, and the server refuses the controller their list", name)
		}
		findings = append(findings, f)
	}
	return findings
}

// converterIsDown completes the finding about the conversion webhook of a type: what does not show
// that its server is down is missing in the proof. It returns false if there is no such type.
func (e *Evidence) converterIsDown(f *Finding, name string) bool {
	f.Culprit = Reference{Resource: "customresourcedefinitions", Name: name}
	f.Says = fmt.Sprintf("the conversion webhook of %s is down, so its objects can be neither listed nor deleted", name)
	at := slices.IndexFunc(e.Definitions.Items, func(d Definition) bool { return d.Type == name })
	switch {
	case !e.Definitions.Known():
		f.lack(e.Definitions.Failed, "the CustomResourceDefinition could not be read")
		return true
	case at < 0:
		return false
	case e.Definitions.Items[at].Converter == nil:
		f.lack(nil, "the CustomResourceDefinition names no Service for its conversion")
		return true
	}
	service := *e.Definitions.Items[at].Converter
	f.saw(1, e.Definitions.Request, "CustomResourceDefinition %s: strategy Webhook, Service %s", name, service)
	if down, known := e.backendDown(f, service); known && !down {
		f.lack(nil, "Service %s has ready endpoints", service)
	}
	back := e.bringBack(service)
	if service.Namespace == e.Name { // no pod can start in it
		back = fmt.Sprintf("run the conversion webhook in another namespace, and set spec.conversion.webhook.clientConfig.service of "+
			"CustomResourceDefinition %s to it", name)
	}
	f.Do = []string{back, "only if the versions have the same schema: set the strategy None"}
	f.Remedies = append(f.Remedies, Remedy{
		Command: kubectl("", "patch customresourcedefinitions", Quoted(name), `--type=merge -p '{"spec":{"conversion":{"strategy":"None","webhook":null}}}'`),
		When:    "only if the versions have the same schema", Loses: "the settings of the conversion webhook, and the fields in which the versions differ",
	})
	return true
}
