package why_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// The flags of the cluster go to the programs of a command, and not to names that are equal.
func TestTheClusterOfACommandWithTheNameOfAProgram(t *testing.T) {
	r := why.Report{Findings: []why.Finding{{
		Do:       []string{"scale it: kubectl -n kubectl scale deployment/a", "run orrery run; or kubectl"},
		Remedies: []why.Remedy{{Command: "kubectl -n kubectl get namespace kubectl -o json | jq '.a == \"kubectl\"' | kubectl replace -f -"}},
	}}}
	r.UseCluster("--context c")
	assert.Equal(t, []string{"scale it: kubectl --context c -n kubectl scale deployment/a", "run orrery run; or kubectl"}, r.Findings[0].Do)
	assert.Equal(t, "kubectl --context c -n kubectl get namespace kubectl -o json | jq '.a == \"kubectl\"' | kubectl --context c replace -f -", r.Findings[0].Remedies[0].Command)
}

// withoutRights is a namespace with an object whose owner runs and may not update it.
func withoutRights() why.Evidence {
	e := orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", "",
		why.Workload{Kind: "deployment", Namespace: "keda", Name: "keda-operator", Replicas: 1, Ready: 1, ServiceAccount: "operator"})
	for _, verb := range []string{"update", "patch", "list"} {
		e.Reviews = append(e.Reviews, why.Review{User: "system:serviceaccount:keda:operator", Verb: verb, Group: "keda.sh", Resource: "scaledobjects", Allowed: verb == "list"})
	}
	return e
}

// What the column "do this" advises is possible there, and --fix has the commands for it.
func TestTheCommandsOfAdvice(t *testing.T) {
	stopped := orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", "", why.Workload{Kind: "deployment", Namespace: "keda", Name: "keda-operator"})
	broken := orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", "", why.Workload{Kind: "daemonset", Namespace: "keda", Name: "keda-operator", Replicas: 2})
	excludes := func(operator string) string {
		return `kubectl get validatingwebhookconfigurations guard -o json | jq '(.webhooks[] | select(.name | IN("a.example.com", "b.example.com")) | ` +
			`.namespaceSelector.matchExpressions) ` + operator + ` [{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["shop"]}]' | kubectl replace -f -`
	}
	for name, test := range map[string]struct {
		evidence why.Evidence
		id       string
		do       string
		commands []string
	}{
		"a webhook without a server": {
			unreachable(), "C07", "exclude shop by a namespaceSelector",
			[]string{
				excludes("+="), "when the namespace is gone: " + excludes("-="),
				"only if the add-on is uninstalled: kubectl delete validatingwebhookconfigurations guard",
			},
		},
		"a policy": {denied(), "C08", "do what the policy asks for: annotate it first", []string{"kubectl -n shop get configmaps"}},
		"a node that does not exist": {
			onNode(), "C11", "see whether the pod-garbage-collector-controller of kube-controller-manager runs: it deletes the pods of nodes that do not exist",
			[]string{"kubectl get nodes"},
		},
		"a node that does not answer": {
			onNode(why.Node{Name: "n", Ready: "Unknown"}), "C11", "only after you have verified that the machine is off: kubectl taint nodes n node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
			[]string{
				"kubectl describe nodes n",
				"only after you have verified that the machine is off: kubectl taint nodes n node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
				"when the node is back: kubectl taint nodes n node.kubernetes.io/out-of-service=nodeshutdown:NoExecute-",
			},
		},
		"a Job's finalizer": {leftOver(), "C13", "⚠ as a last resort remove that finalizer by a JSON patch", []string{
			"kubectl -n shop describe pods import", `kubectl -n shop patch pods import --type=json -p '[{"op":"test","path":"/metadata/uid","value":"uid-import"},` +
				`{"op":"test","path":"/metadata/resourceVersion","value":"1"},{"op":"test","path":"/metadata/finalizers/0","value":"batch.kubernetes.io/job-tracking"},` +
				`{"op":"remove","path":"/metadata/finalizers/0"}]'`,
		}},
		"a Job's finalizer on a pod of a ReplicaSet": {ofReplicaSet(), "C13", "⚠ remove that finalizer by a JSON patch: no controller does", []string{"kubectl -n shop describe pods import"}},
		"a finalizer of the namespace": {audited(), "C16", "⚠ last resort: remove this one entry from metadata.finalizers", []string{
			`only if its owner, which is not known, does not come back: kubectl patch namespaces shop --type=json -p '[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/resourceVersion","value":"7"},` +
				`{"op":"test","path":"/metadata/finalizers/1","value":"example.com/audit"},{"op":"remove","path":"/metadata/finalizers/1"}]'`,
		}},
		"a controller without rights": {withoutRights(), "C06", "give service account keda/operator the right to update scaledobjects.keda.sh by a ClusterRoleBinding until the objects are gone, and delete it then", []string{
			"kubectl create clusterrole orrery-why-shop-keda-operator-scaledobjects.keda.sh --verb=get,list,watch,update,patch --resource=scaledobjects.keda.sh",
			"kubectl create clusterrolebinding orrery-why-shop-keda-operator-scaledobjects.keda.sh --clusterrole=orrery-why-shop-keda-operator-scaledobjects.keda.sh " +
				"--serviceaccount=keda:operator",
			"when the namespace is gone: kubectl delete clusterrolebinding,clusterrole orrery-why-shop-keda-operator-scaledobjects.keda.sh",
		}},
		"a definition":                     {defined(), "C25", "find out why keda-operator does not remove finalizer.keda.sh from scaledobjects.keda.sh/a", []string{"kubectl -n shop describe scaledobjects.keda.sh a"}},
		"a controller that is scaled down": {stopped, "C04", "kubectl -n keda scale deployment/keda-operator --replicas=1", []string{"kubectl -n keda scale deployment/keda-operator --replicas=1"}},
		"a controller that does not start": {broken, "C04", "find out why daemonset keda/keda-operator has no ready pod", []string{"kubectl -n keda describe daemonset keda-operator"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := find(why.Judge(test.evidence), test.id)
			require.NotNil(t, found)
			assert.Equal(t, why.Proven, found.Certainty, found.Missing)
			assert.True(t, slices.ContainsFunc(found.Do, func(do string) bool { return strings.HasPrefix(do, test.do) }), found.Do)
			var commands []string
			for _, r := range found.Remedies {
				command := r.Command
				if r.When != "" {
					command = r.When + ": " + command
				}
				commands = append(commands, command)
				if _, patch, is := strings.Cut(r.Command, "-p '"); is {
					assert.True(t, json.Valid([]byte(strings.TrimSuffix(patch, "'"))), patch)
				}
			}
			assert.Subset(t, commands, test.commands)
		})
	}
}

// The removal of one finalizer changes the object, so that the next one's command does not work.
func TestTwoRemovalsFromOneObject(t *testing.T) {
	e := audited()
	e.Namespace.Finalizers = append(e.Namespace.Finalizers, "example.com/bill")
	e.Second.Namespace = e.Namespace
	var whens []string
	for _, f := range why.Judge(e).Findings {
		for _, r := range f.Remedies {
			if strings.Contains(r.Command, "--type=json") {
				whens = append(whens, r.When)
			}
		}
	}
	assert.Equal(t, []string{"only if its owner, which is not known, does not come back",
		"instead of the removal above, after which --fix prints this one anew"}, whens)
}

// A name that looks like a flag is written behind its type.
func TestANameThatLooksLikeAFlag(t *testing.T) {
	e := calm(evidence(terminating("", ""), typeOf("", "configmaps", object("-dash", "example.com/x"))))
	var commands []string
	for _, r := range find(why.Judge(e), "C04").Remedies {
		commands = append(commands, r.Command)
	}
	assert.Contains(t, commands, "kubectl -n shop describe configmaps/'-dash'")
}

// A user without the right to Secrets has to name the groups of custom types.
func TestGroupsOfCustomTypes(t *testing.T) {
	e := calm(evidence(terminating("", ""), typeOf("", "pods"), typeOf("keda.sh", "scaledobjects"), typeOf("keda.sh", "scaledjobs"), typeOf("argoproj.io", "applications")))
	for i := range 4 {
		e.Types[i].Failed = &why.Failure{Request: "GET x", Code: 403, Message: "forbidden", Right: "list x"}
	}
	found := find(why.Judge(e), "C30")
	assert.Equal(t, "with --without secrets, name the groups of the custom types: --group keda.sh --group argoproj.io", found.Do[len(found.Do)-1])
}
