package hooks_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/hooks"
)

// trace has hooks of each kind: with and without arguments, and with a result.
type trace struct {
	Began   func()
	Counted func(key string, n int)
	Context func(ctx context.Context, key string) context.Context
}

// call calls the hooks that are set.
func (t *trace) call() {
	if t.Began != nil {
		t.Began()
	}
	if t.Counted != nil {
		t.Counted("a", 3)
	}
	if t.Context != nil {
		t.Context(context.Background(), "b")
	}
}

// observers returns traces that write to one log.
func observers(names ...string) (traces []*trace, log *[]string) {
	log = new([]string)
	for _, name := range names {
		traces = append(traces, hooks.Observe[trace](func(hook string, args []any) {
			*log = append(*log, fmt.Sprint(name, " ", hook, " ", args))
		}))
	}
	return traces, log
}

func TestJoin(t *testing.T) {
	traces, log := observers("first", "second", "third")
	first, second, third := traces[0], traces[1], traces[2]
	assert.Nil(t, hooks.Join[trace]())
	assert.Nil(t, hooks.Join[trace](nil, nil))
	assert.Same(t, first, hooks.Join(nil, first, nil))
	assert.Equal(t, &trace{}, hooks.Join(&trace{}, &trace{}), "a hook that no trace sets stays nil")

	hooks.Join(first, nil, second, third).call()
	assert.Equal(t, []string{
		"first Began []", "second Began []", "third Began []",
		"first Counted [a 3]", "second Counted [a 3]", "third Counted [a 3]",
		"first Context [context.Background b]", "second Context [context.Background b]",
		"third Context [context.Background b]",
	}, *log)

	for name, joined := range map[string]*trace{
		"unset, set": hooks.Join(&trace{}, second), "set, unset": hooks.Join(second, &trace{}),
	} {
		*log = nil
		joined.call()
		assert.Equal(t, []string{
			"second Began []", "second Counted [a 3]", "second Context [context.Background b]",
		}, *log, name)
	}
}

// Each trace may derive the context from that of the one before.
func TestJoinPassesResultsOn(t *testing.T) {
	type key string
	deriving := func(mark key) *trace {
		return &trace{Context: func(ctx context.Context, _ string) context.Context {
			return context.WithValue(ctx, mark, true)
		}}
	}
	ctx := hooks.Join(deriving("first"), deriving("second")).Context(t.Context(), "a")
	assert.Equal(t, true, ctx.Value(key("first")))
	assert.Equal(t, true, ctx.Value(key("second")))
}

func TestComplete(t *testing.T) {
	complete := hooks.Complete[trace](nil, "Began")
	assert.Nil(t, complete.Began, "a hook that is checked may be nil")
	complete.call()
	assert.Equal(t, t.Context(), complete.Context(t.Context(), "a"))

	traces, log := observers("own")
	hooks.Complete(&trace{Counted: traces[0].Counted}).call()
	assert.Equal(t, []string{"own Counted [a 3]"}, *log)
}
