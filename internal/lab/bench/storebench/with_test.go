package storebench

import (
	"reflect"

	"github.com/spf13/pflag"
)

// with returns what the flags are by default, changed where c says something.
func with(c Config) *Config {
	var made Config
	made.AddTo(pflag.NewFlagSet("", pflag.ContinueOnError))
	change(reflect.ValueOf(&made).Elem(), reflect.ValueOf(c))
	return &made
}

func change(to, from reflect.Value) {
	for i := range from.NumField() {
		switch field := from.Field(i); {
		case field.Kind() == reflect.Struct:
			change(to.Field(i), field)
		case !field.IsZero():
			to.Field(i).Set(field)
		}
	}
}
