package deltafifotest

import (
	"orrery/deltafifo"
	"orrery/deltafifo/naive"
)

// Naive is the queue of package naive for the objects of the suite.
type Naive = naive.FIFO[*Object]

// NewNaive returns an empty one.
func NewNaive(cfg deltafifo.Config[*Object]) *Naive { return naive.New(cfg) }
