package e2e

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"orrery/controller/gears"
	"orrery/upstream/controlplane"
)

// mostForAnEmptyNamespace bounds the fast deleter's requests for an empty namespace.
const mostForAnEmptyNamespace = 36

// The requests for one namespace without default content: no service account, no CA bundle. It runs
// alone, because on a busy machine a pass may be repeated.
func TestRequestsForEmptyNamespace(t *testing.T) {
	bare := onClusterWith(controlplane.Config{Controllers: []string{"garbage-collector-controller"}})
	tryEach(t, bare, func(tr *trial) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "empty"}}
		_, err := tr.client.CoreV1().Namespaces().Create(tr.ctx, namespace, metav1.CreateOptions{})
		require.NoError(tr.t, err)
		tr.t.Cleanup(func() { tr.explainFailure("empty") })
		require.Empty(tr.t, tr.content("empty"))

		// The subject's requests at start are over.
		tr.eventually("the subject watches namespaces", func() (bool, error) {
			return slices.ContainsFunc(auditedAfter(tr.t, tr.cluster.Server, time.Time{}), func(r request) bool {
				return r.Verb == "watch" && r.ObjectRef.Resource == "namespaces" && strings.Contains(r.RequestURI, "allowWatchBookmarks=true")
			}), nil
		})
		deleted := time.Now()
		tr.deleteNamespace("empty")
		tr.awaitGone("empty")
		needed := requestsFor("empty", auditedAfter(tr.t, tr.cluster.Server, deleted))
		tr.state.note("requests", strconv.Itoa(len(needed)))
		if tr.cluster.subject.Name == Orrery().Name {
			assert.NotEmpty(tr.t, needed)
		}
		if tr.cluster.subject.Name == Orrery().Name && deleterForm() == gears.Fast {
			assert.LessOrEqual(tr.t, len(needed), mostForAnEmptyNamespace, "%v", needed)
		}
	})
}

// requestsFor returns the requests for one namespace while no other is being deleted, with its
// discovery, until it is finalized. On a slow machine another pass follows, which finds the
// namespace gone.
func requestsFor(namespace string, all []request) []request {
	var needed []request
	for _, r := range all {
		if r.concerns(namespace) || r.discovers() {
			needed = append(needed, r)
		}
	}
	finalized := slices.IndexFunc(needed, func(r request) bool {
		return r.ObjectRef.Subresource == "finalize" && r.ResponseStatus.Code == http.StatusOK
	})
	return needed[:finalized+1]
}
