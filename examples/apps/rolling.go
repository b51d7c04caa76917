package apps

import (
	"context"
)

// rollingUpdate scales the new set up or the old ones down, whichever is possible. Scaling a
// deployment works the same way. (Upstream scales all sets proportionally in the middle of a
// rollout.)
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

// roomFor returns how many pods may be added to the new set, which has this size. A set that was
// scaled down still counts the pods that it reports. (Upstream counts them as gone, and may exceed
// maxSurge until they are.)
func (p *pass) roomFor(size int) int {
	there := func(set *ReplicaSet) int { return max(set.Spec.Replicas, set.Status.Replicas) }
	room := p.deployment.Spec.Replicas + p.deployment.MaxSurge() - sum(p.sets, there)
	return max(0, min(room, p.deployment.Spec.Replicas-size))
}

// shrinkOld scales the old sets down as far as maxUnavailable allows. Unavailable pods go first:
// they cost nothing, and would block the rollout that repairs them.
func (p *pass) shrinkOld(ctx context.Context) (scaled bool, err error) {
	enough := p.deployment.Spec.Replicas - p.deployment.MaxUnavailable()
	// New pods that are not available count as missing. Of the old sets the wanted sizes count: a
	// set that was scaled down may still report its former pods as available.
	spare := sum(p.sets, wanted) - enough - (p.current.Spec.Replicas - p.current.Status.AvailableReplicas)
	idle := func(set *ReplicaSet) int { return set.Spec.Replicas - set.Status.AvailableReplicas }
	gone, err := p.shrink(ctx, spare, idle)
	if err != nil {
		return gone > 0, err
	}
	served, err := p.shrink(ctx, spare-gone, wanted)
	return gone+served > 0, err
}

// shrink takes count pods from the old sets, the oldest set first. gives returns how many a set can
// give.
func (p *pass) shrink(ctx context.Context, count int, gives func(*ReplicaSet) int) (gone int, err error) {
	for _, set := range p.old() {
		take := max(0, min(count-gone, gives(set), set.Spec.Replicas))
		if _, err := p.scaleTo(ctx, set, set.Spec.Replicas-take); err != nil {
			return gone, err
		}
		gone += take
	}
	return gone, nil
}
