package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/internal/rbac"
	"orrery/internal/why"
	"orrery/upstream/controlplane"
)

// The role that "orrery rbac --for why" prints suffices: with it C21 and C16 are proven. Without any
// one verb one of them is lost, C16 without list, and the report names what is missing.
func TestWhyRights(t *testing.T) {
	t.Parallel()
	w := newWhyTrial(t, controlplane.Config{NamespaceController: true, ControllerManagerArgs: alive})
	refused := situation{id: "C21", setUp: func(w *whyTrial, namespace string) why.Reference {
		w.createNamespace(namespace)
		w.hinder.withholdRights(w.trial, schema.GroupResource{Resource: "limitranges"})
		w.deleteNamespace(namespace)
		return why.Reference{Resource: "users", Name: ControllerIdentity}
	}}
	audited := situation{id: "C16", also: []string{"C21"}, setUp: func(w *whyTrial, namespace string) why.Reference {
		w.createNamespace(namespace)
		w.patchNamespace(namespace, `{"metadata":{"finalizers":["example.com/audit"]}}`)
		w.deleteNamespace(namespace)
		return why.Reference{Resource: "namespaces", Name: namespace}
	}}
	w.judge(refused, refused.setUp(w, refused.namespace()))
	w.judge(audited, audited.setUp(w, audited.namespace()))

	rights := rbac.ForWhy()
	for i, right := range rights {
		for j, verb := range right.Rule.Verbs {
			t.Run(right.Rule.Resources[0]+" "+verb, func(t *testing.T) {
				of := w.inTest(t)
				less := slices.Clone(rights)
				less[i].Rule.Verbs = slices.Delete(slices.Clone(right.Rule.Verbs), j, j+1)
				lost := refused
				if verb == "list" {
					lost = audited
				}
				report := diagnose(t, of.admitWith(fmt.Sprintf("less-%d-%d", i, j), less), lost.namespace())
				shown := text(t, report)
				assert.False(t, slices.ContainsFunc(report.Findings, func(f why.Finding) bool { return f.ID == lost.id && f.Certainty == why.Proven }), shown)
				at := slices.IndexFunc(report.Findings, func(f why.Finding) bool { return f.ID == "C30" })
				require.GreaterOrEqual(t, at, 0, shown)
				assert.Contains(t, report.Findings[at].Says, "this user may not "+verb, shown)
			})
		}
	}
}

// admitWith returns the kubeconfig file of a new user with these rights.
func (w *whyTrial) admitWith(user string, rights []rbac.Right) (kubeconfig string) {
	w.t.Helper()
	rights = slices.DeleteFunc(rights, func(r rbac.Right) bool { return len(r.Rule.Verbs) == 0 })
	var roles strings.Builder
	require.NoError(w.t, rbac.WriteYAML(&roles, rbac.Bind(rbac.Config{Name: user, Subject: rbac.User(user)}, rights)))
	// Without the right to list, the one to get a namespace shows that the binding is known.
	known := rights[0].Rule
	return w.admitBy(user, roles.String(), known.Verbs[0], strings.ReplaceAll(known.Resources[0], "*", "pods"))
}
