package informer

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/wait"
)

// borrowed is an object whose fields the detector can see.
type borrowed struct {
	Name   string
	Labels map[string]string
}

// detection is a detector and its findings.
type detection struct {
	*mutationDetector[*borrowed]

	foundMu sync.Mutex
	found   []*MutationError
}

func newDetection() *detection {
	d := &detection{}
	config := MutationDetectorConfig{OnMutation: func(err *MutationError) {
		d.foundMu.Lock()
		defer d.foundMu.Unlock()
		d.found = append(d.found, err)
	}}
	d.mutationDetector = newMutationDetector[*borrowed]("test", &Trace{}, config.withDefaults())
	return d
}

// take runs a check and returns the findings.
func (d *detection) take() []*MutationError {
	d.look()
	return d.taken()
}

func (d *detection) taken() []*MutationError {
	d.foundMu.Lock()
	defer d.foundMu.Unlock()
	found := d.found
	d.found = nil
	return found
}

func TestMutationIsFoundAndShown(t *testing.T) {
	d := newDetection()
	obj := &borrowed{Name: "a", Labels: map[string]string{"app": "web"}}
	d.stored("ns/a", obj)
	assert.Empty(t, d.take())

	obj.Labels["app"] = "changed"
	found := d.take()
	require.Len(t, found, 1)
	assert.Equal(t, "ns/a", found[0].Key)
	assert.EqualError(t, found[0], `object "ns/a" of the store was changed: `+
		`{"Name":"a","Labels":{"app":"web"}} became {"Name":"a","Labels":{"app":"changed"}}`)

	assert.Empty(t, d.take(), "it is reported once")
	obj.Labels["app"] = "again"
	assert.Len(t, d.take(), 1, "but another change is another report")
}

func TestMutationOfAStateThatWasReplacedIsFound(t *testing.T) {
	d := newDetection()
	first, second := &borrowed{Name: "a"}, &borrowed{Name: "b"}
	d.stored("ns/a", first)
	d.stored("ns/a", second)
	first.Name = "changed"
	assert.Len(t, d.take(), 1)
	assert.Empty(t, d.retired)

	d.deleted("ns/a")
	d.deleted("ns/a")
	second.Name = "changed"
	assert.Len(t, d.take(), 1)
	second.Name = "changed again"
	assert.Empty(t, d.take(), "a state is released after its last check")
	assert.Empty(t, d.current)
	assert.Empty(t, d.retired)
}

func TestMutationDetectorLooksEachPeriodAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDetection()
		obj := &borrowed{}
		d.stored("a", obj)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.run(ctx)
		}()
		obj.Name = "1"
		d.deleted("another") // orders the change before the check
		time.Sleep(time.Second - time.Millisecond)
		synctest.Wait()
		assert.Empty(t, d.taken())
		time.Sleep(time.Millisecond)
		synctest.Wait()
		assert.Len(t, d.taken(), 1)
		obj.Name = "2"
		d.deleted("another")
		cancel()
		<-done
		assert.Len(t, d.taken(), 1)
	})
}

func TestMutationIsAPanicByDefault(t *testing.T) {
	defer wait.PanicHandlers.Replace()()
	var traced *MutationError
	d := newMutationDetector[*borrowed]("test", &Trace{Mutated: func(_ string, err *MutationError) { traced = err }},
		MutationDetectorConfig{}.withDefaults())
	obj := &borrowed{}
	d.stored("a", obj)
	obj.Name = "changed"
	var thrown any
	func() {
		defer func() { thrown = recover() }()
		d.look()
	}()
	assert.ErrorAs(t, thrown.(error), new(*MutationError))
	assert.NotNil(t, traced)
}

func TestMutationDetectorIsSwitchedOnByTheEnvironment(t *testing.T) {
	for value, want := range map[string]bool{"": false, "true": true, "1": true, "false": false, "nonsense": false} {
		t.Setenv(mutationDetectorEnv, value)
		assert.Equal(t, want, MutationDetectorConfig{}.withDefaults().Enabled, value)
	}
	t.Setenv(mutationDetectorEnv, "false")
	assert.True(t, MutationDetectorConfig{Enabled: true}.withDefaults().Enabled, "Config takes precedence")
}
