package apps_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/examples/apps"
	"orrery/informer"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// recorder is a client that records patches. It answers a get with live and a patch with err.
type recorder[T apps.Owned] struct {
	apps.Client[T]
	live    T
	err     error
	patches []string
}

func (r *recorder[T]) Get(context.Context, string, api.GetOptions) (T, error) { return r.live, r.err }

func (r *recorder[T]) Patch(_ context.Context, name string, _ api.PatchType, patch []byte, _ api.UpdateOptions,
	_ ...string) (T, error) {
	r.patches = append(r.patches, fmt.Sprintf("%s %s", name, patch))
	return r.live, r.err
}

func pod(name, owner string, labels map[string]string) *apps.Pod {
	p := &apps.Pod{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: "uid-" + name, Labels: labels}}
	if owner != "" {
		p.OwnerReferences = []api.OwnerReference{{Kind: "Other", UID: "not a controller"},
			{UID: owner, Controller: new(true)}}
	}
	return p
}

func TestClaim(t *testing.T) {
	ours, others := map[string]string{"app": "web"}, map[string]string{"app": "api"}
	set := &apps.ReplicaSet{ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default", UID: "set"}}
	set.Spec.Selector.MatchLabels = ours
	deleted := &apps.ReplicaSet{ObjectMeta: set.ObjectMeta, Spec: set.Spec}
	deleted.DeletionTimestamp = &api.Time{}
	successor := &apps.ReplicaSet{ObjectMeta: api.ObjectMeta{Name: "web", UID: "another"}}
	ending := pod("ending", "", ours)
	ending.DeletionTimestamp = &api.Time{}
	orphan, stray := []*apps.Pod{pod("orphan", "", ours)}, []*apps.Pod{pod("stray", "set", others)}
	refusal := func(code int) error { return api.NewStatusError(api.Status{Code: code, Message: "no"}) }
	const (
		adoption = `orphan {"metadata":{"uid":"uid-orphan","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"set","controller":true,"blockOwnerDeletion":true}]}}`
		release  = `stray {"metadata":{"uid":"uid-stray","ownerReferences":[{"$patch":"delete","uid":"set"}]}}`
	)
	for name, c := range map[string]struct {
		set     *apps.ReplicaSet
		live    *apps.ReplicaSet
		getErr  error
		podErr  error
		pods    []*apps.Pod
		claimed int
		patches []string
		err     string
	}{
		"its own, and those of others": {pods: []*apps.Pod{pod("a", "set", ours), pod("b", "other", ours),
			pod("c", "", others)}, claimed: 1},
		"an orphan is adopted":       {pods: orphan, claimed: 1, patches: []string{adoption}},
		"an orphan that ends is not": {pods: []*apps.Pod{ending}},
		"the server is not reached":  {pods: orphan, getErr: errors.New("down"), err: "down"},
		"the owner is being deleted": {pods: orphan, live: deleted, err: "deleted meanwhile"},
		"the owner is another":       {pods: orphan, live: successor, err: "deleted meanwhile"},
		"the orphan has gone":        {pods: orphan, podErr: refusal(404), patches: []string{adoption}},
		"another owner was faster":   {pods: orphan, podErr: refusal(422), patches: []string{adoption}},
		"the adoption fails":         {pods: orphan, podErr: refusal(500), patches: []string{adoption}, err: "no"},
		"a stray is released":        {pods: stray, patches: []string{release}},
		"the stray is another":       {pods: stray, podErr: refusal(409), patches: []string{release}},
		"the release fails":          {pods: stray, podErr: refusal(403), patches: []string{release}, err: "no"},
		"the cache knows of the deletion": {set: deleted,
			pods: []*apps.Pod{orphan[0], stray[0], pod("a", "set", ours)}, claimed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			owner, live := cmp.Or(c.set, set), cmp.Or(c.live, set)
			client := &recorder[*apps.Pod]{err: c.podErr}
			sets := apps.Collection[*apps.ReplicaSet]{Client: func(string) apps.Client[*apps.ReplicaSet] {
				return &recorder[*apps.ReplicaSet]{live: live, err: c.getErr}
			}}
			pods := apps.Collection[*apps.Pod]{Client: func(string) apps.Client[*apps.Pod] { return client }}
			claimed, err := apps.Claim(t.Context(), owner, sets, c.pods, pods)
			assert.Len(t, claimed, c.claimed)
			assert.Equal(t, c.patches, client.patches)
			if c.err == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.err)
			}
		})
	}
}

// An event of an object concerns its owner and its previous owner. An orphan's event concerns
// every object that may adopt it.
func TestOwnedHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := clustertest.New(t)
		sets := clustertest.Collection[*apps.ReplicaSet](cluster.Client(), apps.ReplicaSetsResource, gears.Set{})
		for _, name := range []string{"web", "also-web", "api"} {
			set := &apps.ReplicaSet{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: "uid-" + name}}
			set.Spec.Selector.MatchLabels = map[string]string{"app": name}
			if name == "also-web" {
				set.Spec.Selector.MatchLabels["app"] = "web"
			}
			require.NoError(t, sets.Informer.GetIndexer().Add(set))
		}
		assert.ElementsMatch(t, []string{"default/web", "default/also-web", "default/api"}, sets.Keys())
		_, err := sets.ByKey("default/none")
		assert.True(t, api.IsNotFound(err))

		var concerned []string
		handler := apps.OwnedHandler[*apps.Pod](sets,
			func(set *apps.ReplicaSet) { concerned = append(concerned, set.Name) })
		owned := func(set string) *apps.Pod {
			p := pod("p", "uid-"+set, map[string]string{"app": "web"})
			p.OwnerReferences[1].Name = set
			return p
		}
		orphan := pod("p", "", map[string]string{"app": "web"})
		foreign := owned("web")
		foreign.OwnerReferences[1].UID = "former"
		for _, c := range []struct {
			event func()
			want  []string
		}{
			{func() { handler.OnAdd(orphan, false) }, []string{"web", "also-web"}},
			{func() { handler.OnAdd(owned("api"), false) }, []string{"api"}},
			{func() { handler.OnAdd(foreign, false) }, nil},
			{func() { handler.OnUpdate(owned("web"), owned("web")) }, []string{"web"}},
			{func() { handler.OnUpdate(owned("web"), owned("api")) }, []string{"web", "api"}},
			{func() { handler.OnUpdate(owned("api"), orphan) }, []string{"api", "web", "also-web"}},
			{func() { handler.OnDelete(informer.DeletedObject[*apps.Pod]{Object: owned("web")}) }, []string{"web"}},
		} {
			concerned = nil
			c.event()
			assert.ElementsMatch(t, c.want, concerned)
		}
	})
}
