package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/controllers"
	"orrery/internal/leaderelection"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/wait"
)

// stubborn is a controller that does not end before this is closed.
type stubborn chan struct{}

func (s stubborn) RunWithin(context.Context, context.Context) { <-s }

// A controller that does not let go when the lease is lost does not keep the program from ending, nor from saying why.
func TestAProgramThatHangsIsEndedAndSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hung := make(chan struct{})
		client, err := restclient.New(restclient.Config{Host: "http://nowhere"})
		require.NoError(t, err)
		p := &process{
			options: &runOptions{}, logger: logs.New(logs.Config{Writer: &lockedBuffer{}}),
			manager: controllers.NewManager(controllers.Shared{Client: client}, []controllers.Descriptor{{
				Name: "stubborn",
				New:  func(controllers.ControllerContext) (controllers.Controller, error) { return stubborn(hung), nil },
			}}),
		}
		var why error
		p.lastResort.exit = func(err error) { why = err; close(hung) }
		alive, lose := context.WithCancelCause(t.Context())
		require.NoError(t, p.manager.Prepare(t.Context(), t.Context()))
		began := time.Now()
		lost := &leaderelection.LostError{Lease: "kube-system/orrery", Taken: true, Holder: "another"}
		lose(lost)
		p.work(t.Context(), alive)
		assert.Equal(t, lastMoment, time.Since(began))
		assert.Equal(t, lost, why)
	})
}

func TestTheLastResortIsNotNeededByAProgramThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lastResort{exit: func(error) { t.Error("it has ended") }}
		l.within(time.Second, errors.New("lost"))
		l.disarm()
		l.within(time.Second, errors.New("lost"))
		time.Sleep(time.Minute)
	})
}

// A fault in one place is in the log, with its stack and without what may be an object, and is survived; until then the
// process would have died of it.
func TestPanicsAreSurvivedAndTold(t *testing.T) {
	var out bytes.Buffer
	wait.ReallyCrash.Store(true) // as at the start of a program; runs that tests had side by side leave what the last of them found
	restore := survivePanics(logs.New(logs.Config{Writer: &out, Format: logs.JSON}))
	faults := []func(){
		func() { panic(errors.New("a-secret-of-an-object")) },
		func() { var none []int; _ = none[len(out.Bytes())] },
	}
	for _, fault := range faults {
		func() {
			defer wait.HandleCrashWithContext(context.Background())
			fault()
		}()
	}
	restore()
	told := out.String()
	assert.Contains(t, told, `"panic":"*errors.errorString"`)
	assert.Contains(t, told, "index out of range")
	assert.Contains(t, told, "TestPanicsAreSurvivedAndTold", "the stack")
	assert.NotContains(t, told, "a-secret-of-an-object")
	assert.True(t, wait.ReallyCrash.Load(), "other programs and tests are as they were")
}
