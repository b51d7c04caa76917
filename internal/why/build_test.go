package why_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// This page builds evidence: a namespace at a standstill, ten minutes after its deletion, and the
// situations that many tests begin with. Each call builds a new one, which a test may change.

var (
	deleted = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at      = deleted.Add(10 * time.Minute)
	later   = at.Add(10 * time.Second)
	noRight = &why.Failure{Request: "GET x", Code: 403, Message: `forbidden: User "u"`, Right: "list x"}
)

const (
	contentFailure   = api.NamespaceDeletionContentFailure
	discoveryFailure = api.NamespaceDeletionDiscoveryFailure
	jobTracking      = "batch.kubernetes.io/job-tracking"
	controller       = "system:serviceaccount:kube-system:namespace-controller"
)

// with is evidence after some changes.
func with(e why.Evidence, changes ...func(*why.Evidence)) why.Evidence {
	for _, change := range changes {
		change(&e)
	}
	return e
}

// condition is a condition of a namespace that has held for some time before the second sample.
func condition(kind api.NamespaceConditionType, status api.ConditionStatus, message string, ago time.Duration,
) api.NamespaceCondition {
	return api.NamespaceCondition{Type: kind, Status: status, Message: message,
		LastTransitionTime: api.NewTime(later.Add(-ago))}
}

// terminating is a terminating namespace with one condition that is True.
func terminating(kind api.NamespaceConditionType, message string) *why.Namespace {
	n := &why.Namespace{UID: "u", ResourceVersion: "7", Deleted: deleted, SpecFinalizers: []string{"kubernetes"},
		Request: "GET namespace"}
	if kind != "" {
		n.Conditions = []api.NamespaceCondition{{Type: kind, Status: api.ConditionTrue, Message: message}}
	}
	return n
}

// entries is a terminating namespace with these entries of metadata.finalizers and
// spec.finalizers.
func entries(metadata, tokens []string) *why.Namespace {
	n := terminating("", "")
	n.Finalizers, n.SpecFinalizers = metadata, tokens
	return n
}

// evidence is that of two samples at a standstill, with one type beside secrets, which are empty.
func evidence(n *why.Namespace, types ...why.Type) why.Evidence {
	types = append(types, why.Type{Version: "v1", Resource: "secrets", Request: "GET secrets"})
	again := *n
	return why.Evidence{
		Name: "shop", At: at, Namespace: n, Types: types,
		Discovery: why.Discovery{Request: "GET /apis"},
		Webhooks:  answered[why.Webhook]("GET webhooks"), Policies: answered[why.Policy]("GET policies"),
		Second: &why.Sample{At: later, Namespace: &again, Types: slices.Clone(types)},
	}
}

// plain is a namespace without a condition.
func plain(types ...why.Type) why.Evidence { return evidence(terminating("", ""), types...) }

// failing is a namespace with a text of ContentFailure.
func failing(text string, types ...why.Type) why.Evidence {
	return evidence(terminating(contentFailure, "Failed to delete all resource types, 1 remaining: "+text), types...)
}

// says replaces the text of a namespace's ContentFailure, in both samples.
func says(e why.Evidence, text string) why.Evidence {
	e.Namespace = failing(text).Namespace
	again, second := *e.Namespace, *e.Second
	second.Namespace = &again
	e.Second = &second
	return e
}

// conditioned gives both samples these conditions.
func conditioned(e why.Evidence, conditions ...api.NamespaceCondition) why.Evidence {
	for _, n := range []*why.Namespace{e.Namespace, e.Second.Namespace} {
		n.Conditions = slices.Clone(conditions)
	}
	return e
}

// calm gives both samples a condition that is False: a controller is at work.
func calm(e why.Evidence) why.Evidence {
	return conditioned(e, api.NamespaceCondition{Type: contentFailure, Status: api.ConditionFalse})
}

// withoutToken is evidence of a namespace that waits for an entry of its own only.
func withoutToken(e why.Evidence) why.Evidence {
	for _, n := range []*why.Namespace{e.Namespace, e.Second.Namespace} {
		n.Finalizers, n.SpecFinalizers = []string{"example.com/audit"}, nil
	}
	return e
}

// writtenBy says who wrote the conditions that the second sample has, and how long before the
// first.
func writtenBy(e *why.Evidence, manager string, ago time.Duration) {
	e.Second.Namespace.Writers = []why.Writer{{Manager: manager, At: at.Add(-ago)}}
}

// answered is an answer of the server with these items.
func answered[T any](request string, items ...T) why.Answer[T] {
	return why.Answer[T]{Request: request, Items: items}
}

// refused is an answer to a user without the right.
func refused[T any]() why.Answer[T] { return why.Answer[T]{Request: "GET x", Failed: noRight} }

// object is an object of the namespace; terminating with finalizers.
func object(name string, finalizers ...string) why.Object {
	o := why.Object{Name: name, UID: "uid-" + name, ResourceVersion: "1", Created: deleted.Add(-time.Hour),
		Finalizers: finalizers}
	if len(finalizers) > 0 {
		o.Deleted = deleted
	}
	return o
}

// created and ending are objects of other times after the deletion of the namespace.
func created(after time.Duration, name string, finalizers ...string) why.Object {
	o := object(name, finalizers...)
	o.Created = deleted.Add(after)
	return o
}

func ending(after time.Duration, name string, finalizers ...string) why.Object {
	o := object(name, finalizers...)
	o.Deleted = deleted.Add(after)
	return o
}

// dependent is an object whose owner waits for it.
func dependent(o why.Object, kind string, owner why.Object) why.Object {
	blocks := true
	o.Owners = append(o.Owners, api.OwnerReference{Kind: kind, Name: owner.Name, UID: owner.UID,
		BlockOwnerDeletion: &blocks})
	return o
}

func typeOf(group, resource string, objects ...why.Object) why.Type {
	t := why.Type{Group: group, Version: "v1", Resource: resource, Request: "GET " + resource, Count: len(objects),
		Objects: objects, Finalizers: map[string]int{}}
	for _, o := range objects {
		for _, f := range o.Finalizers {
			t.Finalizers[f]++
		}
	}
	return t
}

// unread is a type that cannot be listed.
func unread(group, resource string, code int, message string) why.Type {
	return why.Type{Group: group, Version: "v1", Resource: resource, Request: "GET " + resource,
		Failed: &why.Failure{Request: "GET " + resource, Code: code, Message: message}}
}

// add gives both samples further types.
func add(e why.Evidence, types ...why.Type) why.Evidence {
	e.Types = append(slices.Clone(e.Types), types...)
	e.Second.Types = append(slices.Clone(e.Second.Types), types...)
	return e
}

// lease is one of kube-system that was renewed some time before the first sample.
func lease(name string, ago time.Duration) why.Lease {
	return why.Lease{Namespace: "kube-system", Name: name, Holder: "a_1", Renewed: at.Add(-ago),
		Duration: 15 * time.Second}
}

// managed is evidence with the Lease of kube-controller-manager, and its pods.
func managed(e why.Evidence, ago time.Duration, managers ...why.Manager) why.Evidence {
	e.Managers = answered("GET pods", managers...)
	e.Leases = answered("GET leases", lease("kube-controller-manager", ago))
	return e
}

// unmanaged is evidence without any Lease, with pods of kube-controller-manager.
func unmanaged(e why.Evidence, managers ...why.Manager) why.Evidence {
	e.Managers, e.Leases = answered("GET pods", managers...), answered[why.Lease]("GET leases")
	return e
}

// kcm is a ready pod of kube-controller-manager, with a value of --controllers.
func kcm(controllers string) why.Manager {
	return why.Manager{Name: "kube-controller-manager-a", Ready: true, Controllers: controllers}
}

// leading is evidence with a kube-controller-manager at work, with a value of --controllers.
func leading(e why.Evidence, controllers string) why.Evidence {
	return calm(managed(e, 0, kcm(controllers)))
}

// workload is one with a single replica.
func workload(kind, namespace, name string, ready int, words ...string) why.Workload {
	return why.Workload{Kind: kind, Namespace: namespace, Name: name, Replicas: 1, Ready: ready, Words: words}
}

// since is a workload without a ready pod for some time.
func since(kind, name string, replicas int, ago time.Duration) why.Workload {
	return why.Workload{Kind: kind, Namespace: "ops", Name: name, Replicas: replicas, Since: at.Add(-ago)}
}

// stopped is a Deployment that was scaled down an hour ago.
func stopped(name string) why.Workload { return since("deployment", name, 0, time.Hour) }

// may is the right of a namespace's default account to update the types of a group.
func may(namespace, group string) why.Grant {
	return why.Grant{Service: why.Service{Namespace: namespace, Name: "default"}, Group: group,
		Resources: []string{"*"}}
}

// review is the answer to the question whether a user may do something.
func review(user, verb, group, resource string, allowed bool) why.Review {
	return why.Review{Refusal: why.Refusal{User: user, Verb: verb, Group: group, Resource: resource}, Allowed: allowed,
		Request: "POST review"}
}

// refuse adds the answers that a workload's account may list and not update the first type.
func refuse(e *why.Evidence, w why.Workload) {
	for _, verb := range []string{"update", "patch", "list"} {
		r := review(w.User(), verb, e.Types[0].Group, e.Types[0].Resource, verb == "list")
		r.Name = e.Types[0].Objects[0].Name
		e.Reviews = append(e.Reviews, r)
	}
}

// rule is that of a webhook or a policy.
func rule(operation, group, resource string) []why.Rule {
	return []why.Rule{{Operations: []string{operation}, Groups: []string{group}, Resources: []string{resource}}}
}

// hook is a webhook of a validating configuration, with a server.
func hook(configuration, name string, server why.Service, rules []why.Rule) why.Webhook {
	return why.Webhook{Resource: "validatingwebhookconfigurations", Configuration: configuration, Name: name,
		FailurePolicy: "Fail", ClientConfig: why.ClientConfig{Service: &server}, Rules: rules}
}

// bound is a policy with its binding.
func bound(rules []why.Rule) why.Answer[why.Policy] {
	return answered("GET policies", why.Policy{Name: "p", Rules: rules}, why.Policy{Name: "b", Binding: true, Of: "p"})
}

// server is an existing Service with ready endpoints; absent has none, and does not exist.
func server(s why.Service, ready int) why.Backend {
	return why.Backend{Service: s, Request: "GET slices", Exists: true, Ready: ready}
}

func absent(s why.Service) why.Backend { return why.Backend{Service: s, Request: "GET service"} }

// orphan is a namespace with an object that a finalizer keeps, and these workloads in the cluster.
func orphan(resource, group, finalizer string, workloads ...why.Workload) why.Evidence {
	e := plain(typeOf(group, resource, object("a", finalizer)))
	e.Workloads, e.Leases = answered("GET workloads", workloads...), answered[why.Lease]("GET leases")
	e.Grants = answered[why.Grant]("GET roles")
	return e
}

// keda is an object of a custom type without further rights, held is one whose owner may still
// update it.
func keda(owner ...why.Workload) why.Evidence {
	return orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", owner...)
}

func held(owner ...why.Workload) why.Evidence {
	e := keda(owner...)
	e.Grants.Items = []why.Grant{may("ops", "keda.sh")}
	return e
}

// heldTwice is held with a second object of the type.
func heldTwice(second string, owner ...why.Workload) why.Evidence {
	e := held(owner...)
	t := typeOf("keda.sh", "scaledobjects", e.Types[0].Objects[0], object("b", second))
	e.Types[0], e.Second.Types[0] = t, t
	e.Second.Types[0].Objects = slices.Clone(t.Objects)
	return e
}

// challenge is an object of cert-manager.
func challenge(workloads ...why.Workload) why.Evidence {
	return orphan("challenges", "acme.cert-manager.io", "acme.cert-manager.io/finalizer", workloads...)
}

// secrets is an object of External Secrets; refusedSecrets is one whose owner has lost its rights.
func secrets(workloads ...why.Workload) why.Evidence {
	return orphan("pushsecrets", "external-secrets.io", "pushsecret.externalsecrets.io/finalizer", workloads...)
}

func refusedSecrets(others ...why.Workload) why.Evidence {
	w := workload("deployment", "es", "external-secrets", 1)
	e := secrets(append([]why.Workload{w}, others...)...)
	refuse(&e, w)
	return e
}

// workflow is an object of Argo Workflows whose owner has lost its rights.
func workflow() why.Evidence {
	w := workload("deployment", "ops", "workflow-controller", 1)
	e := orphan("workflows", "argoproj.io", "workflows.argoproj.io/artifact-gc", w)
	refuse(&e, w)
	return e
}

// application has been waiting for Argo CD, which is at work, for three days.
func application() why.Evidence {
	e := orphan("applications", "argoproj.io", "resources-finalizer.argocd.argoproj.io",
		workload("deployment", "argocd", "argocd-application-controller", 1))
	e.Types[0].Objects[0].Deleted = deleted.Add(-72 * time.Hour)
	return calm(e)
}

// balanced is a Service with a load balancer.
func balanced(workloads ...why.Workload) why.Evidence {
	return orphan("services", "", "service.kubernetes.io/load-balancer-cleanup", workloads...)
}

// defined is a namespace with an object of a definition that is terminating, too.
func defined(owner ...why.Workload) why.Evidence {
	if len(owner) == 0 {
		owner = []why.Workload{stopped("keda-operator")}
	}
	e := held(owner...)
	e.Definitions = answered("GET crds", why.Definition{Type: "scaledobjects.keda.sh",
		Object: object("scaledobjects.keda.sh", "customresourcecleanup.apiextensions.k8s.io")})
	return e
}

// foreground is a namespace with an object, and an owner that waits for it.
func foreground(owner ...why.Workload) why.Evidence {
	e, top := held(owner...), object("top", "foregroundDeletion")
	e.Types[0].Objects[0] = dependent(e.Types[0].Objects[0], "X", top)
	return calm(add(e, typeOf("apps", "deployments", top)))
}

var guard = why.Service{Namespace: "guard", Name: "guard"}

// unreachable is a namespace whose ConfigMap a webhook without a Service keeps.
func unreachable() why.Evidence {
	e := failing(`Internal error occurred: failed calling webhook "b.example.com": no service`,
		typeOf("", "configmaps", object("a")))
	rules := rule("DELETE", "", "configmaps")
	e.Webhooks = answered("GET webhooks",
		hook("guard", "a.example.com", guard, rules), hook("guard", "b.example.com", guard, rules))
	e.Backends = []why.Backend{absent(guard)}
	return e
}

// calling is unreachable with another error of the call. Its Service has an endpoint.
func calling(text string) why.Evidence {
	e := says(unreachable(),
		`Internal error occurred: failed calling webhook "b.example.com": failed to call webhook: `+text)
	e.Backends[0] = server(guard, 1)
	return e
}

// posting is calling with an error of the transport.
func posting(text string) why.Evidence {
	return calling(`Post "https://guard.guard.svc:443/?timeout=10s": ` + text)
}

// hooks changes each webhook of a namespace.
func hooks(change func(*why.Webhook)) func(*why.Evidence) {
	return func(e *why.Evidence) {
		for i := range e.Webhooks.Items {
			change(&e.Webhooks.Items[i])
		}
	}
}

// atURL gives each webhook a URL.
func atURL(url string) func(*why.Evidence) {
	return hooks(func(h *why.Webhook) { h.Service, h.URL = nil, url })
}

// denied is a namespace whose ConfigMap a policy keeps; hookDenies is one of which a webhook does.
func denied() why.Evidence {
	e := failing(`configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `+
		`annotate it first`,
		typeOf("", "configmaps", object("a")))
	e.Policies = bound(rule("DELETE", "", "configmaps"))
	return e
}

func hookDenies() why.Evidence {
	return says(unreachable(), `admission webhook "b.example.com" denied the request: no`)
}

// unavailable is a namespace with a group version whose server, in a namespace, is not Available.
func unavailable(namespace string) why.Evidence {
	e := stale()
	e.APIServices.Items[0] = why.APIService{Name: "v1.g.io", GroupVersion: "g.io/v1",
		Service: &why.Service{Namespace: namespace, Name: "b"}, Available: "False", Reason: "MissingEndpoints"}
	return e
}

// behind gives the server of unavailable two endpoints that are not ready.
func behind(e why.Evidence, changed time.Duration, ready int) why.Evidence {
	b := server(*e.APIServices.Items[0].Service, ready)
	b.Coming, b.Changed = 2, at.Add(-changed)
	e.Backends = []why.Backend{b}
	return e
}

// stale is a namespace with a group version of which kube-apiserver has an old copy.
func stale() why.Evidence {
	e := evidence(terminating(discoveryFailure, "Discovery failed: g.io/v1: stale GroupVersion discovery: g.io/v1"))
	failed := map[string]string{"g.io/v1": "stale GroupVersion discovery: g.io/v1"}
	e.Discovery.Failed, e.Second.Discovery = failed, &why.Discovery{Failed: failed}
	e.APIServices = answered("GET apiservices", why.APIService{Name: "v1.g.io", GroupVersion: "g.io/v1",
		Service: &why.Service{Namespace: "a", Name: "b"}, Available: "True", Reason: "Passed"})
	return e
}

// undeleted is a namespace whose aggregated API server does not delete what it promises to.
func undeleted() why.Evidence {
	e := failing("unexpected items still remain in namespace: shop for gvr: agg.io/v1, Resource=things",
		typeOf("agg.io", "things", object("a")))
	s := why.Service{Namespace: "x", Name: "y"}
	e.APIServices = answered("GET apiservices",
		why.APIService{Name: "v1.agg.io", GroupVersion: "agg.io/v1", Service: &s, Available: "True"})
	b := server(s, 1)
	b.Changed = deleted.Add(-time.Hour)
	e.Backends = []why.Backend{b}
	return e
}

var converter = why.Service{Namespace: "a", Name: "b"}

// unconverted is a namespace with a type whose conversion webhook has no server.
func unconverted() why.Evidence {
	e := plain(unread("g.io", "things", 500, "conversion webhook for g.io/v1, Kind=Thing failed: Post: refused"))
	e.Definitions = answered("GET crds", why.Definition{Type: "things.g.io",
		Converter: why.ClientConfig{Service: &converter}})
	e.Backends = []why.Backend{absent(converter)}
	return e
}

// undecodable is a namespace with a type that the server cannot decrypt.
func undecodable() why.Evidence {
	return calm(plain(unread("", "configmaps", 500, `Internal error occurred: unable to transform key `+
		`"/registry/configmaps/shop/a": rpc error: code = Unavailable desc = connection error`)))
}

// pods is a namespace with these pods on the node n.
func pods(objects ...why.Object) why.Evidence {
	e := plain(typeOf("", "pods", objects...))
	for _, o := range objects {
		e.Pods = append(e.Pods, why.Pod{Object: o, Node: "n"})
	}
	return e
}

// onNode is a namespace with a late pod on the node n, and these nodes.
func onNode(nodes ...why.Node) why.Evidence {
	e := pods(ending(0, "a"))
	e.Nodes = answered("GET nodes", nodes...)
	return e
}

var ready = why.Node{Name: "n", Ready: "True"}

// kubelet is the Lease of the node n.
func kubelet(renewed time.Time) why.Answer[why.Lease] {
	return answered("GET leases", why.Lease{Namespace: "kube-node-lease", Name: "n", Holder: "n", Renewed: renewed,
		Duration: 40 * time.Second})
}

// onReadyNode is a namespace with these pods on a node that is Ready, and whose kubelet works.
func onReadyNode(objects ...why.Object) why.Evidence {
	e := pods(objects...)
	e.Nodes, e.Leases = answered("GET nodes", ready), kubelet(later)
	return e
}

// leftOver is a namespace with a pod of a Job that does not exist.
func leftOver() why.Evidence {
	pod := object("import", jobTracking)
	controls := true
	pod.Owners = []api.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "import", UID: "j",
		Controller: &controls}}
	e := pods(pod)
	return add(e, typeOf("batch", "jobs"))
}

// claim is a claim that its protection keeps.
func claim() why.Type {
	return typeOf("", "persistentvolumeclaims", object("data", "kubernetes.io/pvc-protection"))
}

// claimed is a namespace with a claim that nothing uses, whose controller is off.
func claimed() why.Evidence {
	return unmanaged(plain(claim(), typeOf("", "pods")), kcm("*,-persistentvolumeclaim-protection-controller"))
}

// withManagers is a namespace at a standstill, with pods of kube-controller-manager.
func withManagers(managers ...why.Manager) why.Evidence {
	return unmanaged(evidence(terminating(api.NamespaceContentRemaining,
		"Some resources are remaining: configmaps. has 1 resource instances"),
		typeOf("", "configmaps", object("a", "example.com/x"))), managers...)
}

// contradicted is a namespace whose conditions two controllers write, orrery first.
func contradicted() why.Evidence {
	e := evidence(terminating(api.NamespaceContentRemaining, "x"), typeOf("", "configmaps", object("a",
		"example.com/x")))
	e.Namespace.Writers = []why.Writer{{Manager: "orrery", At: at.Add(-5 * time.Second)}}
	e.Second.Namespace.Writers = []why.Writer{{Manager: "orrery", At: at.Add(time.Second)},
		{Manager: "kube-controller-manager", At: at.Add(8 * time.Second)}}
	e.Second.Namespace.Conditions = []api.NamespaceCondition{
		{Type: api.NamespaceContentRemaining, Status: api.ConditionFalse}}
	e.Second.Namespace.ResourceVersion = "9"
	e.Leases = answered("GET leases", lease("orrery", -10*time.Second))
	return e
}

// audited is a namespace with a finalizer of its own.
func audited(more ...string) why.Evidence {
	return evidence(entries(append([]string{"foregroundDeletion", "example.com/audit"}, more...),
		[]string{"kubernetes"}))
}

// collected is a namespace that is deleted in the foreground.
func collected() why.Evidence { return evidence(entries([]string{"foregroundDeletion"}, nil)) }

// A row is a situation and what is said of it.
type row struct {
	name   string
	e      why.Evidence
	change func(*why.Evidence) // nil: none
	want   string              // "C07 proven", "no C07", or a verdict
	words  []string
}

// is returns a row: the cause, or the verdict, and words of the finding and of the report, in the
// form of told. "!" before words: they are not there; "only": no other line begins so.
func is(name string, e why.Evidence, want string, words ...string) row {
	return row{name, e, nil, want, words}
}

// once returns a row in which a change makes the difference: before it, more is claimed.
func once(name string, e why.Evidence, change func(*why.Evidence), want string, words ...string) row {
	return row{name, e, change, want, words}
}

// judged checks each row of a table.
func judged(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if r.change != nil {
				before, _ := told(why.Judge(r.e), r.want)
				assert.Greater(t, rank(before), rank(r.want), "%s before the change", before)
				r.change(&r.e)
			}
			got, lines := told(why.Judge(r.e), r.want)
			assert.Equal(t, r.want, got, lines)
			for _, words := range r.words {
				assertTold(t, lines, words)
			}
		})
	}
}

// rank orders what is said of a cause, and verdicts, by how much they claim.
func rank(said string) int {
	return slices.IndexFunc([]string{"no ", "absent", " possible", " later", " proven", "stuck"},
		func(one string) bool { return strings.Contains(said, one) })
}

// assertTold checks that lines have the words of a row.
func assertTold(t *testing.T, lines, words string) {
	t.Helper()
	if words, not := strings.CutPrefix(words, "!"); not {
		assert.NotContains(t, lines, words)
		return
	}
	if only, exact := strings.CutPrefix(words, "only "); exact {
		kind, _, _ := strings.Cut(only, ": ")
		var all []string
		for line := range strings.SplitSeq(lines, "\n") {
			if rest, is := strings.CutPrefix(line, kind+": "); is {
				all = append(all, rest)
			}
		}
		assert.Equal(t, only, kind+": "+strings.Join(all, " | "), lines)
		return
	}
	assert.Contains(t, lines, words)
}

// told returns what a report says of the cause in want, and every line of it: of the report, and
// of the cause if it is named.
func told(r why.Report, want string) (got, lines string) {
	var all strings.Builder
	say := func(kind string, texts ...string) {
		for _, text := range texts {
			fmt.Fprintf(&all, "%s: %s\n", kind, text)
		}
	}
	say("verdict", fmt.Sprintf("%s, exit %d", r.Verdict, r.ExitCode))
	say("sentence", r.Sentence)
	for _, f := range r.Findings {
		say("found", fmt.Sprintf("%s %s %s", f.ID, f.Certainty, f.Culprit))
	}
	id := strings.Fields("no " + strings.TrimPrefix(want, "no "))[1]
	if !strings.HasPrefix(id, "C") {
		return string(r.Verdict), all.String()
	}
	at := slices.IndexFunc(r.Findings, func(f why.Finding) bool { return f.ID == id })
	if at < 0 {
		return "no " + id, all.String()
	}
	f := r.Findings[at]
	say("says", f.Says)
	if f.Owner != nil {
		say("owner", fmt.Sprintf("%s, %s", f.Owner.Name, f.Owner.State))
	}
	for _, b := range f.Blocks {
		say("blocks", fmt.Sprintf("%d %s: %s", b.Count, b.Resource, strings.Join(b.Examples, ", ")))
	}
	for _, p := range f.Proof {
		say("proof", p.Says)
		say(fmt.Sprintf("proof %d", p.Sample), p.Says)
	}
	say("missing", f.Missing...)
	say("do", f.Do...)
	for _, remedy := range f.Remedies {
		say("run", strings.TrimPrefix(remedy.When+": "+remedy.Command, ": "))
		if remedy.Loses != "" {
			say("loses", remedy.Loses)
		}
	}
	return f.ID + " " + string(f.Certainty), all.String()
}

// find returns the finding of a cause, nil if the report does not have it.
func find(r why.Report, id string) *why.Finding {
	at := slices.IndexFunc(r.Findings, func(f why.Finding) bool { return f.ID == id })
	if at < 0 {
		return nil
	}
	return &r.Findings[at]
}
