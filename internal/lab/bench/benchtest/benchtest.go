// Package benchtest helps to test benchmarks.
package benchtest

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

// Scenarios runs every scenario of every subject, with little work. Each must have the figures of
// want, above zero unless it is a queue's, which may allocate nothing, and the same proof for each
// subject that has it.
func Scenarios[S interface{ Name() string }](
	t *testing.T, subjects []S, of func(S) []bench.Scenario, want map[string][]string,
) {
	proofs := map[string]string{}
	for _, subject := range subjects {
		for _, scenario := range of(subject) {
			t.Run(scenario.Name+"/"+subject.Name(), func(t *testing.T) {
				outcome, err := scenario.Run(t.Context(), bench.Quick)
				require.NoError(t, err)
				assert.ElementsMatch(t, want[scenario.Name], slices.Collect(maps.Keys(outcome.Figures)))
				for name, value := range outcome.Figures {
					assert.True(t, value > 0 || strings.HasPrefix(scenario.Name, "queue/"), "%s is %v", name, value)
				}
				assert.NotEmpty(t, outcome.Proof)
				if first, known := proofs[scenario.Name]; known {
					assert.Equal(t, first, outcome.Proof, "the same work")
				}
				proofs[scenario.Name] = outcome.Proof
			})
		}
	}
	assert.Len(t, proofs, len(want))
}

// EndsWithContext runs scenarios whose context has ended.
func EndsWithContext(t *testing.T, scenarios []bench.Scenario) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, scenario := range scenarios {
		_, err := scenario.Run(ended, bench.Quick)
		assert.ErrorIs(t, err, context.Canceled, scenario.Name)
	}
}

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
