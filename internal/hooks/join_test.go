package hooks_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/controller/leaderelection"
	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient"
)

// Every JoinTraces joins every hook, and calls the hooks in the order of the arguments.
func TestJoinTraces(t *testing.T) {
	for gear, check := range map[string]func(*testing.T){
		"deltafifo":      joins(deltafifo.JoinTraces[string]),
		"indexer":        joins(indexer.JoinTraces),
		"informer":       joins(informer.JoinTraces),
		"leaderelection": joins(leaderelection.JoinTraces),
		"nsctl":          joins(nsctl.JoinTraces),
		"queue":          joins(queue.JoinTraces[string]),
		"reflector":      joins(reflector.JoinTraces),
		"restclient":     joins(restclient.JoinTraces),
	} {
		t.Run(gear, check)
	}
}

// marked returns a trace in which every hook records its call and arguments.
func marked[T any](tell func(hook string, args []reflect.Value)) *T {
	trace := new(T)
	hooks := reflect.ValueOf(trace).Elem()
	for i := range hooks.NumField() {
		hooks.Field(i).Set(reflect.MakeFunc(hooks.Field(i).Type(), func(args []reflect.Value) []reflect.Value {
			tell(hooks.Type().Field(i).Name, args)
			return args[:hooks.Field(i).Type().NumOut()] // a hook with results returns its arguments
		}))
	}
	return trace
}

// joins returns a test that fails if a field of the trace is not joined, or with another one.
func joins[T any](join func(...*T) *T) func(*testing.T) {
	return func(t *testing.T) { testJoin(t, join) }
}

func testJoin[T any](t *testing.T, join func(...*T) *T) {
	var reported []string
	var seen [][]reflect.Value
	mark := func(who string) *T {
		return marked[T](func(hook string, args []reflect.Value) {
			reported = append(reported, who+" "+hook)
			seen = append(seen, args)
		})
	}
	first, second, third := mark("first"), mark("second"), mark("third")

	assert.Nil(t, join())
	assert.Nil(t, join(nil, nil))
	assert.Same(t, first, join(nil, first, nil))

	for name, c := range map[string]struct {
		joined *T
		want   []string
	}{
		"all set":    {join(first, nil, second, third), []string{"first", "second", "third"}},
		"unset, set": {join(new(T), second), []string{"second"}},
		"set, unset": {join(first, new(T)), []string{"first"}},
		"both unset": {join(new(T), new(T)), nil},
	} {
		hooks := reflect.ValueOf(c.joined).Elem()
		for i := range hooks.NumField() {
			reported, seen = nil, nil
			hook, field := hooks.Field(i), hooks.Type().Field(i)
			if c.want == nil {
				assert.True(t, hook.IsNil(), "%s: %s", name, field.Name)
				continue
			}
			if !assert.False(t, hook.IsNil(), "%s: %s is forgotten", name, field.Name) {
				continue
			}
			args := make([]reflect.Value, field.Type.NumIn())
			for j := range args {
				args[j] = reflect.New(field.Type.In(j)).Elem()
			}
			hook.Call(args)
			var want []string
			for _, who := range c.want {
				want = append(want, who+" "+field.Name)
			}
			assert.Equal(t, want, reported, "%s: %s", name, field.Name)
			for _, got := range seen {
				assert.Len(t, got, len(args), "%s: %s", name, field.Name)
			}
		}
	}
}
