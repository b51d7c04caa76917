package deployment

import (
	"context"

	"orrery/examples/apps"
)

// rollingUpdate makes the new set larger or the old ones smaller, whichever is possible. A deployment that is scaled takes the
// same way. (Upstream gives each set its share while a rollout is half done.)
func (p *pass) rollingUpdate(ctx context.Context) error {
	if err := p.ensureCurrent(ctx, p.roomFor(0)); err != nil || p.current == nil {
		return err
	}
	size := min(p.current.Spec.Replicas, p.deployment.Spec.Replicas)
	if scaled, err := p.scaleTo(ctx, p.current, size+p.roomFor(size)); scaled || err != nil {
		return err
	}
	if scaled, err := p.shrinkOld(ctx); scaled || err != nil {
		return err
	}
	return p.cleanup(ctx)
}

// roomFor returns by how many pods the new set, which has this size, may grow. A set that was made smaller still has the pods
// that it reports. (Upstream counts them as gone, and may exceed maxSurge until they are.)
func (p *pass) roomFor(size int) int {
	there := func(set *apps.ReplicaSet) int { return max(set.Spec.Replicas, set.Status.Replicas) }
	room := p.deployment.Spec.Replicas + p.deployment.MaxSurge() - sum(p.sets, there)
	return max(0, min(room, p.deployment.Spec.Replicas-size))
}

// shrinkOld deletes as many old pods as can be spared. First go those that do not serve: they cost nothing, and they
// would stand in the way of a rollout that repairs them.
func (p *pass) shrinkOld(ctx context.Context) (scaled bool, err error) {
	enough := p.deployment.Spec.Replicas - p.deployment.MaxUnavailable()
	// New pods that do not serve yet are counted as missing, even if they were there in the last report.
	spare := sum(p.sets, wanted) - enough - (p.current.Spec.Replicas - p.current.Status.AvailableReplicas)
	idle := func(set *apps.ReplicaSet) int { return set.Spec.Replicas - set.Status.AvailableReplicas }
	gone, err := p.shrink(ctx, spare, idle)
	if err != nil {
		return gone > 0, err
	}
	served, err := p.shrink(ctx, min(spare-gone, sum(p.sets, available)-enough), wanted)
	return gone+served > 0, err
}

// shrink takes count pods from the old sets, the oldest set first, from each as many as it has to give.
func (p *pass) shrink(ctx context.Context, count int, gives func(*apps.ReplicaSet) int) (gone int, err error) {
	for _, set := range p.old() {
		take := max(0, min(count-gone, gives(set), set.Spec.Replicas))
		if _, err := p.scaleTo(ctx, set, set.Spec.Replicas-take); err != nil {
			return gone, err
		}
		gone += take
	}
	return gone, nil
}
