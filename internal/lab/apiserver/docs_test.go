package apiserver_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/faults"
)

// docs/operate/apiserver.md documents every fault in the words of the catalogue.
func TestEveryFaultIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operate/apiserver.md")
	require.NoError(t, err)
	for _, kind := range faults.Catalogue() {
		row := "| `" + strings.ReplaceAll(kind.Usage, "|", `\|`) + "` | " + kind.Summary + " |\n"
		assert.Contains(t, string(text), row, kind.Name)
	}
}
