package deltafifo_test

import (
	"testing"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
)

type (
	object = deltafifotest.Object
	deltas = deltafifo.Deltas[*deltafifotest.Object]
)

var obj = deltafifotest.Obj

func TestContract(t *testing.T) {
	deltafifotest.Run(t, deltafifotest.Implementation{
		New: func(cfg deltafifo.Config[*object]) deltafifotest.Queue { return deltafifo.New(cfg) },
	})
}
