package trace

import (
	"context"
	"time"

	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Namespaces returns the hooks of the namespace controller. Join them last: they read the name of a
// pass from the context that the hooks before have made.
func (r *Recorder) Namespaces() *nsctl.Trace {
	if r == nil {
		return nil
	}
	failing := func(k kind) func(string, error) {
		return func(namespace string, err error) { r.put(record{kind: k, key: namespace, c: errText(err)}) }
	}
	content := func(k kind) func(string, api.GroupVersionResource, int, error) {
		return func(namespace string, resource api.GroupVersionResource, n int, err error) {
			r.put(record{kind: k, key: namespace, a: resourceName(resource), x: int64(n), c: errText(err)})
		}
	}
	return &nsctl.Trace{
		Enqueued: func(ns *api.Namespace, after time.Duration) {
			r.put(record{kind: nsctlEnqueued, key: ns.Name, a: ns.UID, b: string(ns.Status.Phase), z: int64(after)})
		},
		PassContext: func(ctx context.Context, namespace string) context.Context {
			r.put(record{kind: nsctlPassContext, key: namespace, a: restclient.OriginOf(ctx)})
			return ctx
		},
		PassStarted: func(namespace string) { r.put(record{kind: nsctlPassStarted, key: namespace}) },
		Discovered: func(namespace string, types int, err error) {
			r.put(record{kind: nsctlDiscovered, key: namespace, x: int64(types), c: errText(err)})
		},
		EmptinessChecked: func(ctx context.Context, types, seen int, took time.Duration) {
			r.put(record{kind: nsctlEmptinessChecked, a: restclient.OriginOf(ctx), x: int64(types), y: int64(seen), z: int64(took)})
		},
		TypeDeleted: content(nsctlTypeDeleted),
		WouldDelete: func(ns string, resource api.GroupVersionResource, found nsctl.Found, err error) {
			content(nsctlWouldDelete)(ns, resource, found.Total(), err)
		},
		Conflict: failing(nsctlConflict), Finalized: failing(nsctlFinalized), ConditionsFailed: failing(nsctlConditionsFailed),
		ConditionsUpdated: func(namespace string, conditions []api.NamespaceCondition) {
			for _, c := range conditions {
				r.put(record{kind: nsctlConditionsUpdated, key: namespace, a: string(c.Type), b: string(c.Status), in: c.Reason, c: shown(c.Message)})
			}
		},
		PhaseStarted: func(namespace string, phase nsctl.Phase) {
			r.put(record{kind: nsctlPhaseStarted, key: namespace, a: string(phase)})
		},
		PhaseDone: func(namespace string, phase nsctl.Phase, took time.Duration) {
			r.put(record{kind: nsctlPhaseDone, key: namespace, a: string(phase), z: int64(took)})
		},
		PassStuck: func(namespace string, running time.Duration, waiting int) {
			r.put(record{kind: nsctlPassStuck, key: namespace, x: int64(waiting), z: int64(running)})
		},
		PassPanicked: func(namespace string, _ *wait.Panic) { r.put(record{kind: nsctlPassPanicked, key: namespace}) },
		PassDone: func(namespace string, took time.Duration, failures int, err error) {
			r.put(record{kind: nsctlPassDone, key: namespace, x: int64(failures), z: int64(took), c: errText(err)})
		},
		Gone: func(namespace string, took time.Duration) {
			r.put(record{kind: nsctlGone, key: namespace, z: int64(took)})
		},
	}
}
