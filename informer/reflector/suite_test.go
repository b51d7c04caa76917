package reflector_test

import (
	"testing"

	"orrery/informer/reflector"
	"orrery/informer/reflector/reflectortest"
)

func TestSuite(t *testing.T) {
	reflectortest.Run(t, reflectortest.Implementation{
		New: func(cfg reflectortest.Config) reflectortest.Reflector { return reflector.New(cfg) },
	})
}
