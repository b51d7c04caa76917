package why

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orrery/restclient/api"
)

// Accuses reports whether the condition says that a webhook could not be called.
func (e *Evidence) Accuses(hook Webhook) bool {
	return strings.Contains(e.condition(api.NamespaceDeletionContentFailure), `failed calling webhook "`+hook.Name+`"`)
}

// KeptBy returns the finalizers on objects whose update a webhook must allow: without it their
// owners cannot remove them. See VictoriaMetrics/helm-charts#2726.
func (e *Evidence) KeptBy(hook Webhook) []Held {
	if hook.FailurePolicy == "Ignore" || hook.Service == nil || !hook.NamespaceOnly.matches(e.labels()) {
		return nil
	}
	return slices.DeleteFunc(e.Held(), func(h Held) bool { return !selects(hook.Rules, "UPDATE", h.Type) })
}

// selected are the remaining types whose deletion the rules select.
func (e *Evidence) selected(rules []Rule) (blocks []Blocked) {
	for i := range e.Types {
		t := &e.Types[i]
		if t.Count > 0 && !e.wentSince(t) && selects(rules, "DELETE", t) {
			blocks = append(blocks, t.all()...)
		}
	}
	return blocks
}

// all describes all objects of a type, which cannot go.
func (t *Type) all() []Blocked { return t.blocks(t.Count, t.Objects...) }

// blocks describes n objects of a type that cannot go, with the first ones as examples.
func (t *Type) blocks(n int, objects ...Object) []Blocked {
	b := Blocked{Resource: t.Name(), Count: n}
	for _, object := range objects[:min(len(objects), 5)] {
		b.Examples = append(b.Examples, object.Name)
	}
	return []Blocked{b}
}

// count writes how many objects are blocked, as a list of [Blocked.objects].
func count(blocks []Blocked) string {
	var words []string
	for _, b := range blocks {
		words = append(words, b.objects())
	}
	return listed(words)
}

// candidate is a webhook that may be the one which the condition names, with what C07 and C08 have
// in common. hook is empty if the configurations could not be read.
type candidate struct {
	Finding
	hook *Webhook
}

// candidates are the webhooks of a name that select deletions of what remains. Several
// configurations may have one.
func candidates(e *Evidence, name string) (found []candidate) {
	if !e.Webhooks.Known() {
		f := Finding{Culprit: Reference{Resource: "validatingwebhookconfigurations", Name: name}}
		f.lack(e.Webhooks.unread(), "the webhook configurations could not be read")
		return []candidate{{f, &Webhook{}}}
	}
	for i := range e.Webhooks.Items {
		hook := &e.Webhooks.Items[i]
		blocks := e.selected(hook.Rules)
		if hook.Name != name || len(blocks) == 0 || !hook.NamespaceOnly.matches(e.labels()) {
			continue
		}
		f := Finding{Culprit: Reference{Resource: hook.Resource, Name: hook.Configuration}, Blocks: blocks}
		f.saw(1, e.Webhooks.Request, "%s %s: webhook %s selects DELETE of %s", hook.Resource, hook.Configuration, name,
			blocks[0].Resource)
		found = append(found, candidate{f, hook})
	}
	if len(found) > 1 {
		for i := range found {
			found[i].lack(nil, "%d configurations have a webhook of that name", len(found))
		}
	}
	return found
}

func webhookUnreachable(e *Evidence) []Finding {
	var findings []Finding
	for name, text := range matchedOnce(failedCalling(), e.condition(api.NamespaceDeletionContentFailure)) {
		for _, c := range candidates(e, name) {
			f := c.Finding
			if c.hook.FailurePolicy == "Ignore" || !c.hook.isCalledBy(text) {
				continue // it was changed since, or the condition is about another webhook of that name
			}
			f.Says = fmt.Sprintf("calls of the webhook %s fail", name)
			if len(f.Blocks) > 0 {
				f.Says += ", so " + count(f.Blocks) + " cannot be deleted"
			}
			f.saw(1, e.Namespace.Request, "ContentFailure: failed calling webhook %q: %s", name, text)
			f.doubt(c.hook.Narrowed, "the webhook is not asked about every object")
			if !e.Webhooks.Known() || hookIsDown(e, &f, c.hook, text) {
				findings = append(findings, f)
			}
		}
	}
	for i := range e.Webhooks.Items {
		hook := &e.Webhooks.Items[i]
		culprit := Reference{Resource: hook.Resource, Name: hook.Configuration}
		held := e.KeptBy(*hook)
		if len(held) == 0 || slices.ContainsFunc(findings, func(f Finding) bool { return f.Culprit == culprit }) {
			continue
		}
		f := heldFinding(e, held[0])
		f.Culprit = culprit
		f.Says = fmt.Sprintf("the webhook %s cannot be reached, so %s cannot be removed from %s", hook.Name,
			held[0].Finalizer, held[0].Type.Name())
		f.saw(1, e.Webhooks.Request, "%s %s: webhook %s selects UPDATE of %s", hook.Resource, hook.Configuration,
			hook.Name, held[0].Type.Name())
		if hookIsDown(e, &f, hook, "") {
			f.lack(nil, "whether the owner of %s tries to remove it was not seen: its log has the refusal",
				held[0].Finalizer)
			findings = append(findings, f)
		}
	}
	return findings
}

// hookIsDown adds why a webhook cannot be called, and the commands that help. It returns false if
// its server is back.
func hookIsDown(e *Evidence, f *Finding, hook *Webhook, text string) bool {
	if !e.unreachable(f, hook.Service, text) {
		return false
	}
	f.lackPass(e, hook.Resource+" "+hook.Configuration, hook.Changed)
	f.Remedies = append(append(f.Remedies, e.exclusion(hook)...), Remedy{
		Command: e.kubectl("", "delete %s %s", hook.Resource, hook.Configuration),
		When:    "only if the add-on is uninstalled",
		Loses:   "what its webhooks check or set, in the whole cluster",
	})
	return true
}

// exclusion returns the commands that exclude the namespace from what a webhook is asked about, and
// that remove the exclusion later: a namespace of that name may come again. They change only their
// own entry of the list, which may have those of other namespaces by then.
func (e *Evidence) exclusion(hook *Webhook) []Remedy {
	entry, err := json.Marshal([]Expression{{Key: "kubernetes.io/metadata.name", Operator: "NotIn",
		Values: []string{e.Name}}})
	if err != nil {
		panic(err) // it has only strings
	}
	change := func(operator string) string {
		list := fmt.Sprintf("(.webhooks[] | select(.name == %q) | .namespaceSelector.matchExpressions) %s %s",
			hook.Name, operator, entry)
		return e.kubectl("", "get %s %s -o json | jq %s | kubectl replace -f -",
			hook.Resource, hook.Configuration, list)
	}
	return []Remedy{{Command: change("+=")}, {Command: change("-="), When: whenGone}}
}

func admissionDenies(e *Evidence) []Finding {
	content := e.condition(api.NamespaceDeletionContentFailure)
	var findings []Finding
	for name, reason := range matchedOnce(webhookDenied(), content) {
		for _, c := range candidates(e, name) {
			f := c.Finding
			f.lackPass(e, c.hook.Resource+" "+c.hook.Configuration, c.hook.Changed)
			f.lackDeletions(e)
			says := cmp.Or(reason, "without explanation")
			f.Says = fmt.Sprintf("the webhook %s denies the deletion: %s", name, says)
			f.saw(1, e.Namespace.Request, "ContentFailure: admission webhook %q denied the request: %s", name, says)
			findings = append(findings, f)
		}
	}
	for _, one := range texts(content) {
		match := about(policyDenied(), one)
		if match == nil {
			continue
		}
		f, ok := policyFinding(e, match[1], match[2], strings.TrimSpace(match[3]))
		again := slices.ContainsFunc(findings, func(other Finding) bool { return other.Culprit == f.Culprit })
		if ok && !again { // it may have another reason for another object
			findings = append(findings, f)
		}
	}
	return findings
}

func policyFinding(e *Evidence, policy, binding, reason string) (f Finding, ok bool) {
	f = Finding{Culprit: Reference{Resource: "validatingadmissionpolicies", Name: policy}}
	f.Says = fmt.Sprintf("the admission policy %s denies the deletion: %s", policy, reason)
	by := policy
	if binding != "" {
		by += " with binding " + binding
	}
	f.saw(1, e.Namespace.Request, "ContentFailure: policy %s: %s", by, reason)
	if !e.Policies.Known() {
		f.lack(e.Policies.unread(), "the admission policies could not be read")
		return f, true
	}
	p := find(e.Policies.Items, func(p Policy) bool { return !p.Binding && p.Name == policy })
	bound := find(e.Policies.Items, func(p Policy) bool { return p.Binding && p.Name == binding && p.Of == policy })
	if p == nil || bound == nil && binding != "" {
		return f, false // removed since
	}
	f.lackPass(e, "policy "+policy, p.Changed)
	if bound != nil {
		f.lackPass(e, "binding "+binding, bound.Changed)
	}
	f.doubt(p.Depends || bound != nil && bound.Depends, "policy %s depends on rights, or on parameters that were not "+
		"read: if they were changed since, the next pass of the controller may succeed", policy)
	if f.Blocks = e.selected(p.Rules); len(f.Blocks) == 0 || !p.NamespaceOnly.matches(e.labels()) {
		return f, false
	}
	f.lackDeletions(e)
	f.saw(1, e.Policies.Request, "policy %s and its binding exist, and select DELETE of %s", policy,
		f.Blocks[0].Resource)
	return f, true
}
