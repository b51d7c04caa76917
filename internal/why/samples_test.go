package why_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has what the second sample must show for a proof.

// certainty is that of a cause, "" if the report does not have it.
func certainty(e why.Evidence, id string) why.Certainty {
	if f := find(why.Judge(e), id); f != nil {
		return f.Certainty
	}
	return ""
}

// With one sample every cause that something has to be done about is possible only.
func TestOneSampleProvesNothing(t *testing.T) {
	for id, situation := range situations() {
		e := situation.proven
		require.Equal(t, why.Proven, certainty(e, id), id)
		e.Second = nil
		for _, f := range why.Judge(e).Findings {
			cause, _ := why.Lookup(f.ID)
			if !cause.Waits && f.Certainty != why.Later {
				assert.Equal(t, why.Possible, f.Certainty, f.ID)
				assert.Contains(t, f.Missing, "only one sample was taken")
			}
		}
	}
}

// definitionGoes is a namespace with an object of a definition that is being deleted, too.
func definitionGoes(finalizers ...string) why.Evidence {
	e := held(since("deployment", "keda-operator", 0, time.Hour))
	e.Types[0].Objects = []why.Object{object("a", finalizers...)}
	e.Second.Types[0] = e.Types[0]
	e.Definitions = answered("GET crds", why.Definition{Type: "scaledobjects.keda.sh", Object: why.Object{
		Name: "scaledobjects.keda.sh", Finalizers: []string{"customresourcecleanup.apiextensions.k8s.io"}, Deleted: deleted.Add(-5 * time.Second),
	}})
	return calm(e)
}

// orphanPod is a namespace with a pod whose Job is gone, in a cluster whose kube-controller-manager
// cannot be seen.
func orphanPod() why.Evidence {
	pod := object("p", "batch.kubernetes.io/job-tracking")
	pod.Owners = []why.Owner{{Group: "batch", Kind: "Job", Name: "j", UID: "gone", Controls: true}}
	e := evidence(terminating("", ""), typeOf("", "pods", pod), typeOf("batch", "jobs"))
	e.Pods = []why.Pod{{Object: pod, Node: "n"}}
	e.Managers, e.Leases = answered[why.Manager]("GET pods"), answered[why.Lease]("GET leases")
	return calm(e)
}

// refusedOwner is a namespace with two objects whose owner has lost its rights.
func refusedOwner() why.Evidence {
	const finalizer = "workflows.argoproj.io/artifact-gc"
	w := workload("deployment", "ops", "workflow-controller", 1)
	e := orphan("workflows", "argoproj.io", finalizer, "", w)
	e.Types[0].Objects = append(e.Types[0].Objects, object("b", finalizer))
	e.Types[0].Count, e.Types[0].Finalizers[finalizer] = 2, 2
	e.Second.Types[0] = e.Types[0]
	refuse(&e, w)
	return calm(e)
}

// A cause that was proven in the first sample is possible only, or is none, if the second one does
// not show it again.
func TestWhatTheSecondSampleDoesNotShow(t *testing.T) {
	changed := func(o why.Object) why.Object {
		o.ResourceVersion = "99"
		return o
	}
	without := func(e *why.Evidence, i int) {
		e.Second.Types[i].Objects, e.Second.Types[i].Count = nil, 0
	}
	for name, test := range map[string]struct {
		id     string
		proven why.Evidence
		change func(*why.Evidence)
	}{
		"C01, discovery was refused": {"C01", unavailable("x"), func(e *why.Evidence) {
			e.Second.Stale, e.Second.Failed, e.Second.Discovery = nil, nil, &why.Failure{Code: 500, Message: "readyz"}
		}},
		"C01, its server came back": {"C01", unavailable("x"), func(e *why.Evidence) {
			e.Backends = []why.Backend{{Service: *e.APIServices.Items[0].Service, Exists: true, Ready: 2, Changed: at.Add(4 * time.Second), Request: "GET slices"}}
		}},
		"C03, discovery was refused": {"C03", situations()["C03"].proven, func(e *why.Evidence) {
			e.Second.Stale, e.Second.Failed, e.Second.Discovery = nil, nil, &why.Failure{Code: 500, Message: "readyz"}
		}},
		"C03, for another reason than a stale copy": {"C03", situations()["C03"].proven, func(e *why.Evidence) {
			e.Second.Stale, e.Second.Failed = nil, map[string]string{"g.io/v1": "context deadline exceeded"}
		}},
		"C06, its owner acts on another object": {"C06", refusedOwner(), func(e *why.Evidence) {
			e.Second.Types[0].Objects = []why.Object{e.Types[0].Objects[0], changed(e.Types[0].Objects[1])}
		}},
		"C13, the pod was not reached": {"C13", orphanPod(), func(e *why.Evidence) {
			e.Types[0].Count = 700
			e.Second.Types[0].Objects, e.Second.Types[0].Partial, e.Second.Types[0].Count = nil, true, 700
		}},
		"C13, another pod has lost the finalizer": {"C13", orphanPod(), func(e *why.Evidence) {
			other := object("q", "batch.kubernetes.io/job-tracking")
			e.Types[0].Objects, e.Types[0].Count = append(e.Types[0].Objects, other), 2
			free := changed(other)
			free.Finalizers = nil
			e.Second.Types[0].Objects = append(slices.Clone(e.Second.Types[0].Objects), free)
			e.Second.Types[0].Count = 2
		}},
		"C14, the claim is gone": {"C14", claimed(), func(e *why.Evidence) { without(e, len(e.Second.Types)-2) }},
		"C20, one hands over to the other": {"C20", contradicted(), func(e *why.Evidence) {
			e.Leases.Items[0].Renewed = at.Add(time.Second)
		}},
		"C20, the later one does not lead any more": {"C20", contradicted(), func(e *why.Evidence) {
			e.Leases.Items = append(slices.Clone(e.Leases.Items), why.Lease{
				Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a", Renewed: at.Add(-10 * time.Second), Duration: 15 * time.Second,
			})
		}},
		"C22, its server was changed": {"C22", undeleted(), func(e *why.Evidence) { e.Backends[0].Changed = at.Add(3 * time.Second) }},
		"C23, the list fails otherwise": {"C23", undecodable(), func(e *why.Evidence) {
			e.Second.Types[0].Failed = &why.Failure{Request: "GET configmaps", Code: 504, Message: "Timeout"}
		}},
		"C23, it was not listed again": {"C23", undecodable(), func(e *why.Evidence) { e.Second.Types = e.Second.Types[1:] }},
		"C25, its objects could not be listed": {"C25", definitionGoes("finalizer.keda.sh"), func(e *why.Evidence) {
			without(e, 0)
			e.Second.Types[0].Failed = &why.Failure{Code: 404, Message: "gone"}
		}},
		"C26, its owner is gone": {"C26", foreground(), func(e *why.Evidence) { without(e, len(e.Second.Types)-1) }},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, why.Proven, certainty(test.proven, test.id))
			test.proven.Second.Types = slices.Clone(test.proven.Second.Types)
			test.change(&test.proven)
			assert.NotEqual(t, why.Proven, certainty(test.proven, test.id))
		})
	}
}
