package controllers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/controllers"
)

func TestSelection(t *testing.T) {
	known := []string{"namespace-controller", "other-controller"}
	aliases := map[string]string{"namespace": "namespace-controller"}
	tests := []struct {
		name     string
		entries  []string
		selected []string
	}{
		{"nothing", nil, nil},
		{"all", []string{"*"}, known},
		{"one", []string{"other-controller"}, []string{"other-controller"}},
		{"one by its alias", []string{"namespace"}, []string{"namespace-controller"}},
		{"all but one", []string{"*", "-other-controller"}, []string{"namespace-controller"}},
		{"all but one by its alias", []string{"*", "-namespace"}, []string{"other-controller"}},
		{"the order does not matter", []string{"-other-controller", "*"}, []string{"namespace-controller"}},
		{"named twice, selected wins", []string{"-other-controller", "other-controller"}, []string{"other-controller"}},
		{"left out without a star selects nothing", []string{"-other-controller"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			selection, err := controllers.ParseSelection(test.entries, known, aliases)
			require.NoError(t, err)
			var selected []string
			for _, name := range known {
				if selection.Selects(name) {
					selected = append(selected, name)
				}
			}
			assert.Equal(t, test.selected, selected)
		})
	}
}

func TestSelectionOfUnknownNames(t *testing.T) {
	for _, entry := range []string{"nonsense", "-nonsense", "", "-", "-*"} {
		_, err := controllers.ParseSelection([]string{entry}, []string{"namespace-controller"}, nil)
		var unknown *controllers.UnknownNameError
		require.ErrorAs(t, err, &unknown, "entry %q", entry)
		assert.Contains(t, err.Error(), "namespace-controller", "the message says what exists")
	}
}
