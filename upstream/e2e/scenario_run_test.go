package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A dry run reads everything, reports what it would do, and writes nothing.
func TestDryRunWritesNothing(t *testing.T) {
	onEachVacant(t, func(tr *trial, kubeconfig string) {
		t := tr.t
		tr.createNamespace("examined")
		tr.createConfigMap("examined", "content")
		tr.createSecret("examined", "content")
		tr.deleteNamespace("examined")
		before, content := tr.namespace("examined"), tr.content("examined")

		started := time.Now()
		orrery := runOrrery(t, kubeconfig, "--dry-run", "-v1", "--log-format=json")
		orrery.AwaitOutput(`"pass done"`, `"examined"`)
		orrery.Interrupt()
		require.Equal(t, exitInterrupted, orrery.AwaitExit())

		requests := auditedAfter(t, tr.cluster.Server, started)
		require.NotEmpty(t, requests)
		for _, r := range requests {
			if r.ObjectRef.APIGroup != "authorization.k8s.io" { // an access review is a create that stores nothing
				assert.Contains(t, []string{"get", "list", "watch"}, r.Verb, "%s", r)
			}
		}
		assert.True(t, slices.ContainsFunc(requests, func(r request) bool {
			return r.Verb == "list" && r.ObjectRef.Namespace == "examined" && r.ObjectRef.Resource == "configmaps"
		}), "the content was looked at")
		assert.Equal(t, before, tr.namespace("examined"), "the namespace is untouched")
		assert.Equal(t, content, tr.content("examined"), "its content is untouched")
		for _, would := range []string{`"configmaps"`, `"secrets"`, `"serviceaccounts"`} {
			orrery.RequireOutput("dry run: would delete", would)
		}
	})
}

// Watches over websocket have the same result.
func TestWatchOverWebSocket(t *testing.T) {
	onEachVacant(t, func(tr *trial, kubeconfig string) {
		t := tr.t
		watches := func(since time.Time) []request {
			return slices.DeleteFunc(auditedAfter(t, tr.cluster.Server, since), func(r request) bool {
				return r.Verb != "watch"
			})
		}
		started := time.Now()
		orrery := runOrrery(t, kubeconfig, "--watch-transport=websocket", "-v1")
		tr.eventually("orrery watches", func() (bool, error) { return len(watches(started)) > 0, nil })

		// Only a watch event can announce this namespace: it did not exist when orrery started.
		tr.createNamespace("by-websocket")
		tr.createConfigMap("by-websocket", "content")
		tr.deleteNamespace("by-websocket")
		tr.awaitGone("by-websocket")
		orrery.Interrupt()
		require.Equal(t, exitInterrupted, orrery.AwaitExit())
		tr.eventually("the server knows that the watches have ended", func() (bool, error) {
			return !slices.ContainsFunc(watches(started), func(r request) bool { return r.ResponseStatus.Code == 0 }), nil
		})
		for _, r := range watches(started) {
			assert.Equal(t, 101, r.ResponseStatus.Code, "every watch has switched protocols: %s", r)
		}
	})
}

// Ctrl-C lets running passes finish, and then ends the program.
func TestInterruptDrains(t *testing.T) {
	onEachVacant(t, func(tr *trial, kubeconfig string) {
		t := tr.t
		through, blocker := tr.fillBehindRelay("draining", kubeconfig)
		orrery := runOrrery(t, through, "-v1")
		tr.deleteNamespace("draining")
		blocker.AwaitReached()
		orrery.Interrupt()
		orrery.AwaitOutput("stopping")
		require.True(t, orrery.Running(), "it waits for the running pass")

		blocker.Release()
		assert.Equal(t, exitInterrupted, orrery.AwaitExit())
		_, err := tr.client.CoreV1().Namespaces().Get(t.Context(), "draining", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "the namespace was finished before the program ended: %v", err)
	})
}

// A second Ctrl-C ends the program at once.
func TestSecondInterruptExitsAtOnce(t *testing.T) {
	onEachVacant(t, func(tr *trial, kubeconfig string) {
		t := tr.t
		through, blocker := tr.fillBehindRelay("abandoned", kubeconfig)
		orrery := runOrrery(t, through, "-v1")
		tr.deleteNamespace("abandoned")
		blocker.AwaitReached()
		orrery.Interrupt()
		orrery.AwaitOutput("stopping")
		orrery.Interrupt()
		assert.Equal(t, exitInterrupted, orrery.AwaitExit())
		assert.NotContains(t, orrery.Output(), "goroutine ")
		assert.Contains(t, tr.content("abandoned")["configmaps"], "object-00", "the blocker was active until the end")
	})
}

// When running passes take longer than the limit, the program gives up and still ends in order.
func TestDrainingIsBounded(t *testing.T) {
	onEachVacant(t, func(tr *trial, kubeconfig string) {
		t := tr.t
		through, blocker := tr.fillBehindRelay("endless", kubeconfig)
		orrery := runOrrery(t, through, "-v1", "--shutdown-timeout=1s")
		tr.deleteNamespace("endless")
		blocker.AwaitReached()
		orrery.Interrupt()
		assert.Equal(t, exitInterrupted, orrery.AwaitExit())
		assert.Contains(t, orrery.Output(), "--shutdown-timeout has passed")
		assert.Contains(t, tr.content("endless")["configmaps"], "object-00", "the blocker was active until the end")
	})
}
