package fix_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/internal/why/fix"
	"orrery/restclient/restclienttest"
)

// removal is the removal of a finalizer from an object.
func removal() why.Write {
	return why.Write{
		Cluster: "c", Cause: "C04", Verdict: "gone", Group: "example.com", Version: "v1", Resource: "databases", Namespace: "shop",
		Name: "orders", UID: "u", ResourceVersion: "7", List: why.MetadataFinalizers, Finalizer: "example.com/db", Index: 1,
	}
}

// What must never be written is refused before any request, also with a digest that fits.
func TestNever(t *testing.T) {
	client := restclienttest.NewServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		assert.Fail(t, "a request was sent")
	})).Client()
	for name, change := range map[string]func(*why.Write){
		"the controller's token":    func(w *why.Write) { w.List, w.Finalizer = why.SpecFinalizers, "kubernetes" },
		"the protection of a claim": func(w *why.Write) { w.Finalizer = "kubernetes.io/pvc-protection" },
		"a definition's cleanup":    func(w *why.Write) { w.Finalizer = "customresourcecleanup.apiextensions.k8s.io" },
		"no finalizer":              func(w *why.Write) { w.Finalizer = "" },
		"a token of another type":   func(w *why.Write) { w.List = why.SpecFinalizers },
		"the deletion of a pod":     func(w *why.Write) { w.Group, w.Resource, w.List = "", "pods", "" },
		"the deletion of a webhook": func(w *why.Write) {
			w.Group, w.Resource, w.List = "admissionregistration.k8s.io", "validatingwebhookconfigurations", ""
		},
		"an APIService whose Service is up": func(w *why.Write) {
			w.Group, w.Resource, w.List, w.Verdict = "apiregistration.k8s.io", "apiservices", "", "Passed"
		},
		"an unknown list": func(w *why.Write) { w.List = "metadata.ownerReferences" },
	} {
		w := removal()
		change(&w)
		digest := w.Digest()
		require.NotEmpty(t, digest)
		var refused *fix.RefusedError
		err := fix.Apply(t.Context(), client, fix.Remedy{Remedy: why.Remedy{Digest: digest, Write: &w}}, digest)
		assert.ErrorAs(t, err, &refused, name)
	}
}

// A digest changes with everything that it is bound to, and is empty without one of them.
func TestDigest(t *testing.T) {
	seen := map[string]bool{}
	for _, change := range []func(*why.Write){
		func(*why.Write) {}, func(w *why.Write) { w.Cluster = "d" }, func(w *why.Write) { w.Verdict = "slow" }, func(w *why.Write) { w.UID = "v" },
		func(w *why.Write) { w.ResourceVersion = "8" }, func(w *why.Write) { w.Finalizer = "x" }, func(w *why.Write) { w.Index = 0 },
		func(w *why.Write) { w.Name = "o" }, func(w *why.Write) { w.Namespace = "s" }, func(w *why.Write) { w.Resource = "d" },
	} {
		w := removal()
		change(&w)
		assert.Regexp(t, `^C04-[0-9a-f]{12}$`, w.Digest())
		assert.False(t, seen[w.Digest()])
		seen[w.Digest()] = true
	}
	for _, change := range []func(*why.Write){
		func(w *why.Write) { w.Cluster = "" }, func(w *why.Write) { w.UID = "" }, func(w *why.Write) { w.ResourceVersion = "" },
	} {
		w := removal()
		change(&w)
		assert.Empty(t, w.Digest())
		client := restclienttest.NewServer(t, http.NotFoundHandler()).Client()
		assert.Error(t, fix.Apply(t.Context(), client, fix.Remedy{Remedy: why.Remedy{Write: &w}}, ""))
	}
}

// A broken connection in the second write leaves open whether it was done: that is no refusal.
func TestApplyWithoutAnAnswer(t *testing.T) {
	client := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("dryRun") == "" {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"orders"}}`))
	})).Client()
	w := removal()
	err := fix.Apply(t.Context(), client, fix.Remedy{Remedy: why.Remedy{Write: &w}}, w.Digest())
	require.Error(t, err)
	var refused *fix.RefusedError
	assert.NotErrorAs(t, err, &refused)
	assert.Contains(t, err.Error(), "may or may not")
}

// Safe remedies come first, with the losses and digests of the others behind.
func TestPrint(t *testing.T) {
	w := removal()
	report := why.Report{Namespace: "shop", Findings: []why.Finding{{
		ID: "C04", Culprit: why.Reference{Resource: "databases.example.com", Namespace: "shop", Name: "orders"},
		Remedies: []why.Remedy{{Command: "kubectl -n db scale deployment/db --replicas=1"}, {Command: "kubectl undo", When: "when the namespace is gone"}, {Command: "kubectl patch", Loses: why.StaysBehind + "the database", Digest: w.Digest(), Write: &w}},
	}, {
		ID: "C04", Culprit: why.Reference{Resource: "databases.example.com", Namespace: "shop", Name: "orders"}, // another finalizer
		Remedies: []why.Remedy{{Command: "kubectl -n db scale deployment/db --replicas=1"}, {Command: "kubectl patch other", Loses: "x"}},
	}}}
	var text strings.Builder
	require.NoError(t, fix.Print(&text, "orrery why shop", fix.Plan(report)))
	assert.Equal(t, `
C04  databases.example.com/orders
  kubectl -n db scale deployment/db --replicas=1
  when the namespace is gone:
  kubectl undo
  ⚠ last resort, this stays behind: the database:
  kubectl patch
  or, bound to what was seen:  orrery why shop --apply --confirm `+w.Digest()+`
  ⚠ last resort, loses x:
  kubectl patch other
`, text.String())
}
