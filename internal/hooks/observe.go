package hooks

import "reflect"

// Observe is for tests: it returns a trace in which every hook calls tell, with the name of the
// hook and its arguments. A hook with results returns its first arguments.
func Observe[T any](tell func(hook string, args []any)) *T {
	trace := new(T)
	fields := reflect.ValueOf(trace).Elem()
	for i := range fields.NumField() {
		hook := fields.Type().Field(i)
		fields.Field(i).Set(reflect.MakeFunc(hook.Type, func(args []reflect.Value) []reflect.Value {
			values := make([]any, len(args))
			for j := range args {
				values[j] = args[j].Interface()
			}
			tell(hook.Name, values)
			return args[:hook.Type.NumOut()]
		}))
	}
	return trace
}
