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
			deltafifotest.Accumulation:        "a key with its deltas in one place is not in order of arrival",
			deltafifotest.KnowsWhatWaits:      "a delta is compared with the store in its turn; without a store there is nothing to compare",
			deltafifotest.Requeue:             "what is put back is out of order behind later deltas, and in front of them it blocks every key",
			deltafifotest.RequeueStaysInitial: "it has no requeue",
		},
	})
}
