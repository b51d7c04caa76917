package e2e

import (
	"context"
	"fmt"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/upstream/apiserver/served"
)

// faultHindrances are faults of the server in memory.
type faultHindrances struct{ server *served.Server }

// add orders a fault, which lasts until it is lifted and no longer than the test.
func (f faultHindrances) add(tr *trial, format string, args ...any) (id string, lift func()) {
	tr.t.Helper()
	id, err := f.server.Add(tr.ctx, fmt.Sprintf(format, args...))
	require.NoError(tr.t, err)
	lifted := false
	lift = func() {
		tr.t.Helper()
		if !lifted {
			lifted = true
			require.NoError(tr.t, f.server.Remove(context.WithoutCancel(tr.ctx), id))
		}
	}
	tr.t.Cleanup(lift)
	return id, lift
}

// groupOption is how faults call a group.
func groupOption(group string) string {
	if group == "" {
		return "core"
	}
	return group
}

func (f faultHindrances) forbidDeletion(tr *trial, resource schema.GroupVersionResource, namespace, name string) (lift func()) {
	tr.t.Helper()
	_, lift = f.add(tr, `webhook-denies:verb=delete|deletecollection,group=%s,resource=%s,namespace=%s,name=%s,message="%s stays"`,
		groupOption(resource.Group), resource.Resource, namespace, name, name)
	return lift
}

func (f faultHindrances) askNobody(tr *trial, resource schema.GroupVersionResource, namespace string) (lift func()) {
	tr.t.Helper()
	_, lift = f.add(tr, "webhook-unreachable:webhook=nobody.example.com,verb=delete|deletecollection,group=%s,resource=%s,namespace=%s",
		groupOption(resource.Group), resource.Resource, namespace)
	return lift
}

func (f faultHindrances) withholdRights(tr *trial, withheld schema.GroupResource) (grant func()) {
	tr.t.Helper()
	_, grant = f.add(tr, "forbid:user=%s,group=%s,resource=%s", ControllerIdentity, groupOption(withheld.Group), withheld.Resource)
	return grant
}

func (f faultHindrances) gateBefore(tr *trial, namespace, _ string) gate {
	return &faultGate{tr: tr, faults: f, namespace: namespace}
}

func (f faultHindrances) forgetHistory(tr *trial) {
	tr.t.Helper()
	for _, action := range []string{"compact", "cut-watches"} {
		_, err := f.server.Add(tr.ctx, action)
		require.NoError(tr.t, err)
	}
}

// faultGate is a gate: the server answers so late that a test waits for it in vain, until the fault is taken away.
type faultGate struct {
	tr        *trial
	faults    faultHindrances
	namespace string
	id        string // of the fault
	lift      func()
}

func (g *faultGate) Shut() {
	g.tr.t.Helper()
	g.id, g.lift = g.faults.add(g.tr, "delay:by=1h,verb=delete|deletecollection,resource=configmaps,namespace=%s,user=%s", g.namespace, ControllerIdentity)
}

func (g *faultGate) Open() { g.lift() }

func (g *faultGate) AwaitReached() {
	g.tr.t.Helper()
	g.tr.eventually("a deletion has come to the gate", func() (bool, error) {
		hits, err := g.faults.server.Hits(g.tr.ctx, g.id)
		return hits > 0, err
	})
}
