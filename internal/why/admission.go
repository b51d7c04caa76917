package why

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// lazyPattern returns a function that returns a regular expression, compiled at its first use:
// "orrery run" has this package in it and needs none of its expressions.
func lazyPattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// The servers' words in the condition ContentFailure, in which the controller joins their texts.
var (
	failedCalling = lazyPattern(`(?s)failed calling webhook "([^"]+)": (.*)`)
	webhookDenied = lazyPattern(`(?s)admission webhook "([^"]+)" denied the request(?:: (.*))?`)
	policyDenied  = lazyPattern(`(?s)ValidatingAdmissionPolicy '([^']+)' (?:with binding '([^']+)' )?denied request: (.*)`)
)

// about returns the match of a pattern in one server text. It returns nil if another of these
// patterns matches earlier: the message of a webhook or a policy may quote such words.
func about(pattern *regexp.Regexp, text string) []string {
	first := pattern.FindStringIndex(text)
	if first == nil {
		return nil
	}
	for _, other := range []*regexp.Regexp{failedCalling(), webhookDenied(), policyDenied()} {
		if at := other.FindStringIndex(text); at != nil && at[0] < first[0] {
			return nil
		}
	}
	return pattern.FindStringSubmatch(text)
}

// beginning matches the start of one server text. The controller joins the texts in ContentFailure
// with commas, and a text may have commas itself.
var beginning = lazyPattern(`^(?:Internal error occurred: |admission webhook "|conversion webhook for ` +
	`|unexpected items still remain in namespace|[a-z0-9.-]+ (?:"[^"]*" )?is forbidden: |unable to transform key|failed to read one or more ` +
	`|ValidatingAdmissionPolicy '|the server (?:could not|was unable|has asked|is currently|rejected|does not allow|responded|has received) |storage is \(re\)initializing|Operation cannot be fulfilled |Timeout: |etcdserver: |rpc error: |an error on the server |client rate limiter |context deadline exceeded|unexpected EOF|(?:Get|Post|Delete|Put) "http)`)

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
		if at := from + comma; beginning().MatchString(content[at+2:]) {
			all, content, from = append(all, content[:at]), content[at+2:], 0
		} else {
			from = at + 2
		}
	}
}

// isCalledBy reports whether the error of a call has the URL or the Service of the webhook, or
// neither of any.
func (w *Webhook) isCalledBy(text string) bool {
	byURL, byName := strings.Contains(text, `"https://`), strings.Contains(text, `service "`)
	if w.Service == nil {
		return !byURL || strings.Contains(text, `"`+w.URL)
	}
	return !byURL && !byName ||
		byURL && strings.Contains(text, `"https://`+w.Service.Name+"."+w.Service.Namespace+".svc") ||
		byName && strings.Contains(text, `service "`+w.Service.Name+`"`)
}

// matchedOnce yields the first two groups of each match, each first group once, in the order of the
// text.
func matchedOnce(pattern *regexp.Regexp, text string) func(yield func(name, rest string) bool) {
	return func(yield func(string, string) bool) {
		seen := map[string]bool{}
		for _, one := range texts(text) {
			if match := about(pattern, one); match != nil && !seen[match[1]] {
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

// accused returns the findings about the webhooks that a text of the condition names and that
// select deletions of what remains. judge completes a finding and returns false to drop it. Several
// configurations may have a webhook of one name. hook is empty if none could be read.
func accused(e *Evidence, pattern *regexp.Regexp, judge func(f *Finding, hook *Webhook, name, text string) bool,
) (findings []Finding) {
	for name, text := range matchedOnce(pattern, e.condition(api.NamespaceDeletionContentFailure)) {
		if !e.Webhooks.Known() {
			f := Finding{Culprit: Reference{Resource: "validatingwebhookconfigurations", Name: name}}
			f.lack(e.Webhooks.Failed, "the webhook configurations could not be read")
			judge(&f, &Webhook{}, name, text)
			findings = append(findings, f)
		}
		hooks := filter(e.Webhooks.Items, func(w Webhook) bool {
			return w.Name == name && len(e.selected(w.Rules)) > 0 && w.NamespaceOnly.matches(e.labels())
		})
		for _, hook := range hooks {
			f := Finding{Culprit: Reference{Resource: hook.Resource, Name: hook.Configuration},
				Blocks: e.selected(hook.Rules)}
			f.saw(1, e.Webhooks.Request, "%s %s: webhook %s selects DELETE of %s", hook.Resource, hook.Configuration,
				name, f.Blocks[0].Resource)
			f.doubt(len(hooks) > 1, "%d configurations have a webhook of that name", len(hooks))
			if judge(&f, &hook, name, text) {
				findings = append(findings, f)
			}
		}
	}
	return findings
}

func webhookUnreachable(e *Evidence) []Finding {
	findings := accused(e, failedCalling(), func(f *Finding, hook *Webhook, name, text string) bool {
		f.Says = fmt.Sprintf("calls of the webhook %s fail", name)
		f.saw(1, e.Namespace.Request, "ContentFailure: failed calling webhook %q: %s", name, text)
		f.doubt(hook.Narrowed, "the webhook is not asked about every object")
		// Otherwise it was changed since, or the condition is about another webhook of that name.
		isIt := e.Webhooks.Known() && hook.FailurePolicy != "Ignore" && hook.isCalledBy(text)
		return isIt && hookIsDown(e, f, hook, text)
	})
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
	findings := accused(e, webhookDenied(), func(f *Finding, hook *Webhook, name, reason string) bool {
		f.lackPass(e, hook.Resource+" "+hook.Configuration, hook.Changed)
		f.lackDeletions(e)
		says := cmp.Or(reason, "without explanation")
		f.Says = fmt.Sprintf("the webhook %s denies the deletion: %s", name, says)
		f.saw(1, e.Namespace.Request, "ContentFailure: admission webhook %q denied the request: %s", name, says)
		return true
	})
	for _, one := range texts(e.condition(api.NamespaceDeletionContentFailure)) {
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
		f.lack(e.Policies.Failed, "the admission policies could not be read")
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
	if f.Blocks = e.selected(p.Rules); len(f.Blocks) == 0 || !p.NamespaceOnly.matches(e.labels()) {
		return f, false
	}
	f.lackDeletions(e)
	f.saw(1, e.Policies.Request, "policy %s and its binding exist, and select DELETE of %s", policy,
		f.Blocks[0].Resource)
	return f, true
}

// failedCalls are in the error of a call that reached no end: of a connection, or of a server that
// answered with something else than a review.
var failedCalls = []string{"x509: ", `Post "`, "connection refused", "context deadline exceeded", "no such host",
	"i/o timeout", "failed to call webhook: ", "received invalid webhook response"}

// noBackend matches the errors without a request.
var noBackend = lazyPattern(`no endpoints available|service "[^"]+" not found|no service port `)

// callFailed reports whether the error of a call says that a request failed.
func callFailed(text string) bool {
	return containsAny(text, failedCalls) && !noBackend().MatchString(text)
}

// unreachable adds to a finding why the server of a webhook cannot be called. service is nil for a
// server at a URL. text is the error of a call, or "". It returns false if the server is back.
func (e *Evidence) unreachable(f *Finding, service *Service, text string) bool {
	called := callFailed(text) // whatever is seen of the server
	if service == nil {
		f.doubt(!called, "the webhook has a URL, which was not called")
		return true
	}
	switch b := e.backend(*service); {
	case b == nil:
		f.lack(nil, "Service %s was not looked at", service)
	case b.Failed != nil:
		f.lack(b.Failed, "whether Service %s has a ready endpoint is not known", service)
	case b.Ready > 0 && called:
		f.lackPass(e, "Service "+service.String(), b.Changed)
		f.saw(1, b.Request, "Service %s has %s, and calls of it fail", service, words.Count(b.Ready, "ready endpoint"))
	case b.Ready > 0:
		return false
	case b.Exists:
		f.saw(1, b.Request, "Service %s has no ready endpoint", service)
		f.lackStart(e, b)
	default:
		f.saw(1, b.Request, "Service %s does not exist", service)
	}
	return true
}

// lackPass adds to a finding from a condition that something was changed after that was written,
// and that the controller may not have come back: so lately, or it is off.
func (f *Finding) lackPass(e *Evidence, what string, changed time.Time) {
	pass := time.Duration(0) // it ends at once unless calls run into their time limit
	if strings.Contains(e.condition(api.NamespaceDeletionContentFailure), "context deadline exceeded") {
		pass = backOffCap
	}
	began := changed.Add(pass) // a pass that began then or later confirms the condition
	confirmed := slices.ContainsFunc(e.Latest().Writers, func(w Writer) bool { return w.At.After(began) })
	ago := e.now().Sub(changed)
	passed := changed.IsZero() || ago >= 2*backOffCap && controllerOff(e, &Finding{}, namespaceController) == nil
	f.doubt(!confirmed && !passed, "%s was changed %s ago: the next pass of the controller may succeed",
		what, words.Duration(ago))
}

// lackDeletions does so for the objects whose deletion was denied, and for the namespace, whose
// labels may decide. An object with a newer resourceVersion than the namespace was written after
// its conditions.
func (f *Finding) lackDeletions(e *Evidence) {
	n := e.Latest()
	f.lackPass(e, "the namespace", n.Changed)
	version := func(text string) int {
		number, _ := strconv.Atoi(text) // 0 for a server that has others
		return number
	}
	for _, b := range f.Blocks {
		t := find(e.Types, func(t Type) bool { return t.Name() == b.Resource })
		written := func(o Object) bool {
			return e.moved(t, o) || version(o.ResourceVersion) > version(n.ResourceVersion)
		}
		if t.isRestless() {
			continue
		}
		f.doubt(t.Count > len(t.Objects), "not all %s were looked at: one may have been changed since", t.Name())
		if o := find(t.Objects, written); o != nil {
			f.lack(nil, "%s/%s was written or removed after the conditions: the next pass of the controller may "+
				"succeed", t.Name(), o.Name)
		}
	}
}

// lackStart adds to a finding that the pods behind a Service may be starting.
func (f *Finding) lackStart(e *Evidence, b *Backend) {
	age := e.At.Sub(b.Changed)
	f.doubt(b.Ready == 0 && b.Coming > 0 && age < startsWithin,
		"Service %s has %s without Ready, changed %s ago: a server may be starting",
		b.Service, words.Count(b.Coming, "endpoint"), words.Duration(age))
}

// conversions are in the answer to a list. A server that cannot fill its cache of a type names the
// type, and not always the reason; it fails in namespaces that have no such object, too.
var conversions = []string{"conversion webhook for ", "storage is (re)initializing: failed to list "}

// namesConversion reports whether the answer to a list may be about a conversion webhook.
func namesConversion(text string) bool { return containsAny(text, conversions) }

// BlamesConversion reports whether the list of a type names a conversion webhook.
func (e *Evidence) BlamesConversion() bool {
	return slices.ContainsFunc(e.Types,
		func(t Type) bool { return t.Failed != nil && namesConversion(t.Failed.Message) })
}

func conversionFails(e *Evidence) []Finding {
	var findings []Finding
	for i := range e.Types {
		t := &e.Types[i]
		if t.Failed == nil || !namesConversion(t.Failed.Message) {
			continue
		}
		f := Finding{Blocks: []Blocked{{Resource: t.Name()}}}
		f.saw(1, t.Failed.Request, "%d: %s", t.Failed.Code, t.Failed.Message)
		if e.converterIsDown(&f, t.Name(), t.Failed.Message) {
			f.lackFailure(e, t, namesConversion)
			findings = append(findings, f)
		}
	}
	return findings
}

// converterIsDown completes the finding about the conversion webhook of a type. text is the answer
// to a list. It returns false if there is no such type, if its server is back, or if that is not
// known and text has no failed call.
func (e *Evidence) converterIsDown(f *Finding, name, text string) bool {
	f.Culprit = Reference{Resource: "customresourcedefinitions", Name: name}
	f.Says = fmt.Sprintf("the conversion webhook of %s is down, so its objects can be neither listed nor "+
		"deleted, which blocks namespaces without such objects, too", name)
	if !strings.Contains(text, "conversion webhook for ") {
		text = "" // it is the error of no call
	}
	if !e.Definitions.Known() {
		f.lack(e.Definitions.Failed, "the CustomResourceDefinition could not be read")
		return callFailed(text)
	}
	definition := find(e.Definitions.Items, func(d Definition) bool { return d.Type == name })
	if definition == nil || definition.Converter == (ClientConfig{}) {
		return false
	}
	service, at := definition.Converter.Service, "URL "+definition.Converter.URL
	if service != nil {
		at = "Service " + service.String()
	}
	f.saw(1, e.Definitions.Request, "CustomResourceDefinition %s: strategy Webhook, %s", name, at)
	if !e.unreachable(f, service, text) || len(f.Missing) > 0 && !callFailed(text) {
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
