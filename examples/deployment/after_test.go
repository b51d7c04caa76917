package deployment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/examples/apps"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// A pod of a finished rollout is replaced, and another one is not. The rollout stays finished: its
// deadline does not begin again.
func TestAPodThatFailsLaterDoesNotFailTheRollout(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		w.Must("POST", deploymentsPath, web(2, "one", `,"minReadySeconds":20,"progressDeadlineSeconds":30`))
		w.rolledOut()
		lose := func(i int) {
			w.Must("DELETE", podsPath+"/"+clustertest.Get[api.List[apps.Pod]](w.Cluster, podsPath).Items[i].Name, `{"gracePeriodSeconds":0}`)
			time.Sleep(5 * time.Second)
		}
		lose(0)
		heal := w.Fault("forbid:verb=create,resource=pods,user=" + clustertest.ControllerUser)
		lose(0)
		time.Sleep(2 * time.Minute)
		assert.Equal(w.t, 1, w.web().Status.AvailableReplicas)
		assert.Equal(w.t, "True NewReplicaSetAvailable", w.condition("Progressing"))
		heal()
		w.rolledOut()
	})
}

// minReadySeconds is no part of the template: the set gets the new value, and no rollout follows.
func TestMinReadySecondsChanges(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		w.Must("POST", deploymentsPath, web(2, "one", ""))
		w.rolledOut()
		w.Must("PATCH", webPath, `{"spec":{"minReadySeconds":7}}`)
		w.rolledOut()
		sets := clustertest.Get[api.List[apps.ReplicaSet]](w.Cluster, setsPath).Items
		if assert.Len(w.t, sets, 1) {
			assert.Equal(w.t, 7, sets[0].Spec.MinReadySeconds)
		}
	})
}
