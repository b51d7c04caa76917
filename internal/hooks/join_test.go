package hooks_test

import (
	"context"
	"fmt"
	"strings"
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
	traces, log := observers("first", "second")
	first, second := traces[0], traces[1]
	assert.Nil(t, hooks.Join[trace](nil, nil))
	assert.Same(t, first, hooks.Join(nil, first, nil))
	assert.Equal(t, &trace{}, hooks.Join(&trace{}, &trace{}), "a hook that no trace sets stays nil")
	for names, joined := range map[string]*trace{
		"first second": hooks.Join(first, nil, second),
		"second":       hooks.Join(&trace{}, second, &trace{}),
	} {
		*log = nil
		joined.call()
		var want []string
		for _, what := range []string{"Began []", "Counted [a 3]", "Context [context.Background b]"} {
			for name := range strings.FieldsSeq(names) {
				want = append(want, name+" "+what)
			}
		}
		assert.Equal(t, want, *log, names)
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
