package e2e

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"orrery/upstream/controlplane"
)

// mostForAnEmptyNamespace is how many requests orrery may need for a namespace with nothing in it.
const mostForAnEmptyNamespace = 36

// What one namespace costs, in requests, on a control plane that puts nothing into it: no service account, no CA
// bundle.
func TestRequestsForEmptyNamespace(t *testing.T) {
	bare := onClusterWith(controlplane.Config{Controllers: []string{"garbage-collector-controller"}})
	tryEach(t, bare, func(tr *trial) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "empty"}}
		_, err := tr.client.CoreV1().Namespaces().Create(tr.ctx, namespace, metav1.CreateOptions{})
		require.NoError(tr.t, err)
		tr.t.Cleanup(func() { tr.explainFailure("empty") })
		require.Empty(tr.t, tr.content("empty"))

		deleted := time.Now()
		tr.deleteNamespace("empty")
		tr.awaitGone("empty")
		needed := requestsFor("empty", auditedAfter(tr.t, tr.cluster.Server, deleted))
		tr.state.note("requests", strconv.Itoa(len(needed)))
		if tr.cluster.subject.Name == Orrery().Name {
			assert.LessOrEqual(tr.t, len(needed), mostForAnEmptyNamespace, "%v", needed)
		}
	})
}

// requestsFor picks the requests for one namespace when no other is being deleted: those that are about it, and the
// discovery that belongs to it. That may arrive just before the first of them, if it is sent at the same time; what came
// earlier, within the grace period, was for something else.
func requestsFor(namespace string, all []request) []request {
	first := slices.IndexFunc(all, func(r request) bool { return r.concerns(namespace) })
	if first < 0 {
		return nil
	}
	begun := all[first].RequestReceivedTimestamp.Add(-time.Second)
	var needed []request
	for _, r := range all {
		if r.concerns(namespace) || r.discovers() && r.RequestReceivedTimestamp.After(begun) {
			needed = append(needed, r)
		}
	}
	return needed
}
