package e2e

import (
	"context"
	"fmt"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/upstream/apiserver/served"
)

// faultHindrances uses the faults of the server in memory.
type faultHindrances struct{ server *served.Server }

// add injects a fault, which lasts until it is lifted or the test ends.
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

// groupOption returns a group's name in the options of a fault.
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

func (f faultHindrances) unreachableWebhook(tr *trial, resource schema.GroupVersionResource, namespace string) (lift func()) {
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

func (f faultHindrances) blockerBefore(tr *trial, namespace, _ string) blocker {
	return &faultBlocker{tr: tr, faults: f, namespace: namespace}
}

func (f faultHindrances) forgetHistory(tr *trial) {
	tr.t.Helper()
	for _, action := range []string{"compact", "cut-watches"} {
		_, err := f.server.Add(tr.ctx, action)
		require.NoError(tr.t, err)
	}
}

// faultBlocker is a blocker whose active state is a delay longer than any test waits.
type faultBlocker struct {
	tr        *trial
	faults    faultHindrances
	namespace string
	id        string // of the fault
	lift      func()
}

func (g *faultBlocker) Block() {
	g.tr.t.Helper()
	g.id, g.lift = g.faults.add(g.tr, "delay:by=1h,verb=delete|deletecollection,resource=configmaps,namespace=%s,user=%s", g.namespace, ControllerIdentity)
}

func (g *faultBlocker) Release() { g.lift() }

func (g *faultBlocker) AwaitReached() {
	g.tr.t.Helper()
	g.tr.eventually("a deletion waits at the blocker", func() (bool, error) {
		hits, err := g.faults.server.Hits(g.tr.ctx, g.id)
		return hits > 0, err
	})
}
