package apiserver_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/faults"
	"orrery/restclient/discovery"
)

// docs/operate/apiserver.md documents every fault in the words of the catalogue.
func TestEveryFaultIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operate/apiserver.md")
	require.NoError(t, err)
	for _, kind := range faults.Catalogue() {
		row := "| `" + strings.ReplaceAll(kind.Usage, "|", `\|`) + "` | " + kind.Summary + " | " + kind.Teaches + " |\n"
		assert.Contains(t, string(text), row, kind.Name)
	}
}

// docs/operate/apiserver.md lists the types in discovery.
func TestEveryTypeIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operate/apiserver.md")
	require.NoError(t, err)
	served := map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		_, lists, err := discovery.New(newPiped(t).pipes.Client()).ServerGroupsAndResources(t.Context())
		require.NoError(t, err)
		for _, list := range lists {
			var names []string
			for _, resource := range list.Resources {
				if !strings.Contains(resource.Name, "/") {
					names = append(names, resource.Name)
				}
			}
			slices.Sort(names)
			served[list.GroupVersion] = strings.Join(names, ", ")
		}
	})
	_, section, found := strings.Cut(string(text), "\n### Types\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*)` \\| (.*) \\|$").FindAllStringSubmatch(section, -1) {
		documented[row[1]] = row[2]
	}
	assert.Equal(t, served, documented)
}
