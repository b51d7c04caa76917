package inorder_test

import (
	"testing"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/inorder"
)

type (
	object = deltafifotest.Object
	deltas = deltafifo.Deltas[*object]
)

var obj = deltafifotest.Obj

func TestContract(t *testing.T) {
	deltafifotest.Run(t, deltafifotest.Implementation{
		New: func(cfg deltafifo.Config[*object]) deltafifotest.Queue { return inorder.New(cfg) },
		Lacks: map[deltafifotest.Capability]string{
			deltafifotest.Accumulation:        "deltas grouped by key are not in order of arrival",
			deltafifotest.KnowsWhatWaits:      "a delta is compared with the store at the front of the queue; without a store there is nothing to compare",
			deltafifotest.Requeue:             "requeued deltas are out of order after later ones, and before them they block every key",
			deltafifotest.RequeueStaysInitial: "it has no requeue",
		},
	})
}
