package dispatchbench

import (
	"reflect"
	"strings"
)

// Clone returns a copy of v that shares no memory with it, strings included, as if both had been
// decoded separately. (An API type's DeepCopy shares strings.) Unexported fields are copied
// shallowly.
func Clone[T any](v T) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	out.Set(reflect.ValueOf(&v).Elem())
	detach(out)
	return out.Interface().(T)
}

// detach replaces everything v refers to with copies.
func detach(v reflect.Value) {
	if !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Clone(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			detach(copied.Elem())
			v.Set(copied)
		}
	case reflect.Slice:
		if !v.IsNil() {
			copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(copied, v)
			for i := range copied.Len() {
				detach(copied.Index(i))
			}
			v.Set(copied)
		}
	case reflect.Map:
		if !v.IsNil() {
			v.Set(clonedMap(v))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			detach(v.Field(i))
		}
	}
}

func clonedMap(v reflect.Value) reflect.Value {
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	entry := func(of reflect.Value) reflect.Value {
		copied := reflect.New(of.Type()).Elem()
		copied.Set(of)
		detach(copied)
		return copied
	}
	for entries := v.MapRange(); entries.Next(); {
		out.SetMapIndex(entry(entries.Key()), entry(entries.Value()))
	}
	return out
}
