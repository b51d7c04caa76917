// Package benchtest helps to test benchmarks.
package benchtest

import (
	"reflect"

	"github.com/spf13/pflag"
)

// With returns the configuration with the flags' default values, except for the nonzero fields of
// c. addTo is the method that registers the flags.
func With[C any](c C, addTo func(*C, *pflag.FlagSet)) *C {
	made := new(C)
	addTo(made, pflag.NewFlagSet("", pflag.ContinueOnError))
	override(reflect.ValueOf(made).Elem(), reflect.ValueOf(c))
	return made
}

func override(to, from reflect.Value) {
	for i := range from.NumField() {
		switch field := from.Field(i); {
		case field.Kind() == reflect.Struct:
			override(to.Field(i), field)
		case !field.IsZero():
			to.Field(i).Set(field)
		}
	}
}
