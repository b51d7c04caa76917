package manager_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/manager"
)

func TestChoose(t *testing.T) {
	three := []manager.Descriptor{
		{Name: "namespace-controller", Alias: "namespace"},
		{Name: "other-controller"},
		{Name: "virtualmachine", Alias: "vm", OnDemand: true},
	}
	const unknown = "there is no controller "
	for _, test := range []struct{ name, entries, want string }{
		{"nothing", "", ""},
		{"all", "*", "namespace-controller other-controller"},
		{"all, and one more", "*,virtualmachine", "namespace-controller other-controller virtualmachine"},
		{"one", "other-controller", "other-controller"},
		{"one by its alias", "namespace", "namespace-controller"},
		{"one on demand", "vm", "virtualmachine"},
		{"all but one", "*,-other-controller", "namespace-controller"},
		{"all but one by its alias", "*,-namespace", "other-controller"},
		{"all but one that is not among them", "*,-virtualmachine", "namespace-controller other-controller"},
		{"the order does not matter", "-other-controller,*", "namespace-controller"},
		{"named twice, selected wins", "-other-controller,other-controller", "other-controller"},
		{"left out without a star selects nothing", "-other-controller", ""},
		{"unknown", "*,nonsense", unknown + `"nonsense"`},
		{"left out, unknown", "*,-nonsense", unknown + `"nonsense"`},
		{"an empty name", "*,", unknown + `""`},
		{"a dash", "*,-", unknown + `""`},
		{"all but all", "*,-*", unknown + `"*"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var entries, names []string
			if test.entries != "" {
				entries = strings.Split(test.entries, ",")
			}
			chosen, err := manager.Choose(three, entries)
			if strings.HasPrefix(test.want, unknown) {
				assert.ErrorContains(t, err, test.want)
				assert.ErrorContains(t, err, "namespace-controller, other-controller, virtualmachine", "what exists")
				return
			}
			require.NoError(t, err)
			for _, d := range chosen {
				names = append(names, d.Name)
			}
			assert.Equal(t, test.want, strings.Join(names, " "))
		})
	}
}
