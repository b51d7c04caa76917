package collect

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
}

// Running pods count for their service accounts. In the evidence are those only that may be an
// owner.
func TestPodsOfServiceAccounts(t *testing.T) {
	c, _ := asking(t, `{}`)
	e := &c.evidence
	pod := func(namespace, name, account string) why.Workload {
		return why.Workload{Kind: why.PodKind, Namespace: namespace, Name: name, ServiceAccount: account, Ready: 1}
	}
	scaled := why.Type{Group: "keda.sh", Version: "v1", Resource: "scaledobjects"}
	held := []why.Held{{Type: &scaled, Finalizer: "finalizer.keda.sh"}}
	e.Workloads.Items = []why.Workload{
		{Kind: "deployment", Namespace: "web", Name: "shop", Ready: 2}, pod("keda", "keda-operator-1", "keda"), pod("keda", "x", "keda"),
		pod("keda", "y", ""), pod("other", "z", "keda"),
	}
	e.Grants.Items = []why.Grant{
		{Service: why.Service{Namespace: "keda", Name: "keda"}}, {Service: why.Service{Namespace: "keda", Name: "default"}},
		{Service: why.Service{Namespace: "keda", Name: "gone"}}, {Subject: "user admin"},
	}
	c.pods(held)
	var pods []int
	for _, g := range e.Grants.Items {
		pods = append(pods, g.Pods)
	}
	assert.Equal(t, []int{2, 1, 0, 0}, pods)
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
