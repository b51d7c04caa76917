package nsctl

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/hooks/hookstest"
)

func TestJoinTraces(t *testing.T) { hookstest.Run(t, JoinTraces) }

// With or without hooks set, every hook may be called except the three whose callers check for nil.
func TestEveryHookMayBeCalled(t *testing.T) {
	optional := []string{"PhaseStarted", "PhaseDone", "PassStuck"}
	for _, trace := range []*Trace{nil, {}, {Gone: func(string, time.Duration) {}}} {
		complete := reflect.ValueOf(*trace.complete())
		for i := range complete.NumField() {
			if name := complete.Type().Field(i).Name; !assert.Equal(t, complete.Field(i).IsNil(), slices.Contains(optional, name), name) {
				t.Log("a hook that is not set must be a function that does nothing")
			}
		}
		ctx := t.Context()
		assert.Equal(t, ctx, trace.complete().PassContext(ctx, "ns"))
		trace.Phase("ns", PhasePods)()
	}
}

func TestHooksThatAreSetAreCalled(t *testing.T) {
	type key struct{}
	var gone []string
	trace := (&Trace{
		Gone: func(namespace string, _ time.Duration) { gone = append(gone, namespace) },
		PassContext: func(ctx context.Context, namespace string) context.Context {
			return context.WithValue(ctx, key{}, namespace)
		},
		PhaseDone: func(namespace string, phase Phase, _ time.Duration) { gone = append(gone, string(phase)) },
	}).complete()
	trace.Gone("a", 0)
	trace.Phase("a", PhasePods)()
	assert.Equal(t, []string{"a", "pods"}, gone)
	assert.Equal(t, "b", trace.PassContext(t.Context(), "b").Value(key{}))
}
