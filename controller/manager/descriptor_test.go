package manager_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/manager"
)

var three = []manager.Descriptor{
	{Name: "namespace-controller", Alias: "namespace"},
	{Name: "other-controller"},
	{Name: "virtualmachine", Alias: "vm", OnDemand: true},
}

func namesOf(chosen []manager.Descriptor) (names []string) {
	for _, d := range chosen {
		names = append(names, d.Name)
	}
	return names
}

func TestChoose(t *testing.T) {
	tests := []struct {
		name    string
		entries []string
		chosen  []string
	}{
		{"nothing", nil, nil},
		{"all", []string{"*"}, []string{"namespace-controller", "other-controller"}},
		{"all, and one more", []string{"*", "virtualmachine"},
			[]string{"namespace-controller", "other-controller", "virtualmachine"}},
		{"one", []string{"other-controller"}, []string{"other-controller"}},
		{"one by its alias", []string{"namespace"}, []string{"namespace-controller"}},
		{"one on demand", []string{"vm"}, []string{"virtualmachine"}},
		{"all but one", []string{"*", "-other-controller"}, []string{"namespace-controller"}},
		{"all but one by its alias", []string{"*", "-namespace"}, []string{"other-controller"}},
		{"all but one that is not among them", []string{"*", "-virtualmachine"},
			[]string{"namespace-controller", "other-controller"}},
		{"the order does not matter", []string{"-other-controller", "*"}, []string{"namespace-controller"}},
		{"named twice, selected wins", []string{"-other-controller", "other-controller"}, []string{"other-controller"}},
		{"left out without a star selects nothing", []string{"-other-controller"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			chosen, err := manager.Choose(three, test.entries)
			require.NoError(t, err)
			assert.Equal(t, test.chosen, namesOf(chosen))
		})
	}
}

func TestUnknownNames(t *testing.T) {
	for _, entry := range []string{"nonsense", "-nonsense", "", "-", "-*"} {
		_, err := manager.Choose(three, []string{"*", entry})
		var unknown *manager.UnknownNameError
		require.ErrorAs(t, err, &unknown, "entry %q", entry)
		for _, d := range three {
			assert.Contains(t, err.Error(), d.Name, "the message says what exists")
		}
	}
}
