package deltafifo_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
)

type object = deltafifotest.Object

func TestContract(t *testing.T) {
	deltafifotest.Run(t, deltafifotest.Implementation{
		New: func(cfg deltafifo.Config[*object]) deltafifotest.Queue { return deltafifo.New(cfg) },
		Lacks: map[deltafifotest.Capability]string{
			deltafifotest.FreeProducers: "its one lock is held while a process function runs, as in " +
				"client-go; package fast has it",
			deltafifotest.RequeueStaysInitial: "it counts the initial population, as the article does; package " +
				"fast marks its keys",
		},
	})
}

func TestNewNeedsAKeyFunc(t *testing.T) {
	assert.Panics(t, func() { deltafifo.New(deltafifo.Config[*object]{}) })
}

// Objects can be Secrets: the text of an error contains their type, not their content.
func TestErrorsDoNotShowObjects(t *testing.T) {
	type secret struct{ password string }
	queue := deltafifo.New(deltafifo.Config[*secret]{
		KeyFunc: func(*secret) (string, error) { return "", errors.New("no name") },
	})
	err := queue.Add(&secret{"hunter2"})
	assert.EqualError(t, err, "deltafifo: cannot compute a key for an object of type *deltafifo_test.secret: no name")

	queue = deltafifo.New(deltafifo.Config[*secret]{
		KeyFunc:   func(*secret) (string, error) { return "ns/name", nil },
		Transform: func(*secret) (*secret, error) { return nil, errors.New("too strange") },
	})
	err = queue.Add(&secret{"hunter2"})
	assert.EqualError(t, err, `deltafifo: cannot transform object "ns/name": too strange`)

	assert.EqualError(t, &deltafifo.ErrRequeue{Err: errors.New("why")}, "why")
	assert.EqualError(t, &deltafifo.ErrRequeue{}, "deltafifo: the process function asked for the item to be put back")
}
