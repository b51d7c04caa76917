package secondcontroller_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/secondcontroller"
	"orrery/restclient"
	"orrery/restclient/api"
)

// once calls a function with the first request of that method that is not about a canary that does not exist (that is how
// rights are asked for), and with no other.
func once(method string, then func(*http.Request) bool) func(*http.Request) bool {
	done := false
	return func(r *http.Request) bool {
		if r.Method != method || done || r.URL.RawQuery != "" {
			return false
		}
		done = true
		return then(r)
	}
}

// afterRights does nothing with the first request, which only asks whether there is the right.
func afterRights(then func(*http.Request) bool) func(*http.Request) bool {
	seen := 0
	return func(r *http.Request) bool {
		if r.Method == http.MethodDelete {
			seen++
		}
		return seen == 2 && then(r)
	}
}

// requireDeleted checks that there is one canary, and that it is being deleted.
func requireDeleted(t *testing.T, c *cluster) {
	t.Helper()
	canaries := c.canaries()
	require.Len(t, canaries, 1)
	assert.NotNil(t, canaries[0].DeletionTimestamp, "it would be there for ever")
}

// Whoever is stopped between making the canary and deleting it deletes it all the same.
func TestACanaryIsDeletedByOneThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		ctx, cancel := context.WithCancel(t.Context())
		c.forbidden = afterRights(func(r *http.Request) bool {
			cancel()
			select {
			case <-r.Context().Done():
				return true
			case <-time.After(time.Second):
				return false
			}
		})
		_, err := secondcontroller.Try(ctx, c.client, func(string) { t.Error("there is nobody to wait") })
		assert.ErrorIs(t, err, context.Canceled)
		requireDeleted(t, c)
	})
}

// One whose making was not answered may be there. It is deleted, and serves its purpose.
func TestACanaryWhoseMakingWasNotAnsweredIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.lost = once(http.MethodPost, func(*http.Request) bool { return true })
		evidence, err := secondcontroller.Try(t.Context(), c.client, func(string) {})
		require.NoError(t, err)
		assert.Equal(t, secondcontroller.Absent, evidence.Verdict, evidence.How)
		requireDeleted(t, c)
	})
}

// The request may even arrive when nobody waits for its answer any more.
func TestACanaryThatIsMadeLateIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		ctx, cancel := context.WithCancel(t.Context())
		c.lost = once(http.MethodPost, func(*http.Request) bool { cancel(); return true })
		_, err := secondcontroller.Try(ctx, c.client, func(string) { t.Error("there is nobody to wait") })
		assert.ErrorIs(t, err, context.Canceled)
		requireDeleted(t, c)
	})
}

// A deletion that is not answered is repeated.
func TestACanaryWhoseDeletionWasNotAnsweredIsDeleted(t *testing.T) {
	for name, done := range map[string]bool{"done": true, "not done": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				failing := afterRights(func(r *http.Request) bool { return r.Method == http.MethodDelete })
				c.lost = func(r *http.Request) bool {
					if !failing(r) {
						return false
					}
					if !done {
						panic(http.ErrAbortHandler)
					}
					return true
				}
				evidence, err := secondcontroller.Try(t.Context(), c.client, func(string) {})
				require.NoError(t, err)
				assert.Equal(t, secondcontroller.Absent, evidence.Verdict, evidence.How)
				requireDeleted(t, c)
			})
		})
	}
}

// One that was not made is no reason to wait.
func TestACanaryThatWasNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.forbidden = func(r *http.Request) bool {
			if r.Method == http.MethodPost {
				panic(http.ErrAbortHandler)
			}
			return false
		}
		evidence, err := secondcontroller.Try(t.Context(), c.client, func(string) { t.Error("there is nothing to wait for") })
		require.NoError(t, err)
		assert.Equal(t, secondcontroller.Unknown, evidence.Verdict)
		assert.Contains(t, evidence.How, "cannot be created")
		assert.Empty(t, c.canaries())
	})
}

// What a process has left behind that was killed is deleted by the next one, and nothing else.
func TestSweepDeletesWhatOthersLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		ours := object{"app.kubernetes.io/managed-by": "orrery"}
		left := secondcontroller.CanaryPrefix + "left"
		c.do("POST", "/api/v1/namespaces", object{"metadata": object{"name": left, "labels": ours}})
		c.do("POST", "/api/v1/namespaces", object{"metadata": object{"name": secondcontroller.CanaryPrefix + "of-somebody"}})
		c.do("POST", "/api/v1/namespaces", object{"metadata": object{"name": "other", "labels": ours}})
		assert.Equal(t, []string{left}, secondcontroller.Sweep(t.Context(), c.client))
		assert.Empty(t, secondcontroller.Sweep(t.Context(), c.client))
		namespaces, err := restclient.Metadata(c.client, api.NamespacesResource, "").List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		for _, namespace := range namespaces.Items {
			assert.Equal(t, namespace.Name == left, namespace.DeletionTimestamp != nil, namespace.Name)
		}
		c.forbidden = func(r *http.Request) bool { return true }
		assert.Empty(t, secondcontroller.Sweep(t.Context(), c.client), "who may not look has nothing to do")
	})
}
