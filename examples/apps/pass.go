package apps

import (
	"cmp"
	"context"
	"slices"

	"orrery/restclient/api"
)

// pass is one pass over a deployment.
type pass struct {
	*DeploymentController
	deployment *Deployment
	sets       []*ReplicaSet // all that belong to it, the oldest first
	current    *ReplicaSet   // the one with the deployment's template, nil if there is none

	// For the report.
	created   bool  // current is new
	createErr error // current could not be created
}

func newPass(c *DeploymentController, d *Deployment, sets []*ReplicaSet) *pass {
	slices.SortFunc(sets, func(a, b *ReplicaSet) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	p := &pass{DeploymentController: c, deployment: d, sets: sets}
	isNew := func(s *ReplicaSet) bool { return s.Spec.Template.Equal(&d.Spec.Template) }
	if i := slices.IndexFunc(sets, isNew); i >= 0 {
		p.current = sets[i]
	}
	return p
}

// old returns the sets with other templates.
func (p *pass) old() []*ReplicaSet {
	return slices.DeleteFunc(slices.Clone(p.sets), func(set *ReplicaSet) bool { return set == p.current })
}

// sum adds up a number of each set.
func sum(sets []*ReplicaSet, number func(*ReplicaSet) int) (total int) {
	for _, set := range sets {
		total += number(set)
	}
	return total
}

func wanted(set *ReplicaSet) int    { return set.Spec.Replicas }
func available(set *ReplicaSet) int { return set.Status.AvailableReplicas }

// step takes the next step of a rollout.
func (p *pass) step(ctx context.Context) error {
	if err := p.syncCurrent(ctx); err != nil {
		return err
	}
	unreported := func(set *ReplicaSet) bool { return set.Status.ObservedGeneration < set.Generation }
	switch {
	case p.deployment.Spec.Paused:
		return p.scalePaused(ctx)
	case slices.ContainsFunc(p.sets, unreported):
		return nil // the replica set controller has not reported the result of the last step
	case p.deployment.Spec.Strategy.Type == Recreate:
		return p.recreate(ctx)
	default:
		return p.rollingUpdate(ctx)
	}
}

// scalePaused gives the only set that has pods the deployment's size. A rollout that was paused
// half way keeps its sizes. (Upstream gives each set its share.)
func (p *pass) scalePaused(ctx context.Context) error {
	active := slices.DeleteFunc(slices.Clone(p.sets), func(set *ReplicaSet) bool { return set.Spec.Replicas == 0 })
	if len(active) == 0 && p.current != nil {
		active = append(active, p.current)
	}
	if len(active) != 1 {
		return nil
	}
	_, err := p.scaleTo(ctx, active[0], p.deployment.Spec.Replicas)
	return err
}

// recreate ends all old pods before the first new one is created.
func (p *pass) recreate(ctx context.Context) error {
	ended := true
	for _, set := range p.old() {
		scaled, err := p.scaleTo(ctx, set, 0)
		if err != nil {
			return err
		}
		ended = ended && !scaled && set.Status.Replicas == 0 && !p.hasPods(set)
	}
	if !ended {
		return nil
	}
	if err := p.ensureCurrent(ctx, p.deployment.Spec.Replicas); err != nil || p.current == nil {
		return err
	}
	if _, err := p.scaleTo(ctx, p.current, p.deployment.Spec.Replicas); err != nil {
		return err
	}
	return p.cleanup(ctx)
}

// hasPods reports whether a set has pods whose containers may still run, including pods that are
// being deleted.
func (p *pass) hasPods(set *ReplicaSet) bool {
	return slices.ContainsFunc(p.pods.In(set.Namespace).List(), func(pod *Pod) bool {
		owner := ControllerOf(&pod.ObjectMeta)
		return owner != nil && owner.UID == set.UID && pod.Status.Phase != api.PodSucceeded &&
			pod.Status.Phase != api.PodFailed
	})
}

// change patches a set, and replaces it in the pass by the answer.
func (p *pass) change(ctx context.Context, set *ReplicaSet, change Change) error {
	changed, err := Apply(ctx, p.DeploymentController.sets.Client(set.Namespace), set, change)
	if err != nil {
		return err
	}
	p.sets[slices.Index(p.sets, set)] = changed
	if set == p.current {
		p.current = changed
	}
	return nil
}

// scaleTo sets the size of a set, and reports whether that was a change.
func (p *pass) scaleTo(ctx context.Context, set *ReplicaSet, replicas int) (scaled bool, err error) {
	if set.Spec.Replicas == replicas {
		return false, nil
	}
	if err := p.change(ctx, set, Change{Spec: map[string]int{"replicas": replicas}}); err != nil {
		return false, err
	}
	if p.trace.Scaled != nil {
		p.trace.Scaled(p.deployment, set, replicas)
	}
	return true, nil
}
