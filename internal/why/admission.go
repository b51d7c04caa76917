package why

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"orrery/restclient/api"
)

func admissionCauses() []Cause {
	return []Cause{{
		ID: "C07", Title: "an admission webhook cannot be reached",
		Lesson: "A webhook with failurePolicy Fail that is asked about deletions stops them all when its server is down. Often its " +
			"pods were in the namespace that is being deleted, or an add-on was uninstalled without its configuration.",
		Proof: "ContentFailure says that calling the webhook failed; its configuration still exists, has failurePolicy Fail, and " +
			"selects the deletion of a type that remains; its Service is missing or has no ready endpoint, or the error is one of " +
			"the certificate or of a URL's connection. A webhook without a server that is asked about namespaces/finalize, the last " +
			"request, is possible: no condition reports its refusal.",
		Do: []string{
			"if its Service is in another namespace: bring its pods back",
			"if it was in this one, where no pod can start: exclude the namespace by the webhook's namespaceSelector, and remove " +
				"the exclusion when the namespace is gone (--fix prints both commands)",
			"if the add-on is uninstalled: delete its webhook configuration",
		},
		DoNot: "set failurePolicy Ignore on a policy webhook: that switches the policy off everywhere",
		judge: webhookUnreachable,
	}, {
		ID: "C08", Title: "admission denies the deletion",
		Lesson: "A webhook or a ValidatingAdmissionPolicy may deny deletions, including the controller's. Its message says what it wants.",
		Proof: "ContentFailure has the denial with the name of the webhook, or of the policy and its binding, and these exist and " +
			"select the deletion of a type that remains.",
		Do:    []string{"do what the message asks for", "restore the parameter object of the policy, if that is missing"},
		DoNot: "delete the policy: it protects other objects as well",
		judge: admissionDenies,
	}}
}

// The servers' words in the condition ContentFailure.
var (
	failedCalling  = regexp.MustCompile(`(?s)failed calling webhook "([^"]+)": (.*)`)
	webhookDenied  = regexp.MustCompile(`(?s)admission webhook "([^"]+)" denied the request(?:: (.*))?`)
	policyDenied   = regexp.MustCompile(`(?s)ValidatingAdmissionPolicy '([^']+)' with binding '([^']+)' denied request: (.*)`)
	certificate    = "x509: "
	brokenTransfer = []string{certificate, "connection refused", "context deadline exceeded", "no such host", "i/o timeout"}
)

// beginning matches the start of one server text. The controller joins the texts in ContentFailure
// with commas, and a text may have commas itself.
var beginning = regexp.MustCompile(`^(?:Internal error occurred: |admission webhook "|failed calling webhook "|conversion webhook for ` +
	`|unexpected items still remain in namespace|[a-z0-9.-]+ (?:"[^"]*" )?is forbidden: |unable to transform key|failed to read one or more ` +
	`|ValidatingAdmissionPolicy '|the server |storage is \(re\)initializing|Operation cannot be fulfilled |Timeout: |etcdserver: |rpc error: |(?:Get|Post|Delete|Put) "http)`)

// texts returns the server's texts in ContentFailure, one each.
func texts(content string) (all []string) {
	if _, after, ok := strings.Cut(content, " remaining: "); ok {
		content = after
	}
	for from := 0; ; {
		comma := strings.Index(content[from:], ", ")
		if comma < 0 {
			return append(all, content)
		}
		if at := from + comma; beginning.MatchString(content[at+2:]) {
			all, content, from = append(all, content[:at]), content[at+2:], 0
		} else {
			from = at + 2
		}
	}
}

// What the condition ContentFailure blames decides what the collector reads.

// BlamesWebhook reports whether the condition names an admission webhook.
func (n *Namespace) BlamesWebhook() bool {
	content := n.Condition(api.NamespaceDeletionContentFailure)
	return failedCalling.MatchString(content) || webhookDenied.MatchString(content)
}

// Accuses reports whether the condition says that a webhook could not be called, or the webhook is
// called for a request whose refusal no condition reports.
func (e *Evidence) Accuses(hook Webhook) bool {
	return strings.Contains(e.Namespace.Condition(api.NamespaceDeletionContentFailure), `failed calling webhook "`+hook.Name+`"`) ||
		e.silently(hook.Rules) != ""
}

// silently returns the controller's request that the rules select and whose refusal no condition
// reports: the request that removes the token of an empty namespace, or, if there are no
// conditions, the request that writes them. It returns "" if the rules select neither.
func (e *Evidence) silently(rules []Rule) string {
	updates := func(subresource string) bool {
		return slices.ContainsFunc(rules, func(r Rule) bool { return r.matchesUpdate(subresource) })
	}
	switch {
	case e.Untouched() && updates("status"):
		return "namespaces/status"
	case e.Emptied() && updates("finalize"):
		return "namespaces/finalize"
	}
	return ""
}

// Emptied reports whether only the controller's token keeps the namespace, and has for longer than
// the controller pauses.
func (e *Evidence) Emptied() bool {
	objects, unread := e.left()
	return e.age() >= backOffCap && objects == 0 && len(unread) == 0 && !e.vouched()
}

// BlamesPolicy reports whether the condition names an admission policy.
func (n *Namespace) BlamesPolicy() bool {
	return policyDenied.MatchString(n.Condition(api.NamespaceDeletionContentFailure))
}

// selected are the remaining types whose deletion the rules select.
func (e *Evidence) selected(rules []Rule) (blocks []Blocked) {
	for i := range e.Types {
		t := &e.Types[i]
		if t.Count > 0 && slices.ContainsFunc(rules, func(r Rule) bool { return r.matchesDelete(*t) }) {
			blocks = append(blocks, t.blocked())
		}
	}
	return blocks
}

// blocked describes what remains of a type.
func (t *Type) blocked() Blocked {
	b := Blocked{Resource: t.Name(), Count: t.Count}
	for _, object := range t.Objects[:min(len(t.Objects), 5)] {
		b.Examples = append(b.Examples, object.Name)
	}
	return b
}

// count writes how many objects are blocked: "4 configmaps and 1 secret".
func count(blocks []Blocked) string {
	var words []string
	for _, b := range blocks {
		words = append(words, objects(b.Count, b.Resource))
	}
	return listed(words)
}

// candidate is a webhook that may be the one which the condition names, with what C07 and C08 have
// in common. Hook is nil if the configurations could not be read.
type candidate struct {
	Finding
	hook *Webhook
}

// candidates are the webhooks of a name that select deletions of what remains. Several
// configurations may have one.
func candidates(e *Evidence, name string) (found []candidate) {
	if !e.Webhooks.Known() {
		f := Finding{Culprit: Reference{Resource: "validatingwebhookconfigurations", Name: name}}
		f.lack(e.Webhooks.Failed, "the webhook configurations %s", e.Webhooks.notKnown())
		return []candidate{{f, nil}}
	}
	for i := range e.Webhooks.Items {
		hook := &e.Webhooks.Items[i]
		blocks := e.selected(hook.Rules)
		if hook.Name != name || len(blocks) == 0 || !hook.NamespaceOnly.matches(e.Namespace.Labels) {
			continue
		}
		f := Finding{Culprit: Reference{Resource: hook.Resource, Name: hook.Configuration}, Blocks: blocks}
		f.saw(1, e.Webhooks.Request, "%s %s: webhook %s selects DELETE of %s", hook.Resource, hook.Configuration, name, blocks[0].Resource)
		found = append(found, candidate{f, hook})
	}
	return found
}

func webhookUnreachable(e *Evidence) []Finding {
	var findings []Finding
	content := e.condition(api.NamespaceDeletionContentFailure)
	for name := range matchedOnce(failedCalling, content) {
		for _, c := range candidates(e, name) {
			f := c.Finding
			text, ok := callTo(c.hook, name, content)
			if !ok {
				continue // the condition is about another webhook of that name
			}
			if c.hook != nil && c.hook.FailurePolicy == "Ignore" {
				continue // it was changed since
			}
			f.Says = fmt.Sprintf("the webhook %s cannot be reached", name)
			if len(f.Blocks) > 0 {
				f.Says += ", so " + count(f.Blocks) + " cannot be deleted"
			}
			f.saw(1, e.Namespace.Request, "ContentFailure: failed calling webhook %q: %s", name, text)
			if c.hook == nil || hookIsDown(e, &f, c.hook, text) {
				findings = append(findings, f)
			}
		}
	}
	return append(findings, silentlyUnreachable(e)...)
}

// callTo returns what the condition says about the call of a webhook. Several may have one name:
// the URL in the text tells whose Service was called. hook is nil if the configurations were not
// read.
func callTo(hook *Webhook, name, content string) (text string, ok bool) {
	for _, one := range texts(content) {
		match := failedCalling.FindStringSubmatch(one)
		if match == nil || match[1] != name {
			continue
		}
		called := strings.Contains(one, `"https://`)
		if hook == nil || hook.Service == nil || !called || strings.Contains(one, `"https://`+hook.Service.Name+"."+hook.Service.Namespace+".svc") {
			return strings.TrimSpace(match[2]), true
		}
	}
	return "", false
}

// silentlyUnreachable returns the webhooks without a server that are called for a request whose
// refusal no condition reports.
func silentlyUnreachable(e *Evidence) (findings []Finding) {
	for i := range e.Webhooks.Items {
		hook := &e.Webhooks.Items[i]
		request := e.silently(hook.Rules)
		if request == "" || hook.FailurePolicy == "Ignore" || hook.Service == nil || !hook.NamespaceOnly.matches(e.Namespace.Labels) {
			continue
		}
		f := Finding{Culprit: Reference{Resource: hook.Resource, Name: hook.Configuration}}
		f.Says = fmt.Sprintf("the webhook %s cannot be reached, so %s", hook.Name, withoutRequest[request])
		f.saw(1, e.Webhooks.Request, "%s %s: webhook %s selects UPDATE of %s", hook.Resource, hook.Configuration, hook.Name, request)
		if hookIsDown(e, &f, hook, "") {
			f.lack(nil, "the refusal itself was not seen: no condition reports it")
			findings = append(findings, f)
		}
	}
	return findings
}

// withoutRequest says what a namespace lacks whose controller may not send a request.
var withoutRequest = map[string]string{
	"namespaces/finalize": "the token of the empty namespace cannot be removed",
	"namespaces/status":   "the controller cannot write its conditions, nor go on",
}

// hookIsDown adds why a webhook cannot be called, and what to do about it. It returns false if its
// server is back.
func hookIsDown(e *Evidence, f *Finding, hook *Webhook, text string) bool {
	switch {
	case hook.Service == nil:
		f.Do = []string{"bring the server at the webhook's URL back"}
		if !containsAny(text, brokenTransfer) {
			f.lack(nil, "the webhook has a URL, which was not called")
		}
	case containsAny(text, []string{certificate}):
		f.Do = []string{fmt.Sprintf("repair the certificate of Service %s, or the caBundle of %s %s", *hook.Service, hook.Resource, hook.Configuration)}
	default:
		if down, known := e.backendDown(f, *hook.Service); known && !down {
			return false
		}
		if hook.Service.Namespace != e.Name { // no pod can start in this one
			f.Do = []string{e.bringBack(*hook.Service)}
		}
	}
	f.Do = append(f.Do,
		fmt.Sprintf("exclude %s by a namespaceSelector in %s %s, and remove the exclusion when %s is gone (--fix prints both commands)",
			e.Name, hook.Resource, hook.Configuration, e.Name),
		fmt.Sprintf("if the add-on is uninstalled: kubectl delete %s %s", hook.Resource, hook.Configuration),
	)
	f.Remedies = append(append(f.Remedies, e.exclusion(hook)...), Remedy{
		Command: kubectl("", "delete", hook.Resource, Quoted(hook.Configuration)), When: "only if the add-on is uninstalled",
		Loses: "what its webhooks check or set, in the whole cluster",
	})
	return true
}

// exclusion returns the commands that exclude the namespace from what a webhook is asked about, and
// that remove the exclusion later: a namespace of that name may come again. They change only their
// own entry of the list, which may have those of other namespaces by then.
func (e *Evidence) exclusion(hook *Webhook) []Remedy {
	entry, err := json.Marshal([]Expression{{Key: "kubernetes.io/metadata.name", Operator: "NotIn", Values: []string{e.Name}}})
	if err != nil {
		panic(err) // it has only strings
	}
	object := hook.Resource + " " + Quoted(hook.Configuration)
	change := func(operator string) string {
		list := fmt.Sprintf("(.webhooks[] | select(.name == %q) | .namespaceSelector.matchExpressions) %s %s", hook.Name, operator, entry)
		return kubectl("", "get", object, "-o json | jq", Quoted(list), "| kubectl replace -f -")
	}
	return []Remedy{{Command: change("+=")}, {Command: change("-="), When: whenGone}}
}

// backendDown adds the state of a Service to a finding. known is false if it could not be read.
func (e *Evidence) backendDown(f *Finding, service Service) (down, known bool) {
	b := e.backend(service)
	switch {
	case b == nil:
		f.lack(nil, "Service %s was not looked at", service)
		return false, false
	case b.Failed != nil:
		f.lack(b.Failed, "Service %s could not be read", service)
		return false, false
	case !b.Exists:
		f.saw(1, b.Request, "Service %s does not exist", service)
	case b.Ready == 0:
		f.saw(1, b.Request, "Service %s has no ready endpoint", service)
	default:
		return false, true
	}
	return true, true
}

// matchedOnce yields the first two groups of each match, each first group once, in the order of the
// text.
func matchedOnce(pattern *regexp.Regexp, text string) func(yield func(name, rest string) bool) {
	return func(yield func(string, string) bool) {
		seen := map[string]bool{}
		for _, one := range texts(text) {
			if match := pattern.FindStringSubmatch(one); match != nil && !seen[match[1]] {
				seen[match[1]] = true
				if !yield(match[1], strings.TrimSpace(match[2])) {
					return
				}
			}
		}
	}
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

func admissionDenies(e *Evidence) []Finding {
	content := e.condition(api.NamespaceDeletionContentFailure)
	var findings []Finding
	for name, reason := range matchedOnce(webhookDenied, content) {
		all := candidates(e, name)
		for _, c := range all {
			f := c.Finding
			if len(all) > 1 {
				f.lack(nil, "%d configurations have a webhook of that name", len(all))
			}
			f.Says = fmt.Sprintf("the webhook %s denies the deletion: %s", name, orElse(reason, "without explanation"))
			f.saw(1, e.Namespace.Request, "ContentFailure: admission webhook %q denied the request: %s", name, orElse(reason, "without explanation"))
			if reason != "" {
				f.Do = []string{fmt.Sprintf("do what the webhook asks for: %s", reason)}
			}
			findings = append(findings, f)
		}
	}
	for _, one := range texts(content) {
		match := policyDenied.FindStringSubmatch(one)
		if match == nil {
			continue
		}
		if f, ok := policyFinding(e, match[1], match[2], strings.TrimSpace(match[3])); ok &&
			!slices.ContainsFunc(findings, func(other Finding) bool { return other.Culprit == f.Culprit }) {
			findings = append(findings, f)
		}
	}
	return append(findings, silentlyDenied(e)...)
}

// silentlyDenied returns the policies that decide on a request whose refusal no condition reports.
func silentlyDenied(e *Evidence) (findings []Finding) {
	for _, p := range e.Policies.Items {
		request := e.silently(p.Rules)
		bound := slices.ContainsFunc(e.Policies.Items, func(other Policy) bool { return other.Binding && other.Of == p.Name })
		if p.Binding || request == "" || !bound {
			continue
		}
		f := Finding{Culprit: Reference{Resource: "validatingadmissionpolicies", Name: p.Name}}
		f.Says = fmt.Sprintf("the admission policy %s may deny the controller's request, and then %s", p.Name, withoutRequest[request])
		f.saw(1, e.Policies.Request, "policy %s is bound, and selects UPDATE of %s", p.Name, request)
		f.lack(nil, "whether it denies was not seen: no condition reports it")
		f.Do = []string{"read what policy " + p.Name + " demands of a namespace, or the log of the controller, which has the denial"}
		findings = append(findings, f)
	}
	return findings
}

func policyFinding(e *Evidence, policy, binding, reason string) (f Finding, ok bool) {
	f = Finding{Culprit: Reference{Resource: "validatingadmissionpolicies", Name: policy}}
	f.Says = fmt.Sprintf("the admission policy %s denies the deletion: %s", policy, reason)
	f.saw(1, e.Namespace.Request, "ContentFailure: policy %s with binding %s: %s", policy, binding, reason)
	f.Do = []string{"do what the policy asks for: " + reason}
	if strings.HasPrefix(reason, "no params found") {
		f.Do = []string{fmt.Sprintf("restore the parameter object of binding %s", binding)}
	}
	if !e.Policies.Known() {
		f.lack(e.Policies.Failed, "the admission policies %s", e.Policies.notKnown())
		return f, true
	}
	at := slices.IndexFunc(e.Policies.Items, func(p Policy) bool { return !p.Binding && p.Name == policy })
	bound := slices.ContainsFunc(e.Policies.Items, func(p Policy) bool { return p.Binding && p.Name == binding && p.Of == policy })
	if at < 0 || !bound {
		return f, false // removed since
	}
	if f.Blocks = e.selected(e.Policies.Items[at].Rules); len(f.Blocks) == 0 {
		return f, false
	}
	f.saw(1, e.Policies.Request, "policy %s and binding %s exist, and select DELETE of %s", policy, binding, f.Blocks[0].Resource)
	return f, true
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// bringBack says how to bring the server behind a Service back.
func (e *Evidence) bringBack(service Service) string {
	if b := e.backend(service); b != nil && b.Failed == nil && !b.Exists {
		return fmt.Sprintf("create Service %s and the pods behind it again", service)
	}
	return fmt.Sprintf("bring the pods behind Service %s back", service)
}
