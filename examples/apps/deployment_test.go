package apps_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/examples/apps"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// web returns a deployment of an image, with more fields of its spec.
func web(replicas int, image, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":"web"},"spec":{"replicas":%d,"selector":{"matchLabels":{"app":"web"}},"template":%s%s}}`,
		replicas, template(image), more)
}

func template(image string) string {
	return fmt.Sprintf(`{"metadata":{"labels":{"app":"web"},"annotations":{"kubelet.orrery/stops-after":"1s"}},`+
		`"spec":{"containers":[{"name":"c","image":%q}]}}`, image)
}

func (w *world) web() apps.Deployment { return clustertest.Get[apps.Deployment](w.Cluster, webPath) }

func (w *world) setImage(image string) {
	w.t.Helper()
	w.Must("PATCH", webPath,
		fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":%q}]}}}}`, image))
}

// rolledOut waits until the rollout is over, as kubectl rollout status does.
func (w *world) rolledOut() apps.Deployment {
	w.t.Helper()
	var d apps.Deployment
	w.Within(2*time.Minute, "the rollout is over", func() bool {
		d = w.web()
		s, n := d.Status, d.Spec.Replicas
		return s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == n && s.Replicas == n &&
			s.AvailableReplicas == n
	})
	time.Sleep(5 * time.Second)
	return w.web()
}

// deploy starts the controllers, and returns when they have rolled a deployment out.
func (w *world) deploy(deployment string) {
	w.t.Helper()
	w.start()
	w.Must("POST", deploymentsPath, deployment)
	w.rolledOut()
}

// rollOut returns when another image has been rolled out.
func (w *world) rollOut(image string) apps.Deployment {
	w.t.Helper()
	w.setImage(image)
	return w.rolledOut()
}

// sets returns the replica sets by image, with the revision and the size of each.
func (w *world) sets() map[string]string {
	all := map[string]string{}
	for _, set := range clustertest.Get[api.List[apps.ReplicaSet]](w.Cluster, setsPath).Items {
		all[imageOf(set.Spec.Template.Spec)] = fmt.Sprintf("revision %s, %d pods",
			set.Annotations["deployment.kubernetes.io/revision"], set.Spec.Replicas)
	}
	return all
}

func imageOf(podSpec json.RawMessage) string {
	var spec struct {
		Containers []struct{ Image string }
	}
	if err := json.Unmarshal(podSpec, &spec); err != nil {
		return err.Error()
	}
	return spec.Containers[0].Image
}

func (w *world) condition(kind string) string {
	condition := apps.FindCondition(w.web().Status.Conditions, kind)
	if condition == nil {
		return ""
	}
	return string(condition.Status) + " " + condition.Reason
}

// The watch of deployments is ten seconds late. The collector deletes the set of a deleted
// deployment. The controller receives that event while its cache still has the deployment.
func TestADeletedDeploymentGetsNoNewSet(t *testing.T) {
	inBothGears(t, func(w *world) {
		kill, _ := w.start()
		w.Must("POST", deploymentsPath, web(3, "one", ""))
		w.rolledOut()
		w.watched()
		w.Killer.KillAt(100, false, kill) // otherwise they create sets and the collector deletes them, without end
		w.ControllerFault("hold-events:for=10s,resource=deployments")
		w.Must("DELETE", webPath, `{"propagationPolicy":"Background"}`)
		time.Sleep(time.Minute)
		assert.Empty(w.t, w.sets())
		assert.Less(w.t, w.Killer.Requests(), 100)
		most, _ := w.watched()
		assert.LessOrEqual(w.t, most, 3)
	})
}

func TestARollingUpdateKeepsItsBounds(t *testing.T) {
	for name, c := range map[string]struct {
		strategy  string
		most, few int
		fault     string // while pods are replaced
	}{
		"a quarter, as by default": {``, 5, 3, ""},
		"more pods first":          {`,"strategy":{"rollingUpdate":{"maxSurge":2,"maxUnavailable":0}}`, 6, 4, ""},
		"fewer pods first":         {`,"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"50%"}}`, 4, 2, ""},
		"a share that is no pod":   {`,"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"10%"}}`, 4, 3, ""},
		// Pods that cannot be deleted still count: no new one may take their place.
		"old pods that stay": {``, 5, 3, "forbid:for=20s,verb=delete,resource=pods"},
	} {
		t.Run(name, func(t *testing.T) {
			inBothGears(t, func(w *world) {
				w.start()
				w.Must("POST", deploymentsPath, web(4, "one", c.strategy+`,"minReadySeconds":2`))
				d := w.rolledOut()
				assert.Equal(t, "1", d.Annotations["deployment.kubernetes.io/revision"])
				assert.Equal(t, "True NewReplicaSetAvailable", w.condition("Progressing"))
				assert.Equal(t, "True MinimumReplicasAvailable", w.condition("Available"))

				w.watched()
				if c.fault != "" {
					w.Fault(c.fault)
				}
				d = w.rollOut("two")
				most, few := w.watched()
				assert.Equal(t, c.most, most, "pods at most")
				assert.GreaterOrEqual(t, few, c.few, "pods that served")
				assert.Equal(t, map[string]string{"one": "revision 1, 0 pods", "two": "revision 2, 4 pods"}, w.sets())
				assert.Equal(t, "2", d.Annotations["deployment.kubernetes.io/revision"])
				assert.Zero(t, d.Status.UnavailableReplicas)
			})
		})
	}
}

func TestRecreateEndsAllPodsFirst(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.deploy(web(3, "one", `,"strategy":{"type":"Recreate"}`))
		w.watched()
		w.rollOut("two")
		most, few := w.watched()
		assert.Equal(w.t, 3, most)
		assert.Zero(w.t, few)
		assert.False(w.t, w.mixed, "new pods beside old ones")
		assert.Equal(w.t, "revision 2, 3 pods", w.sets()["two"])
	})
	inBothGears(t, func(w *world) {
		w.adjust = (*apps.ReplicaSetController).AskSlowly // it still works on the first set when the image changes
		w.start()
		w.Must("POST", deploymentsPath, web(3, "one", `,"strategy":{"type":"Recreate"}`))
		time.Sleep(5 * time.Second)
		w.setImage("two")
		time.Sleep(3 * time.Minute)
		w.watched()
		assert.False(w.t, w.mixed, "new pods beside those of a set that had not reported")
	})
}

func TestScaling(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.deploy(web(2, "one", ""))
		for _, replicas := range []int{6, 1, 0, 3} {
			w.Must("PATCH", webPath+"/scale", fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
			d := w.rolledOut()
			assert.Equal(w.t, replicas, d.Status.ReadyReplicas)
			assert.Equal(w.t, map[string]string{"one": fmt.Sprintf("revision 1, %d pods", replicas)}, w.sets())
		}
		// minReadySeconds is no part of the template: the set gets the new value, and no rollout follows.
		w.Must("PATCH", webPath, `{"spec":{"minReadySeconds":7}}`)
		w.rolledOut()
		sets := clustertest.Get[api.List[apps.ReplicaSet]](w.Cluster, setsPath).Items
		require.Len(w.t, sets, 1)
		assert.Equal(w.t, 7, sets[0].Spec.MinReadySeconds)
		// Both fields change at once, and again during the rollout.
		w.Must("PATCH", webPath, `{"spec":{"replicas":5,"minReadySeconds":3,"template":`+template("two")+`}}`)
		time.Sleep(4 * time.Second)
		w.Must("PATCH", webPath+"/scale", `{"spec":{"replicas":2}}`)
		w.rolledOut()
		assert.Equal(w.t, map[string]string{"one": "revision 1, 0 pods", "two": "revision 2, 2 pods"}, w.sets())
	})
}

// Each rollout has a number, which its set gets. kubectl rollout undo writes the template of an old
// set into the deployment, without the hash.
func TestTheHistoryOfRollouts(t *testing.T) {
	for name, c := range map[string]struct {
		first  string
		images []string
		want   map[string]string
	}{
		"an undo is a rollout of an old template": {
			web(2, "one", ""), []string{"two", "one"},
			map[string]string{"one": "revision 3, 2 pods", "two": "revision 2, 0 pods"},
		},
		"the history has a limit": {
			web(1, "zero", `,"revisionHistoryLimit":2`), []string{"one", "two", "three", "four"},
			map[string]string{"two": "revision 3, 0 pods", "three": "revision 4, 0 pods", "four": "revision 5, 1 pods"},
		},
		"a template that is used again is newer than those in between": {
			web(1, "one", `,"revisionHistoryLimit":1`), []string{"two", "one", "three"},
			map[string]string{"one": "revision 3, 0 pods", "three": "revision 4, 1 pods"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBothGears(t, func(w *world) {
				w.deploy(c.first)
				for _, image := range c.images {
					w.Must("PATCH", webPath, `{"metadata":{"annotations":{"kubernetes.io/change-cause":"`+image+`"}}}`)
					w.rollOut(image)
				}
				assert.Equal(w.t, c.want, w.sets())
				assert.Equal(w.t, fmt.Sprint(len(c.images)+1), w.web().Annotations["deployment.kubernetes.io/revision"])
				for _, set := range clustertest.Get[api.List[apps.ReplicaSet]](w.Cluster, setsPath).Items {
					assert.NotEmpty(w.t, set.Annotations["kubernetes.io/change-cause"])
				}
			})
		})
	}
}

func TestAPausedDeploymentOnlyScales(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		w.Must("POST", deploymentsPath, web(2, "one", `,"paused":true`))
		time.Sleep(time.Minute)
		assert.Empty(w.t, w.sets(), "one that is created paused gets no set")
		assert.Equal(w.t, int64(1), w.web().Status.ObservedGeneration)
		w.Must("PATCH", webPath, `{"spec":{"paused":false}}`)
		w.rolledOut()
		w.Must("PATCH", webPath, `{"spec":{"paused":true}}`)
		time.Sleep(time.Second)
		assert.Equal(w.t, "Unknown DeploymentPaused", w.condition("Progressing"))
		w.setImage("two")
		w.Must("PATCH", webPath+"/scale", `{"spec":{"replicas":4}}`)
		time.Sleep(time.Minute)
		assert.Equal(w.t, map[string]string{"one": "revision 1, 4 pods"}, w.sets())
		w.Must("PATCH", webPath, `{"spec":{"paused":false}}`)
		w.rolledOut()
		assert.Equal(w.t, map[string]string{"one": "revision 1, 0 pods", "two": "revision 2, 4 pods"}, w.sets())
		assert.Equal(w.t, "True NewReplicaSetAvailable", w.condition("Progressing"))

		// Paused half way: the sets keep their sizes.
		w.Must("PATCH", webPath, `{"spec":{"minReadySeconds":10}}`)
		w.setImage("three")
		time.Sleep(time.Second)
		w.Must("PATCH", webPath, `{"spec":{"paused":true}}`)
		time.Sleep(time.Second)
		half := w.sets()
		assert.NotEqual(w.t, "revision 3, 4 pods", half["three"])
		w.Must("PATCH", webPath+"/scale", `{"spec":{"replicas":6}}`)
		time.Sleep(time.Minute)
		assert.Equal(w.t, half, w.sets())
	})
}

func TestARolloutWithoutProgressIsReportedAndGoesOn(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		heal := w.ControllerFault("forbid:verb=create,resource=pods")
		w.Must("POST", deploymentsPath, web(2, "one", `,"progressDeadlineSeconds":60`))
		time.Sleep(50 * time.Second)
		assert.Equal(w.t, "True NewReplicaSetCreated", w.condition("Progressing"))
		assert.Equal(w.t, "True FailedCreate", w.condition(apps.ReplicaFailure))
		assert.Equal(w.t, "False MinimumReplicasUnavailable", w.condition("Available"))
		time.Sleep(15 * time.Second)
		assert.Equal(w.t, "False ProgressDeadlineExceeded", w.condition("Progressing"))
		heal()
		w.rolledOut()
		assert.Equal(w.t, "True NewReplicaSetAvailable", w.condition("Progressing"))
		assert.Empty(w.t, w.condition(apps.ReplicaFailure))
	})
}

// A rollout takes twice as long as its deadline, and each of its steps less.
func TestProgressExtendsTheDeadline(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		const slow = `,"minReadySeconds":20,"progressDeadlineSeconds":45,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}`
		w.Must("POST", deploymentsPath, web(4, "one", slow))
		time.Sleep(time.Minute)
		assert.Equal(w.t, "True NewReplicaSetAvailable", w.condition("Progressing"))
		w.setImage("two")
		for range 80 {
			time.Sleep(time.Second)
			require.NotContains(w.t, w.condition("Progressing"), "ProgressDeadlineExceeded")
		}
		time.Sleep(40 * time.Second)
		assert.Equal(w.t, "True NewReplicaSetAvailable", w.condition("Progressing"))
	})
}

func TestASetThatCannotBeCreatedIsReported(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		heal := w.ControllerFault("forbid:verb=create,resource=replicasets")
		w.Must("POST", deploymentsPath, web(2, "one", ``))
		time.Sleep(10 * time.Second)
		assert.Equal(w.t, "False ReplicaSetCreateError", w.condition("Progressing"))
		heal()
		w.rolledOut()
	})
}

// So is a name that the set of another owner has. The rollout goes on when that set has gone.
func TestASetWhoseNameIsTakenIsReported(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.deploy(web(2, "one", ""))
		path := setsPath + "/" + clustertest.Get[api.List[apps.ReplicaSet]](w.Cluster, setsPath).Items[0].Name
		w.Must("DELETE", webPath, `{"propagationPolicy":"Background"}`)
		w.Within(time.Minute, "the set goes", func() bool { return clustertest.Find[apps.ReplicaSet](w.Cluster, path) == nil })
		w.Must("POST", setsPath, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"replicas":0,`+
			`"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}},`+
			`"spec":{"containers":[{"name":"c","image":"one"}]}}}}`, path[len(setsPath)+1:]))
		w.Must("POST", deploymentsPath, web(2, "one", ""))
		time.Sleep(10 * time.Second)
		assert.Equal(w.t, "False ReplicaSetCreateError", w.condition("Progressing"))
		w.Must("DELETE", path, "")
		w.rolledOut()
	})
}

func TestSetsAreAdopted(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.deploy(web(2, "one", ""))
		w.watched()
		w.Must("DELETE", webPath, `{"propagationPolicy":"Orphan"}`)
		w.Within(time.Minute, "the deployment goes",
			func() bool { return clustertest.Find[apps.Deployment](w.Cluster, webPath) == nil })
		w.Must("POST", deploymentsPath, web(2, "one", ""))
		w.rolledOut()
		most, _ := w.watched()
		assert.Zero(w.t, most, "no pod has changed")
	})
}

// Both controllers are killed at the first request, at the second, and so on, before or after the
// server has served it. New ones, with the other gears, finish the rollout, and the bounds hold
// at all times.
func TestKilledAtEveryRequest(t *testing.T) {
	textbook, err := gears.Parse(gears.Textbook)
	require.NoError(t, err)
	for _, strategy := range []string{"", `,"strategy":{"type":"Recreate"}`} {
		for _, served := range []bool{false, true} {
			t.Run(fmt.Sprintf("strategy=%s served=%v", strategy, served), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, textbook)
					for request := 1; !w.killedAt(request, served, strategy,
						textbook); request += clustertest.KillStep() {
						require.Less(t, request, 500)
					}
				})
			})
		}
	}
}

func (w *world) killedAt(request int, served bool, strategy string, textbook gears.Set) (survived bool) {
	t := w.t
	w.watched()
	first, second := textbook, gears.Set{}
	if request%2 == 0 {
		first, second = second, first
	}
	w.gears = first
	kill, ended := w.start()
	synctest.Wait()
	w.Killer.KillAt(request, served, kill)
	w.Must("POST", deploymentsPath, web(2, "one", strategy))
	time.Sleep(10 * time.Second)
	w.setImage("two")
	time.Sleep(20 * time.Second)
	survived = w.Killer.Requests() < request
	kill()
	<-ended

	w.gears = second
	kill, ended = w.start()
	w.Killer.KillAt(0, false, nil)
	w.rolledOut()
	most, _ := w.watched()
	bound := 3
	if strategy != "" {
		bound = 2
	}
	require.LessOrEqual(t, most, bound, "killed at request %d", request)
	require.Contains(t, w.sets()["two"], ", 2 pods", "killed at request %d", request)

	w.Must("DELETE", webPath, `{"propagationPolicy":"Background"}`)
	w.Within(time.Minute, "everything goes", func() bool {
		return len(w.sets()) == 0 && len(clustertest.Get[api.List[json.RawMessage]](w.Cluster, podsPath).Items) == 0
	})
	kill()
	<-ended
	return survived
}

// A pod of a finished rollout is replaced, and another one is not. The rollout stays finished: its
// deadline does not begin again.
func TestAPodThatFailsLaterDoesNotFailTheRollout(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.deploy(web(2, "one", `,"minReadySeconds":20,"progressDeadlineSeconds":30`))
		lose := func(i int) {
			w.Must("DELETE", podsPath+"/"+clustertest.Get[api.List[apps.Pod]](w.Cluster, podsPath).Items[i].Name,
				`{"gracePeriodSeconds":0}`)
			time.Sleep(5 * time.Second)
		}
		lose(0)
		heal := w.ControllerFault("forbid:verb=create,resource=pods")
		lose(0)
		time.Sleep(2 * time.Minute)
		assert.Equal(w.t, 1, w.web().Status.AvailableReplicas)
		assert.Equal(w.t, "True NewReplicaSetAvailable", w.condition("Progressing"))
		heal()
		w.rolledOut()
	})
}
