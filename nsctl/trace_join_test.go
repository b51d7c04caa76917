package nsctl_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/nsctl"
)

// markedTrace is a trace whose every hook tells who was called and with what.
func markedTrace(tell func(args []reflect.Value)) *nsctl.Trace {
	trace := &nsctl.Trace{}
	hooks := reflect.ValueOf(trace).Elem()
	for i := range hooks.NumField() {
		hooks.Field(i).Set(reflect.MakeFunc(hooks.Field(i).Type(), func(args []reflect.Value) []reflect.Value {
			tell(args)
			return args[:hooks.Field(i).Type().NumOut()] // PassContext returns the context that it gets
		}))
	}
	return trace
}

// Every hook there is gets through: one that is added to Trace and forgotten in JoinTraces fails here.
func TestJoinTraces(t *testing.T) {
	var told []string
	var seen [][]reflect.Value
	mark := func(who string) *nsctl.Trace {
		return markedTrace(func(args []reflect.Value) {
			told = append(told, who)
			seen = append(seen, args)
		})
	}
	first, second, third := mark("first"), mark("second"), mark("third")

	assert.Nil(t, nsctl.JoinTraces())
	assert.Nil(t, nsctl.JoinTraces(nil, nil))
	assert.Same(t, first, nsctl.JoinTraces(nil, first, nil))

	for name, c := range map[string]struct {
		joined *nsctl.Trace
		want   []string
	}{
		"all set":    {nsctl.JoinTraces(first, nil, second, third), []string{"first", "second", "third"}},
		"unset, set": {nsctl.JoinTraces(&nsctl.Trace{}, second), []string{"second"}},
		"set, unset": {nsctl.JoinTraces(first, &nsctl.Trace{}), []string{"first"}},
		"both unset": {nsctl.JoinTraces(&nsctl.Trace{}, &nsctl.Trace{}), nil},
	} {
		hooks := reflect.ValueOf(c.joined).Elem()
		for i := range hooks.NumField() {
			told, seen = nil, nil
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
			assert.Equal(t, c.want, told, "%s: %s", name, field.Name)
			for _, got := range seen {
				assert.Len(t, got, len(args), "%s: %s", name, field.Name)
			}
		}
	}
}
