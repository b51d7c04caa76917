package collect

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// A pod is a sign of life if one of its containers runs. The programs of a workload are also in its
// command lines.
func TestWorkloads(t *testing.T) {
	pod := func(state string) *api.Unstructured {
		return &api.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "ops", "name": "cd-1"},
			"spec": map[string]any{"serviceAccountName": "cd", "containers": []any{map[string]any{
				"name": "main", "image": "reg.corp:5000/platform/cd:2.11@sha256:1f",
				"command": []any{"sh", "-c", "exec /manager --leader-elect"}, "args": []any{"/usr/bin/argocd-application-controller", "--shard=1", "LOG=debug"},
			}}},
			"status": map[string]any{"phase": "Running", "containerStatuses": []any{map[string]any{"state": map[string]any{state: map[string]any{}}}}},
		}}
	}
	w := workload(why.PodKind, pod("running"))
	assert.Equal(t, why.Workload{
		Kind: "pod", Namespace: "ops", Name: "cd-1", Replicas: 1, Ready: 1, ServiceAccount: "cd",
		Words: []string{"main", "cd", "sh", "exec", "manager", "argocd-application-controller"},
	}, w)
	assert.Zero(t, workload(why.PodKind, pod("waiting")).Ready, "it crashes again and again")

	none := workload("deployment", &api.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(0)}}})
	assert.Zero(t, none.Replicas)
	assert.Equal(t, 1, workload("deployment", &api.Unstructured{Object: map[string]any{}}).Replicas)
	set := workload("daemonset", &api.Unstructured{Object: map[string]any{"status": map[string]any{"desiredNumberScheduled": int64(3), "numberReady": int64(2)}}})
	assert.Equal(t, []int{3, 2}, []int{set.Replicas, set.Ready})

	cron := func(suspended bool) why.Workload {
		return workload(why.CronKind, &api.Unstructured{Object: map[string]any{"spec": map[string]any{"suspend": suspended, "jobTemplate": map[string]any{
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "sweep"}}}}},
		}}}})
	}
	assert.Equal(t, []int{1, 0}, []int{cron(false).Replicas, cron(true).Replicas})
	assert.Contains(t, cron(false).Words, "sweep")
}

// A workload is down since its condition says so, else since its creation. A pod that has ended or
// ends does not start.
func TestSinceWhenAWorkloadIsDown(t *testing.T) {
	const created, since = "2026-01-02T03:04:05Z", "2026-01-02T04:00:00Z"
	o := func(condition string) *api.Unstructured {
		return &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"creationTimestamp": created}, "status": map[string]any{
			"conditions": []any{map[string]any{"type": condition, "status": "False", "lastTransitionTime": since}},
		}}}
	}
	assert.Equal(t, since, workload("deployment", o("Available")).Since.Format(time.RFC3339))
	assert.Equal(t, since, workload(why.PodKind, o("Ready")).Since.Format(time.RFC3339))
	assert.Equal(t, created, workload("statefulset", o("Other")).Since.Format(time.RFC3339))

	waits := map[string]any{"state": map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}},
		"lastState": map[string]any{"terminated": map[string]any{"startedAt": created, "finishedAt": since}}}
	crashing := &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"creationTimestamp": created}, "status": map[string]any{"containerStatuses": []any{waits}},
	}}
	assert.Equal(t, since, workload(why.PodKind, crashing).Since.Format(time.RFC3339), "when it last ran")

	for phase, may := range map[string]bool{"Pending": true, "Running": true, "Succeeded": false, "Failed": false} {
		pod := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{}, "status": map[string]any{"phase": phase}}}
		assert.Equal(t, may, mayRun(pod), phase)
		pod.Object["metadata"] = map[string]any{"deletionTimestamp": created}
		assert.False(t, mayRun(pod))
	}
}

// What a pod's specification says of its identity is seen wherever it stands.
func TestAWorkloadWithAKubeconfig(t *testing.T) {
	for spec, has := range map[string]bool{
		`{"containers":[{"args":["--leader-elect","--assets=/x"]}],"automountServiceAccountToken":true}`: false,
		`{"containers":[{"args":["--kubeconfig=/etc/admin.conf"]}]}`:                                     true,
		`{"containers":[{"command":["sh","-c","exec /x --kubeconfig $HOME/c"]}]}`:                        true,
		`{"containers":[{"args":["--as=system:admin"]}]}`:                                                true,
		`{"containers":[{"args":["--as","system:admin"]}]}`:                                              true,
		`{"containers":[{"args":["--token-file","/t"]}]}`:                                                true,
		`{"containers":[{"env":[{"name":"KUBECONFIG","value":"/x"}]}]}`:                                  true,
		`{"containers":[{"env":[{"name":"KUBE_CONFIG_PATH"}]}]}`:                                         true,
		`{"containers":[{"envFrom":[{"secretRef":{"name":"the-kubeconfig"}}]}]}`:                         true,
		`{"containers":[{"volumeMounts":[{"mountPath":"/root/.kube"}]}]}`:                                true,
		`{"volumes":[{"secret":{"secretName":"edge-kubeconfig"}}]}`:                                      true,
		`{"automountServiceAccountToken":false}`:                                                         true,
	} {
		var o api.Unstructured
		require.NoError(t, json.Unmarshal([]byte(`{"apiVersion":"v1","kind":"Pod","spec":`+spec+`}`), &o))
		assert.Equal(t, has, workload(why.PodKind, &o).Kubeconfig, spec)
	}
}

// The value of a flag is no program. An image may have a digest only.
func TestTheWordsOfACommandLine(t *testing.T) {
	assert.Equal(t, []string{"watch", "b"}, programsOf([]string{"watch", "--target", "watched-operator", "--deep=true", "b"}))
	assert.Equal(t, []string{"sh", "exec", "x"}, programsOf([]string{"sh", "-c", "exec /bin/x -v 3"}))
	pod := &api.Unstructured{Object: map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": "main", "image": "reg.corp/platform/cd@sha256:1f"}},
	}}}
	assert.Equal(t, []string{"main", "cd"}, workload(why.PodKind, pod).Words)
}

// Groups of service accounts are those of pods; another group is one of users.
func TestSubjectsOfBindings(t *testing.T) {
	subject := func(kind, name string) map[string]any { return map[string]any{"kind": kind, "name": name} }
	b := bindingOf(&api.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "shop"}, "subjects": []any{
		subject("Group", "system:serviceaccounts"), subject("Group", "system:serviceaccounts:ops"), subject("Group", "system:masters"),
		subject("ServiceAccount", "a"), subject("User", "jane"), subject("User", "system:serviceaccount:ops:b"),
	}}})
	var accounts []string
	for _, g := range b.subjects {
		accounts = append(accounts, g.Account())
	}
	assert.Equal(t, []string{"*/*", "ops/*", "/", "shop/a", "/", "ops/b"}, accounts)
	assert.Equal(t, "shop", b.namespace)
}

// A binding in another namespace gives a right there: that of a custom type shows who may be its
// owner.
func TestRightsInOtherNamespaces(t *testing.T) {
	rules := []rule{{role: "ClusterRole/r", group: "keda.sh"}, {role: "ClusterRole/r", group: "*"}, {role: "ClusterRole/r", group: "apps"}}
	subjects := []why.Grant{{Service: why.Service{Namespace: "ops", Name: "scaler"}}}
	var got []string
	for _, namespace := range []string{"", "shop", "team-b"} {
		for _, g := range granted(rules, []binding{{namespace: namespace, role: "ClusterRole/r", subjects: subjects}}, "shop") {
			got = append(got, namespace+": "+g.Group+" in "+g.Elsewhere)
		}
	}
	assert.Equal(t, []string{
		": keda.sh in ", ": * in ", ": apps in ", "shop: keda.sh in ", "shop: * in ", "shop: apps in ", "team-b: keda.sh in team-b",
	}, got)
}

// Who may act as others may have all rights.
func TestRulesOfRoles(t *testing.T) {
	rulesWith := func(group, resource string, verbs ...any) []rule {
		return roleRules(&api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "r"}, "rules": []any{
			map[string]any{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": verbs},
		}}})
	}
	assert.Empty(t, rulesWith("keda.sh", "scaledobjects", "get", "delete"))
	assert.Equal(t, []rule{{role: "ClusterRole/r", group: "keda.sh", resources: []string{"scaledobjects"}}}, rulesWith("keda.sh", "scaledobjects", "get", "patch"))
	assert.Equal(t, []rule{{role: "ClusterRole/r", group: "*", resources: []string{"*"}}}, rulesWith("", "serviceaccounts", "impersonate"))
}

// Every manager that has the finalizer among its fields has set it.
func TestWritersOfAFinalizer(t *testing.T) {
	entry := func(manager, finalizer string) map[string]any {
		return map[string]any{"manager": manager, "time": "2026-01-02T03:04:05Z", "fieldsV1": map[string]any{
			"f:metadata": map[string]any{"f:finalizers": map[string]any{`v:"` + finalizer + `"`: map[string]any{}}},
		}}
	}
	o := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"managedFields": []any{
		entry("a", "example.com/x"), entry("b", "example.com/y"), entry("c", "example.com/x"),
	}}}}
	stamp := why.Stamp{Finalizer: "example.com/x"}
	readStamp(o, &stamp)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	assert.Equal(t, []why.Writer{{Manager: "a", At: at}, {Manager: "c", At: at}}, stamp.Writers)
}

// The controller's conditions and tokens are no change of the namespace.
func TestWhenANamespaceWasChanged(t *testing.T) {
	var n api.Namespace
	require.NoError(t, json.Unmarshal([]byte(`{"metadata":{"managedFields":[
		{"manager":"kubectl-label","time":"2026-01-02T03:04:05Z","fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}}}},
		{"manager":"kubectl-create","time":"2026-01-02T03:04:01Z","fieldsV1":{"f:metadata":{"f:labels":{"f:b":{}}}}},
		{"manager":"kube-controller-manager","time":"2026-01-02T03:04:08Z","subresource":"status","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"NamespaceContentRemaining\"}":{}}}}},
		{"manager":"other","time":"2026-01-02T03:04:09Z","subresource":"status","fieldsV1":{"f:status":{"f:phase":{}}}}]}}`), &n))
	head := headOf(&n, "GET namespace")
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), head.Changed)
	assert.Equal(t, []why.Writer{{Manager: "kube-controller-manager", At: time.Date(2026, 1, 2, 3, 4, 8, 0, time.UTC)}}, head.Writers)
}

// What a controller writes to the status is no change of a configuration.
func TestWhenAnObjectWasChanged(t *testing.T) {
	o := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"managedFields": []any{
		map[string]any{"time": "2026-01-02T03:04:07Z"}, map[string]any{"time": "2026-01-02T03:04:05Z"},
		map[string]any{"time": "2026-01-02T03:04:09Z", "subresource": "status"},
	}}}}
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC), changedOf(o))
	assert.Zero(t, changedOf(&api.Unstructured{Object: map[string]any{}}))
}

// Running pods count for their service accounts. In the evidence are those only that may be an
// owner.
func TestPodsOfServiceAccounts(t *testing.T) {
	c, _ := asking(t, `{}`)
	e := &c.evidence
	pod := func(namespace, name, account string) why.Workload {
		return why.Workload{Kind: why.PodKind, Namespace: namespace, Name: name, ServiceAccount: account, Ready: 1}
	}
	crashing := pod("keda", "crashing", "keda")
	crashing.Ready, crashing.Replicas, e.At = 0, 1, time.Now()
	scaled := why.Type{Group: "keda.sh", Version: "v1", Resource: "scaledobjects"}
	held := []why.Held{{Type: &scaled, Finalizer: "finalizer.keda.sh"}}
	e.Workloads.Items = []why.Workload{
		{Kind: "deployment", Namespace: "web", Name: "shop", Ready: 2}, pod("keda", "keda-operator-1", "keda"), pod("keda", "x", "keda"), crashing,
		pod("keda", "y", ""), pod("other", "z", "keda"),
	}
	e.Grants.Items = []why.Grant{
		{Service: why.Service{Namespace: "keda", Name: "keda"}, Group: "keda.sh"}, {Service: why.Service{Namespace: "keda", Name: "default"}, Group: "keda.sh"},
		{Service: why.Service{Namespace: "keda", Name: "gone"}, Group: "keda.sh"}, {Subject: "user admin"},
		{Service: why.Service{Namespace: "keda", Name: "gone"}, Group: "*"}, {Service: why.Service{Namespace: "other", Name: "keda"}, Group: "*"},
		{Service: why.Service{Namespace: "keda", Name: "*"}}, {Service: why.Service{Namespace: "*", Name: "*"}, Group: "apps"},
	}
	c.pods(held)
	var pods []int
	for _, g := range e.Grants.Items {
		pods = append(pods, g.Pods)
	}
	assert.Equal(t, []int{2, 1, 0, 0, 1, 3, 4}, pods, "of the rights to all or to built-in types those without a pod are left out")
	var names []string
	for _, w := range e.Workloads.Items {
		names = append(names, w.Name)
	}
	assert.Equal(t, []string{"shop", "keda-operator-1"}, names)

	e.Workloads = why.Answer[why.Workload]{Failed: &why.Failure{Code: 403}}
	c.pods(held)
	assert.Equal(t, 403, e.Grants.Items[0].Failed.Code, "an account without a pod that is seen may have some")
	assert.Nil(t, e.Grants.Items[3].Failed)
}
