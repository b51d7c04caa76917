package apps

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"orrery/restclient/api"
)

// ensureCurrent creates the new set if there is none. If the deployment is gone current stays nil
// without an error. (Upstream counts collisions of names, and tries another one.)
func (p *pass) ensureCurrent(ctx context.Context, replicas int) error {
	if p.current != nil {
		return nil
	}
	d := p.deployment
	if alive, err := IsAlive(ctx, d, p.deployments); !alive || err != nil {
		return err
	}
	set := p.newSet(replicas)
	client := p.DeploymentController.sets.Client(d.Namespace)
	created, err := client.Create(ctx, set, api.UpdateOptions{})
	switch {
	case err == nil:
		p.created = true
		if p.trace.Created != nil {
			p.trace.Created(d, created)
		}
	case api.IsAlreadyExists(err):
		var failed error
		if created, failed = client.Get(ctx, set.Name, api.GetOptions{}); failed != nil {
			return failed
		}
		switch owner := ControllerOf(&created.ObjectMeta); {
		case owner == nil && d.Spec.Selector.Matches(created.Labels):
			return errors.New("the set has just become an orphan; the informer does not show it yet")
		case owner == nil || owner.UID != d.UID || !created.Spec.Template.Equal(&d.Spec.Template):
			p.createErr = err
			return err
		}
		// The controller created it earlier, and the informer does not show it yet.
	case api.IsNamespaceTerminating(err):
		return nil
	default:
		p.createErr = err
		return err
	}
	p.current, p.sets = created, append(p.sets, created)
	return nil
}

func (p *pass) newSet(replicas int) *ReplicaSet {
	d := p.deployment
	hash := d.Spec.Template.Hash()
	set := &ReplicaSet{
		TypeMeta: api.TypeMeta{APIVersion: GroupVersion, Kind: ReplicaSetKind},
		ObjectMeta: api.ObjectMeta{
			Name: d.Name + "-" + hash, Namespace: d.Namespace,
			Labels:          WithTemplateHash(d.Spec.Template.Labels, hash),
			Annotations:     p.annotations(),
			OwnerReferences: []api.OwnerReference{d.Owner().Reference()},
		},
		Spec: ReplicaSetSpec{
			Replicas: replicas, MinReadySeconds: d.Spec.MinReadySeconds,
			Selector: d.Spec.Selector, Template: d.Spec.Template,
		},
	}
	set.Spec.Selector.MatchLabels = WithTemplateHash(d.Spec.Selector.MatchLabels, hash)
	set.Spec.Template.Labels = set.Labels
	return set
}

// revisionAnnotation numbers the templates of a deployment; kubectl rollout history lists the sets
// by it. A set whose template is used again gets a new number. The deployment has the number of its
// new set.
const revisionAnnotation = "deployment.kubernetes.io/revision"

func revision(meta *api.ObjectMeta) int {
	number, _ := strconv.Atoi(meta.Annotations[revisionAnnotation])
	return number
}

// annotations returns the annotations of the new set: those of the deployment, such as
// kubernetes.io/change-cause, and the highest revision.
func (p *pass) annotations() map[string]string {
	annotations := map[string]string{}
	for key, value := range p.deployment.Annotations {
		if key != "kubectl.kubernetes.io/last-applied-configuration" &&
			!strings.HasPrefix(key, "deployment.kubernetes.io/") {
			annotations[key] = value
		}
	}
	highest := 0
	for _, set := range p.old() {
		highest = max(highest, revision(&set.ObjectMeta))
	}
	number := highest + 1
	if p.current != nil {
		number = max(number, revision(&p.current.ObjectMeta))
	}
	annotations[revisionAnnotation] = strconv.Itoa(number)
	return annotations
}

// syncCurrent updates the annotations and minReadySeconds of the new set, if it exists.
func (p *pass) syncCurrent(ctx context.Context) error {
	if p.current == nil {
		return nil
	}
	annotations, minReady, same := p.annotations(), p.deployment.Spec.MinReadySeconds, true
	for key, value := range annotations {
		same = same && p.current.Annotations[key] == value
	}
	if same && p.current.Spec.MinReadySeconds == minReady {
		return nil
	}
	return p.change(ctx, p.current, Change{Annotations: annotations, Spec: map[string]int{"minReadySeconds": minReady}})
}

// cleanup deletes the oldest sets beyond spec.revisionHistoryLimit, once the rollout is complete.
func (p *pass) cleanup(ctx context.Context) error {
	d := p.deployment
	if d.Spec.RevisionHistoryLimit == nil || !p.complete() {
		return nil
	}
	history := p.old()
	slices.SortStableFunc(history, func(a, b *ReplicaSet) int {
		return cmp.Compare(revision(&a.ObjectMeta), revision(&b.ObjectMeta))
	})
	for _, set := range history[:max(0, len(history)-*d.Spec.RevisionHistoryLimit)] {
		if set.Spec.Replicas > 0 || set.DeletionTimestamp != nil { // a complete rollout has no old pods
			continue
		}
		client := p.DeploymentController.sets.Client(set.Namespace)
		if err := DeleteIncarnation(ctx, client, &set.ObjectMeta); err != nil && !api.IsNotFound(err) {
			return err
		}
	}
	return nil
}
