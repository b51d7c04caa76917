package informer

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/wait"
)

func TestDiffShowsWhatChanged(t *testing.T) {
	for _, c := range []struct {
		name, was, is string
		want          []string
	}{
		{"nothing", `{"a":[1,{"b":null}]}`, `{"a":[1,{"b":null}]}`, nil},
		{"a field", `{"a":1}`, `{"a":2}`, []string{"a was 1 and is 2"}},
		{"a field deep down", `{"a":{"b":{"c":"x"}}}`, `{"a":{"b":{"c":"y"}}}`, []string{`a.b.c was "x" and is "y"`}},
		{"a new field", `{}`, `{"a":null}`, []string{"a was (absent) and is null"}},
		{"a lost field", `{"a":null}`, `{}`, []string{"a was null and is (absent)"}},
		{"a key that is no word", `{"l":{"x/y":"1"}}`, `{"l":{"x/y":"2"}}`, []string{`l["x/y"] was "1" and is "2"`}},
		{"an element", `["a","b"]`, `["a","c","d"]`, []string{`[1] was "b" and is "c"`, `[2] was (absent) and is "d"`}},
		{"another type", `{"a":{"b":1}}`, `{"a":[1]}`, []string{`a was {…} and is […]`, `a.b was 1 and is (absent)`, `a[0] was (absent) and is 1`}},
		{"a map instead of a value", `{"a":1}`, `{"a":{}}`, []string{`a was 1 and is {…}`}},
		{"a value instead of a list", `{"a":[]}`, `{"a":1}`, []string{`a was […] and is 1`}},
		{"the last entry of a map", `{"a":{"b":1}}`, `{"a":{}}`, []string{`a.b was 1 and is (absent)`}},
		{"numbers that floats cannot tell apart", `9007199254740992`, `9007199254740993`,
			[]string{" was 9007199254740992 and is 9007199254740993"}},
		{"no JSON", `was`, `is`, []string{" was was and is is"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, d := range diffJSON([]byte(c.was), []byte(c.is)) {
				got = append(got, d.String())
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestDiffStopsAtSomeLength(t *testing.T) {
	was, is := "["+strings.Repeat("1,", 100)+"1]", "["+strings.Repeat("2,", 100)+"2]"
	assert.Len(t, diffJSON([]byte(was), []byte(is)), maxDifferences)
}

// borrowed is an object whose fields the detector can see.
type borrowed struct {
	Name   string
	Labels map[string]string
	Weight float64
}

// detection is a detector and its findings.
type detection struct {
	*mutationDetector[*borrowed]

	foundMu sync.Mutex
	found   []*MutationError
}

func newDetection(config MutationDetectorConfig[*borrowed]) *detection {
	d := &detection{}
	config.OnMutation = func(err *MutationError) {
		d.foundMu.Lock()
		defer d.foundMu.Unlock()
		d.found = append(d.found, err)
	}
	d.mutationDetector = newMutationDetector("test", &Trace{}, config.withDefaults())
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
	d := newDetection(MutationDetectorConfig[*borrowed]{})
	obj := &borrowed{Name: "a", Labels: map[string]string{"app": "web"}}
	require.NoError(t, d.stored("ns/a", obj))
	assert.Empty(t, d.take())

	obj.Labels["app"] = "changed"
	found := d.take()
	require.Len(t, found, 1)
	assert.Equal(t, "ns/a", found[0].Key)
	assert.Equal(t, []Difference{{Path: "Labels.app", Was: `"web"`, Is: `"changed"`}}, found[0].Differences)
	assert.Equal(t, `object "ns/a" of the store was changed: Labels.app was "web" and is "changed"`, found[0].Error())

	assert.Empty(t, d.take(), "it is reported once")
	obj.Labels["app"] = "again"
	assert.Len(t, d.take(), 1, "but another change is another report")
}

func TestMutationOfAStateThatWasReplacedIsFound(t *testing.T) {
	d := newDetection(MutationDetectorConfig[*borrowed]{})
	first, second := &borrowed{Name: "a"}, &borrowed{Name: "b"}
	require.NoError(t, d.stored("ns/a", first))
	require.NoError(t, d.stored("ns/a", second))
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

func TestMutationDetectorForgetsTheOldestOfVeryMany(t *testing.T) {
	d := newDetection(MutationDetectorConfig[*borrowed]{})
	objects := make([]*borrowed, maxRetired+2)
	for i := range objects {
		objects[i] = &borrowed{}
		require.NoError(t, d.stored("a", objects[i]))
	}
	assert.Len(t, d.retired, maxRetired)
	objects[0].Name = "too old" // the first was released
	objects[1].Name = "seen"
	assert.Len(t, d.take(), 1)
	d.deleted("a")
	d.look()
	assert.Empty(t, d.current)
	assert.Empty(t, d.retired)
}

func TestObjectThatCannotBeRendered(t *testing.T) {
	d := newDetection(MutationDetectorConfig[*borrowed]{})
	require.ErrorContains(t, d.stored("nan", &borrowed{Weight: math.NaN()}), "cannot watch")

	obj := &borrowed{}
	require.NoError(t, d.stored("a", obj))
	obj.Weight = math.Inf(1)
	found := d.take()
	require.Len(t, found, 1)
	assert.Contains(t, found[0].Error(), "unsupported value")
	assert.Empty(t, d.take())
}

func TestMutationDetectorLooksEachPeriodAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDetection(MutationDetectorConfig[*borrowed]{Period: time.Minute})
		obj := &borrowed{}
		require.NoError(t, d.stored("a", obj))
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.run(ctx)
		}()
		obj.Name = "1"
		d.deleted("another") // orders the change before the check
		time.Sleep(59 * time.Second)
		synctest.Wait()
		assert.Empty(t, d.taken())
		time.Sleep(time.Second)
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
	d := newMutationDetector("test", &Trace{Mutated: func(_ string, err *MutationError) { traced = err }},
		MutationDetectorConfig[*borrowed]{}.withDefaults())
	obj := &borrowed{}
	require.NoError(t, d.stored("a", obj))
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
		assert.Equal(t, want, MutationDetectorConfig[*borrowed]{}.withDefaults().Enabled, value)
	}
	t.Setenv(mutationDetectorEnv, "false")
	assert.True(t, MutationDetectorConfig[*borrowed]{Enabled: true}.withDefaults().Enabled, "Config takes precedence")
}

func TestDetectorWithAnotherRenderer(t *testing.T) {
	broken := errors.New("broken")
	d := newDetection(MutationDetectorConfig[*borrowed]{Render: func(obj *borrowed) ([]byte, error) {
		if obj.Name == "broken" {
			return nil, broken
		}
		return []byte(obj.Name), nil
	}})
	obj := &borrowed{Name: "a"}
	require.NoError(t, d.stored("a", obj))
	obj.Weight = 1
	assert.Empty(t, d.take(), "fields without a JSON form are not checked")
	require.ErrorIs(t, d.stored("b", &borrowed{Name: "broken"}), broken)
}
