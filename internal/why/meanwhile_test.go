package why_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// What happened between the samples, or a moment before the first one.

// removals are the printed commands of a cause that lose something.
func removals(e why.Evidence, id string) (all []string) {
	for _, f := range why.Judge(e).Findings {
		for _, r := range f.Remedies {
			if f.ID == id && r.Loses != "" {
				all = append(all, r.Command)
			}
		}
	}
	return all
}

// The content went between the samples; the owners of the other entries have had no time yet.
func TestTokensOfANamespaceThatWasJustEmptied(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers, n.Finalizers = []string{"kubernetes", "example.com/token"}, []string{"example.com/audit"}
	e := evidence(n)
	e = calm(e)
	e.Second.Namespace.ResourceVersion, e.Second.Namespace.SpecFinalizers = "8", []string{"example.com/token"}
	r := why.Judge(e)
	assert.NotEqual(t, why.Proven, certainty(e, "C16"))
	assert.NotEqual(t, why.Proven, certainty(e, "C18"))
	assert.Empty(t, removals(e, "C18"))
	assert.NotEqual(t, why.Stuck, r.Verdict, r.Sentence)
}

// The last object went 12 s ago: NamespaceContentRemaining has been False since then.
func TestNamespaceThatWasEmptiedSecondsAgo(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers, n.Finalizers = []string{"example.com/token"}, []string{"example.com/audit"}
	n.Conditions = []api.NamespaceCondition{{Type: api.NamespaceContentRemaining, Status: api.ConditionFalse, LastTransitionTime: api.NewTime(later.Add(-12 * time.Second))}}
	e := evidence(n)
	assert.NotEqual(t, why.Proven, certainty(e, "C16"))
	assert.NotEqual(t, why.Proven, certainty(e, "C18"))
	assert.Empty(t, removals(e, "C18"))
}

// kube-root-ca.crt is created again by kube-controller-manager: that is not something that creates
// objects.
func TestRootCertificateBesideAYoungObject(t *testing.T) {
	young, root := object("young", "example.com/x"), object("kube-root-ca.crt")
	young.Created, root.Created, root.UID = deleted.Add(8*time.Second), at.Add(2*time.Second), "new"
	e := calm(evidence(terminating("", ""), typeOf("", "configmaps", young)))
	e.Second.Types = []why.Type{typeOf("", "configmaps", young, root)}
	assert.NotEqual(t, why.Proven, certainty(e, "C28"))
}

// What else changed lately gives an owner no time: other conditions, and content that came.
func TestConditionsThatGiveAnOwnerNoTime(t *testing.T) {
	for _, c := range []api.NamespaceCondition{
		{Type: discoveryFailure, Status: api.ConditionFalse}, {Type: api.NamespaceContentRemaining, Status: api.ConditionTrue},
	} {
		n := terminating("", "")
		c.LastTransitionTime = api.NewTime(later.Add(-12 * time.Second))
		n.SpecFinalizers, n.Conditions = []string{"example.com/token"}, []api.NamespaceCondition{c}
		assert.Equal(t, why.Proven, certainty(evidence(n), "C18"), c.Type)
	}
}

// On a server that does not wait for pods nothing is deleted later than they are.
func TestWhatWaitsForPods(t *testing.T) {
	for server, expected := range map[string]why.Certainty{"v1.36.3": why.Later, "v1.30.2": ""} {
		e := held(since("deployment", "keda-operator", 0, time.Hour))
		e.Server = server
		e.Types[0].Objects = slices.Clone(e.Types[0].Objects)
		e.Types[0].Objects[0].Deleted = time.Time{}
		e.Types = append(e.Types, typeOf("", "pods", object("p")))
		e.Second.Types = slices.Clone(e.Types)
		e.Pods = []why.Pod{{Object: object("p"), Node: "n"}}
		assert.Equal(t, expected, certainty(calm(e), "C04"), server)
	}
}
