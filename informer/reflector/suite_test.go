package reflector_test

import (
	"testing"

	"orrery/informer/reflector"
	"orrery/informer/reflector/reflectortest"
)

func TestSuite(t *testing.T) {
	const asTheArticle = "the page follows the article; package machine has it"
	reflectortest.Run(t, reflectortest.Implementation{
		New: func(cfg reflectortest.Config) reflectortest.Reflector { return reflector.New(cfg) },
		Lacks: map[reflectortest.Capability]string{
			reflectortest.StreamingLists:    asTheArticle,
			reflectortest.IdleTimeouts:      asTheArticle,
			reflectortest.ListTimeouts:      asTheArticle,
			reflectortest.VerifiedPositions: asTheArticle,
			reflectortest.ResyncBeat:        "like client-go it starts the timer of the resync with each list",
		},
	})
}
