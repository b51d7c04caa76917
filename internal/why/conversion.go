package why

import (
	"fmt"
	"slices"
	"strings"

	"orrery/restclient/api"
)

// convertsBadly matches the server's words, in a condition or in the answer to a list. A server
// that cannot fill its cache of a type names the type, and not always the reason.
var convertsBadly = lazyPattern(`(?:conversion webhook for|storage is \(re\)initializing: failed to list) ([^ ,]+), Kind=([A-Za-z0-9]+)`)

// namesConversion reports whether a text of the server may be about a conversion webhook.
func namesConversion(text string) bool { return convertsBadly().MatchString(text) }

// callError returns a text that has the error of a call to a conversion webhook, "" for another
// text.
func callError(text string) string {
	if strings.Contains(text, "conversion webhook for ") {
		return text
	}
	return ""
}

// BlamesConversion reports whether a condition, or the list of a type, names a conversion webhook.
func (e *Evidence) BlamesConversion() bool {
	return namesConversion(e.condition(api.NamespaceDeletionContentFailure)) ||
		slices.ContainsFunc(e.Types, func(t Type) bool { return t.Failed != nil && namesConversion(t.Failed.Message) })
}

func conversionFails(e *Evidence) []Finding {
	var findings []Finding
	found := func(name string) bool {
		return slices.ContainsFunc(findings, func(f Finding) bool { return f.Culprit.Name == name })
	}
	for i := range e.Types {
		t := &e.Types[i]
		if t.Failed == nil || !namesConversion(t.Failed.Message) {
			continue
		}
		f := Finding{Blocks: []Blocked{{Resource: t.Name()}}}
		f.saw(1, t.Failed.Request, "%d: %s", t.Failed.Code, t.Failed.Message)
		call := callError(t.Failed.Message)
		if e.converterIsDown(&f, t.Name(), call) && (call != "" || len(f.Missing) == 0) {
			f.lackFailure(e, t, namesConversion)
			findings = append(findings, f)
		}
	}
	// A server whose watch cache cannot start fails in namespaces that have no such object.
	for _, text := range texts(e.condition(api.NamespaceDeletionContentFailure)) {
		d := e.converted(text)
		if d == nil || denies(text) || found(d.Type) {
			continue
		}
		name, call := d.Type, callError(text)
		f := Finding{}
		f.saw(1, e.Namespace.Request, "ContentFailure: %s", text)
		down := e.converterIsDown(&f, name, call)
		if !down || len(f.Missing) > 0 && !callFailed(call) {
			continue // the condition is of a time before the repair, or has another reason
		}
		works := func(t Type) bool { return t.Name() == name && t.Failed == nil && t.Count > 0 }
		f.doubt(slices.ContainsFunc(e.Types, works), "the list of %s works now", name)
		f.lackPass(e, "CustomResourceDefinition "+name, d.Changed)
		findings = append(findings, f)
	}
	return findings
}

// converted returns the definition of the type whose kind a text about a conversion has; nil for
// none.
func (e *Evidence) converted(text string) *Definition {
	match := convertsBadly().FindStringSubmatch(text)
	if match == nil {
		return nil
	}
	group, _, _ := strings.Cut(match[1], "/")
	return find(e.Definitions.Items, func(d Definition) bool {
		_, of, _ := strings.Cut(d.Type, ".")
		return of == group && d.Kind == match[2]
	})
}

// definition returns the CustomResourceDefinition of a type, nil if it is not there.
func (e *Evidence) definition(name string) *Definition {
	return find(e.Definitions.Items, func(d Definition) bool { return d.Type == name })
}

// converterIsDown completes the finding about the conversion webhook of a type: what does not show
// that its server is down is missing in the proof. text is the error of a call that was just made,
// or that the controller has met. It returns false if there is no such type, or its server is back.
func (e *Evidence) converterIsDown(f *Finding, name, text string) bool {
	f.Culprit = Reference{Resource: "customresourcedefinitions", Name: name}
	f.Says = fmt.Sprintf("the conversion webhook of %s is down, so its objects can be neither listed nor "+
		"deleted, which blocks namespaces without such objects, too", name)
	if !e.Definitions.Known() {
		f.lack(e.Definitions.Failed, "the CustomResourceDefinition could not be read")
		return true
	}
	definition := e.definition(name)
	if definition == nil {
		return false
	}
	service, url := definition.Converter.Service, definition.Converter.URL
	switch {
	case service != nil:
		f.saw(1, e.Definitions.Request, "CustomResourceDefinition %s: strategy Webhook, Service %s", name, service)
	case url != "":
		f.saw(1, e.Definitions.Request, "CustomResourceDefinition %s: strategy Webhook, URL %s", name, url)
	default:
		return false
	}
	if !e.unreachable(f, service, text) {
		return false
	}
	f.Remedies = append(f.Remedies, Remedy{
		Command: e.kubectl("", "patch customresourcedefinitions %s --type=merge"+
			` -p '{"spec":{"conversion":{"strategy":"None","webhook":null}}}'`, name),
		When:  "only if the versions have the same schema",
		Loses: "the settings of the conversion webhook, and the fields in which the versions differ",
	})
	return true
}
