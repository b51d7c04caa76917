package e2e

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A rehearsal looks at everything, says what it would do, and writes nothing.
func TestDryRunWritesNothing(t *testing.T) {
	onEachVacant(t, func(tr *trial, kubeconfig string) {
		t := tr.t
		tr.createNamespace("rehearsed")
		tr.createConfigMap("rehearsed", "content")
		tr.createSecret("rehearsed", "content")
		tr.deleteNamespace("rehearsed")
		before, content := tr.namespace("rehearsed"), tr.content("rehearsed")

		started := time.Now()
		orrery := runOrrery(t, kubeconfig, "--dry-run", "-v1", "--log-format=json")
		orrery.AwaitOutput(`"pass done"`, `"rehearsed"`)
		orrery.Interrupt()
		require.Equal(t, 0, orrery.AwaitExit())

		requests := auditedAfter(t, tr.cluster.Server, started)
		require.NotEmpty(t, requests)
		for _, r := range requests {
			assert.Contains(t, []string{"get", "list", "watch"}, r.Verb, "%s", r)
		}
		assert.True(t, slices.ContainsFunc(requests, func(r request) bool {
			return r.Verb == "list" && r.ObjectRef.Namespace == "rehearsed" && r.ObjectRef.Resource == "configmaps"
		}), "the content was looked at")
		assert.Equal(t, before, tr.namespace("rehearsed"), "the namespace is untouched")
		assert.Equal(t, content, tr.content("rehearsed"), "its content is untouched")
		for _, would := range []string{`"configmaps"`, `"secrets"`, `"serviceaccounts"`} {
			orrery.RequireOutput("dry run: would delete", would)
		}
	})
}

// With watches over websocket nothing else changes.
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

		// Only the watch can tell of this namespace: it did not exist when orrery started.
		tr.createNamespace("by-websocket")
		tr.createConfigMap("by-websocket", "content")
		tr.deleteNamespace("by-websocket")
		tr.awaitGone("by-websocket")
		orrery.Interrupt()
		require.Equal(t, 0, orrery.AwaitExit())
		tr.eventually("the server knows that the watches have ended", func() (bool, error) {
			return !slices.ContainsFunc(watches(started), func(r request) bool { return r.ResponseStatus.Code == 0 }), nil
		})
		for _, r := range watches(started) {
			assert.Equal(t, 101, r.ResponseStatus.Code, "every watch has switched protocols: %s", r)
		}
	})
}

// Ctrl-C: what is in hand is brought to its end, and then the program ends with success.
func TestInterruptDrains(t *testing.T) {
	onEachVacant(t, func(tr *trial, kubeconfig string) {
		t := tr.t
		through, gate := tr.fillBehindRelay("draining", kubeconfig)
		orrery := runOrrery(t, through, "-v1")
		tr.deleteNamespace("draining")
		gate.AwaitReached()
		orrery.Interrupt()
		orrery.AwaitOutput("stopping")
		require.True(t, orrery.Running(), "it waits for what is in hand")

		gate.Open()
		assert.Equal(t, 0, orrery.AwaitExit())
		_, err := tr.client.CoreV1().Namespaces().Get(t.Context(), "draining", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "the namespace was finished before the program ended: %v", err)
	})
}

// A second Ctrl-C does not wait for anything.
func TestSecondInterruptExitsAtOnce(t *testing.T) {
	onEachVacant(t, func(tr *trial, kubeconfig string) {
		t := tr.t
		through, gate := tr.fillBehindRelay("abandoned", kubeconfig)
		orrery := runOrrery(t, through, "-v1")
		tr.deleteNamespace("abandoned")
		gate.AwaitReached()
		orrery.Interrupt()
		orrery.AwaitOutput("stopping")
		orrery.Interrupt()
		assert.Equal(t, 130, orrery.AwaitExit())
		assert.NotContains(t, orrery.Output(), "goroutine ")
		assert.Contains(t, tr.content("abandoned")["configmaps"], "object-00", "the gate was shut until the end")
	})
}

// When what is in hand takes longer than the program may wait, it gives up and still ends in order.
func TestDrainingIsBounded(t *testing.T) {
	onEachVacant(t, func(tr *trial, kubeconfig string) {
		t := tr.t
		through, gate := tr.fillBehindRelay("endless", kubeconfig)
		orrery := runOrrery(t, through, "-v1", "--shutdown-timeout=1s")
		tr.deleteNamespace("endless")
		gate.AwaitReached()
		orrery.Interrupt()
		assert.Equal(t, 0, orrery.AwaitExit())
		assert.Contains(t, tr.content("endless")["configmaps"], "object-00", "the gate was shut until the end")
	})
}

// SIGTERM, which is what a service manager sends, is the same as Ctrl-C.
func TestTerminationEndsInOrder(t *testing.T) {
	onEachVacant(t, func(tr *trial, kubeconfig string) {
		t := tr.t
		orrery := runOrrery(t, kubeconfig)
		orrery.AwaitOutput("controller started")
		orrery.Signal(syscall.SIGTERM)
		assert.Equal(t, 0, orrery.AwaitExit())
		assert.Equal(t, 1, strings.Count(orrery.Output(), "stopped\n"), "it says so")
	})
}
