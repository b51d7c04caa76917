package why_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// Situations in which a cause is nearly there. None of them may be proven, because users act on
// what is proven.
func TestUnusualSituations(t *testing.T) {
	ready := func(name, account string) why.Workload {
		return why.Workload{Kind: "deployment", Namespace: "apps", Name: name, Replicas: 1, Ready: 1, ServiceAccount: account}
	}
	lacks := func(account string) []why.Review {
		review := why.Review{User: "system:serviceaccount:apps:" + account, Verb: "update", Group: "argoproj.io", Resource: "applications"}
		patch := review
		patch.Verb = "patch"
		return []why.Review{review, patch}
	}
	argocd := orphan("applications", "argoproj.io", "resources-finalizer.argocd.argoproj.io", "", ready("argocd-server", "server"))
	argocd.Reviews = lacks("server")
	machines := orphan("machines", "cluster.x-k8s.io", "machine.cluster.x-k8s.io", "", ready("landscape", "web"))
	machines.Reviews = lacks("web")
	for i := range machines.Reviews {
		machines.Reviews[i].Group, machines.Reviews[i].Resource = "cluster.x-k8s.io", "machines"
	}

	expired := withManagers()
	expired.Leases.Items = []why.Lease{{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "old", Renewed: deleted.Add(-24 * time.Hour), Duration: 15 * time.Second}}
	for _, n := range []*why.Namespace{expired.Namespace, expired.Second.Namespace} {
		n.Writers = []why.Writer{{Manager: "k3s", At: deleted.Add(time.Minute)}}
	}

	dying := object("a", "batch.kubernetes.io/job-tracking")
	dying.Deleted = later.Add(time.Minute)
	dying.Owners = []why.Owner{{Kind: "Job", Name: "j", UID: "gone"}}
	counted := evidence(terminating("", ""), typeOf("", "pods", dying), typeOf("batch", "jobs"))
	counted.Pods = []why.Pod{{Object: dying, Node: "n", Running: []string{"c"}}}

	soon := func(metadata, token string) why.Evidence {
		n := terminating("", "")
		n.Deleted = at.Add(-15 * time.Second)
		n.Finalizers, n.SpecFinalizers = []string{metadata}, []string{token}
		return evidence(n)
	}

	metrics := evidence(terminating(discoveryFailure, "Discovery failed: custom.metrics.k8s.io/v1beta1: stale GroupVersion discovery: custom.metrics.k8s.io/v1beta1"))
	metrics.Discovery.Failed = map[string]string{"metrics.k8s.io/v1beta1": "stale"}
	metrics.Second.Failed = metrics.Discovery.Failed
	metrics.APIServices = answered("GET apiservices", why.APIService{
		Name: "v1beta1.metrics.k8s.io", GroupVersion: "metrics.k8s.io/v1beta1", Service: &why.Service{Namespace: "a", Name: "b"}, Available: "False", Reason: "MissingEndpoints",
	})

	const unexpected = "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: shop for gvr: g.io/v1, Resource=dbs"
	plural := evidence(terminating(contentFailure, unexpected), typeOf("g.io", "db", object("t")))

	beyond := orphan("configmaps", "", "example.com/x", "backup", why.Workload{Kind: "deployment", Namespace: "b", Name: "backup", Replicas: 1})
	beyond.Second.Types = []why.Type{{Version: "v1", Resource: "configmaps", Count: 900, Partial: true}}

	young := terminating("", "")
	young.Deleted = at.Add(-15 * time.Second)

	for name, test := range map[string]struct {
		evidence why.Evidence
		not      string
	}{
		"no condition, seconds after the deletion":                     {evidence(young), "C19"},
		"another part of the owner runs, and needs no such right":      {argocd, "C06"},
		"a workload whose name has the owner's letters":                {machines, "C06"},
		"a binary called manager, and a workload that is switched off": {orphan("things", "g.io", "g.io/x", "manager", why.Workload{Kind: "deployment", Name: "cert-manager", Replicas: 1}), "C04"},
		"a client library, and a workload that is switched off":        {orphan("things", "g.io", "g.io/x", "python-requests", why.Workload{Name: "python-requests-test", Replicas: 1}), "C04"},
		"a workload that has only a part of the owner's name":          {orphan("things", "g.io", "g.io/x", "acme-database-operator", why.Workload{Kind: "deployment", Name: "acme", Replicas: 1}), "C04"},
		"one of three managers has the controller switched off":        {withManagers(why.Manager{Name: "a", Ready: true, Controllers: "*,-namespace"}, why.Manager{Name: "b", Ready: true}), "C19"},
		"an expired Lease of a manager that writes conditions since":   {expired, "C19"},
		"a job's pod within its grace period":                          {counted, "C13"},
		"a finalizer of the namespace, seconds after the deletion":     {soon("example.com/x", "kubernetes"), "C16"},
		"a token of the namespace, seconds after the deletion":         {soon("", "example.com/x"), "C18"},
		"the condition names a group that ends alike":                  {metrics, "C01"},
		"the condition names a type that begins alike":                 {plural, "C22"},
		"an object behind the first page of the second sample":         {beyond, "C04"},
	} {
		t.Run(name, func(t *testing.T) {
			report := why.Judge(test.evidence)
			for _, found := range report.Findings {
				assert.False(t, found.ID == test.not && found.Certainty == why.Proven, "%s: %v", found.Says, found.Proof)
			}
		})
	}
}

// The API server quotes the name of a user, also what is special in it.
func TestRefusalsOfUnusualUsers(t *testing.T) {
	const text = `configmaps "a" is forbidden: User "CORP\\ctl \"x\"" cannot delete resource "configmaps" in API group "" in the namespace "shop"`
	refusals := why.Refusals(terminating(contentFailure, text), "shop")
	assert.Equal(t, []why.Refusal{{User: `CORP\ctl "x"`, Verb: "delete", Resource: "configmaps"}}, refusals)
}

// What keeps the namespace itself acts only when it is empty.
func TestEntriesOfTheNamespaceActLater(t *testing.T) {
	n := terminating("", "")
	n.Finalizers, n.SpecFinalizers = []string{"example.com/audit", "foregroundDeletion"}, []string{"kubernetes", "example.com/x"}
	e := evidence(n, typeOf("", "configmaps", object("a")))
	e.Leases = answered[why.Lease]("GET leases")
	e.Managers = answered("GET pods", why.Manager{Name: "kcm", Ready: true, Controllers: "*,-garbagecollector"})
	for _, id := range []string{"C16", "C17", "C18"} {
		found := find(why.Judge(e), id)
		require.NotNil(t, found, id)
		assert.Equal(t, why.Later, found.Certainty, id)
	}
	e.Types, e.Second.Types = e.Types[1:], nil
	for _, id := range []string{"C16", "C17", "C18"} {
		assert.Equal(t, why.Proven, find(why.Judge(e), id).Certainty, id)
	}
}

// A type that cannot be listed acts only after the pods: the controller deletes no other type
// before them.
func TestUnlistedTypesThatDoNotMatterYet(t *testing.T) {
	corrupt := evidence(terminating("", ""), typeOf("", "configmaps"))
	corrupt.Types[0].Failed = &why.Failure{Code: 500, Request: "GET configmaps", Message: `unable to transform key "/registry/configmaps/shop/a"`}
	require.Equal(t, []string{"configmaps could be read in the second sample"}, find(why.Judge(corrupt), "C23").Missing)
	corrupt.Second.Types[0].Failed = corrupt.Types[0].Failed
	for id, e := range map[string]why.Evidence{"C09": situations()["C09"].proven, "C23": corrupt} {
		require.Equal(t, why.Proven, find(why.Judge(e), id).Certainty)
		pods := e
		pods.Types = append(slices.Clone(e.Types), typeOf("", "pods", object("p")))
		assert.Equal(t, why.Later, find(why.Judge(pods), id).Certainty)
		next := object("s")
		next.Deleted = deleted.Add(time.Second)
		pods.Types = append(pods.Types, typeOf("", "services", next))
		assert.Equal(t, why.Proven, find(why.Judge(pods), id).Certainty, "the controller does not wait for the pods any more")
	}
}

// Without the controller's token the namespace does not wait for its content, so nothing that keeps
// the content keeps the namespace.
func TestContentWithoutTheToken(t *testing.T) {
	audited := func(e why.Evidence) why.Evidence {
		for _, n := range []*why.Namespace{e.Namespace, e.Second.Namespace} {
			n.Finalizers, n.SpecFinalizers = []string{"example.com/audit"}, nil
		}
		return e
	}
	all := situations()
	for id, e := range map[string]why.Evidence{
		"C03": all["C03"].proven, "C07": unreachable(), "C08": denied(), "C09": all["C09"].proven, "C11": onNode(), "C12": all["C12"].proven,
		"C13": leftOver(), "C22": all["C22"].proven, "C25": defined(), "C28": all["C28"].proven,
		"C04": orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", ""),
	} {
		require.NotNil(t, find(why.Judge(e), id), id)
		report := why.Judge(audited(e))
		require.Len(t, report.Findings, 1, id)
		assert.Equal(t, "C16", report.Findings[0].ID, id)
		assert.NotContains(t, report.Sentence, "waits for", id)
	}
}

// A controller that has lost its role is refused for every type: that is one finding for each verb,
// with the commands that lend it the right.
func TestARightThatLacksForManyTypes(t *testing.T) {
	const user = "system:serviceaccount:kube-system:namespace-controller"
	refusal := func(verb, resource, group string) string {
		return resource + ` is forbidden: User "` + user + `" cannot ` + verb + ` resource "` + resource + `" in API group "` + group + `" in the namespace "shop"`
	}
	e := evidence(terminating(contentFailure, "Failed to delete all resource types, 4 remaining: "+strings.Join([]string{
		refusal("deletecollection", "configmaps", ""), refusal("deletecollection", "secrets", ""), refusal("deletecollection", "deployments", "apps"),
		refusal("list", "pods", ""),
	}, ", ")), typeOf("", "configmaps", object("a")), typeOf("apps", "deployments", object("d")))
	review := func(verb, resource string, allowed bool) why.Review {
		return why.Review{User: user, Verb: verb, Resource: resource, Request: "POST review", Allowed: allowed}
	}
	e.Reviews = []why.Review{review("deletecollection", "configmaps", false), review("list", "pods", true)}
	report := why.Judge(e)
	require.Len(t, report.Findings, 1, "the right to list was restored since")
	found := report.Findings[0]
	assert.Equal(t, "user "+user+" may not deletecollection configmaps, deployments.apps and secrets", found.Says)
	assert.Equal(t, why.Proven, found.Certainty)
	assert.Len(t, found.Blocks, 2)
	var commands []string
	for _, r := range found.Remedies {
		commands = append(commands, strings.TrimPrefix(r.When+": "+r.Command, ": "))
	}
	assert.Subset(t, commands, []string{
		"kubectl create clusterrole orrery-why-shop-namespace-controller-configmaps --verb=list,delete,deletecollection --resource=configmaps,secrets,deployments.apps,pods",
		"kubectl create clusterrolebinding orrery-why-shop-namespace-controller-configmaps " +
			"--clusterrole=orrery-why-shop-namespace-controller-configmaps --serviceaccount=kube-system:namespace-controller",
		"when the namespace is gone: kubectl delete clusterrolebinding,clusterrole orrery-why-shop-namespace-controller-configmaps",
	})
	e.APIServices.Items = []why.APIService{{GroupVersion: "metrics.k8s.io/v1", Service: &why.Service{Namespace: "a", Name: "b"}}}
	assert.Len(t, why.Judge(e).Findings, 1, "another group is that of another server")
	e.Reviews[0].Failed = &why.Failure{Code: 500, Message: "no"}
	assert.Equal(t, why.Possible, find(why.Judge(e), "C21").Certainty, "a review without an answer does not agree")
	e.Reviews = nil
	for _, found := range why.Judge(e).Findings {
		assert.Equal(t, why.Possible, found.Certainty)
	}
	assert.Len(t, why.Judge(e).Findings, 2)
}

// An aggregated server refuses what it may not ask about: a review of the controller's right agrees
// with the controller.
func TestARefusalOfAnAggregatedServer(t *testing.T) {
	e := evidence(terminating(contentFailure, `things.g.io is forbidden: User "system:kcm" cannot list resource "things" in API group "g.io" in the namespace "shop"`),
		why.Type{Group: "g.io", Version: "v1", Resource: "things", Request: "GET things"})
	e.Reviews = []why.Review{{User: "system:kcm", Verb: "list", Group: "g.io", Resource: "things", Allowed: true, Request: "POST review"}}
	assert.Nil(t, find(why.Judge(e), "C21"), "the right was restored since")
	e.APIServices = answered("GET apiservices", why.APIService{GroupVersion: "g.io/v1", Service: &why.Service{Namespace: "a", Name: "b"}})
	found := find(why.Judge(e), "C21")
	require.NotNil(t, found)
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Contains(t, found.Missing[0], "the server behind that group may lack the right to ask about it")
	assert.Equal(t, why.Unknown, why.Judge(e).Verdict)
	for _, remedy := range found.Remedies {
		assert.NotContains(t, remedy.Command, "create", "the controller has its rights")
	}
	assert.Equal(t, []string{"let the server behind Service a/b ask about rights: kubectl create clusterrolebinding NAME " +
		"--clusterrole=system:auth-delegator --serviceaccount=a:ACCOUNT"}, found.Do)
}

// Types of which there are objects come first among those that were refused.
func TestRefusalsOfTypesWithoutObjects(t *testing.T) {
	var all []string
	for _, resource := range []string{"a", "b", "c", "d", "e", "secrets"} {
		all = append(all, `x is forbidden: User "u" cannot list resource "`+resource+`" in API group "" in the namespace "shop"`)
	}
	e := evidence(terminating(contentFailure, strings.Join(all, ", ")), typeOf("", "secrets", object("s")))
	assert.Regexp(t, "^user u may not list secrets, a", find(why.Judge(e), "C21").Says)
}

// Names in a refusal are those of whatever server wrote it: a shell must not read them.
func TestARightOfAnUnusualUser(t *testing.T) {
	refused := func(resource string) why.Evidence {
		return evidence(terminating(contentFailure,
			`x is forbidden: User "CORP\\ctl;id" cannot list resource "`+resource+`" in API group "" in the namespace "shop"`))
	}
	_, lines := advice(t, refused("xs"), "C21")
	assert.Contains(t, lines, "kubectl create clusterrole 'orrery-why-shop-ctl;id-xs' --verb=list,delete,deletecollection --resource=xs\n")
	assert.Contains(t, lines, `--clusterrole='orrery-why-shop-ctl;id-xs' --user='CORP\ctl;id'`)
	_, lines = advice(t, refused("x;reboot"), "C21")
	assert.NotContains(t, lines, "create clusterrole ", "what is no name of a type has no command")
}
