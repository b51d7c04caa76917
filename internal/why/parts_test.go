package why_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has what may be the owner, or another part of it, or what was not read of it.

// No pod starts in a terminating namespace: what was there is run elsewhere.
func TestAProgramInAnotherTerminatingNamespace(t *testing.T) {
	orphaned, group, webhook := held(since("deployment", "keda-operator", 0, time.Hour)), undiscovered("ops"), unreachable()
	for id, test := range map[string]struct {
		e    why.Evidence
		in   string
		want string
	}{
		"C04": {orphaned, "ops", "run keda-operator in another namespace until the objects are gone: ops is terminating, too"},
		"C01": {group, "ops", "run the server in another namespace, and set spec.service of APIService v1.g.io to it: ops is terminating, too"},
		"C07": {webhook, "guard", "run the server behind Service guard/guard in another namespace, and name its Service there: guard is terminating, too"},
	} {
		test.e.Terminating = []string{"shop"}
		assert.NotEqual(t, test.want, find(why.Judge(test.e), id).Do[0])
		test.e.Terminating = []string{test.in, "shop"}
		found, lines := advice(t, test.e, id)
		assert.Equal(t, test.want, found.Do[0], id)
		assert.NotContains(t, lines, "--replicas=1")
	}
}

func TestThePageIsThatOfTheCatalogue(t *testing.T) {
	page, err := os.ReadFile("../../docs/operate/stuck-namespaces.md")
	require.NoError(t, err)
	assert.Equal(t, why.Page(), string(page), "run: go generate ./internal/why")
}
