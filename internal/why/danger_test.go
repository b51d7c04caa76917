package why_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// advice returns all that a finding advises, a line each.
func advice(t *testing.T, e why.Evidence, id string) (f *why.Finding, lines string) {
	t.Helper()
	f = find(why.Judge(e), id)
	require.NotNil(t, f)
	lines = strings.Join(f.Do, "\n") + "\n"
	for _, r := range f.Remedies {
		lines += strings.Join([]string{r.When, r.Command}, " ") + "\n"
	}
	return f, lines
}

// Two findings about one namespace give two rights of their own, and take them away again.
func TestTwoRightsHaveTwoNames(t *testing.T) {
	e := withoutRights()
	things := typeOf("keda.sh", "scaledjobs", object("b", "finalizer.keda.sh"))
	e.Types, e.Second.Types = append(e.Types, things), append(e.Second.Types, things)
	for _, verb := range []string{"update", "patch", "list"} {
		e.Reviews = append(e.Reviews, why.Review{User: "system:serviceaccount:keda:operator", Verb: verb, Group: "keda.sh", Resource: "scaledjobs", Allowed: verb == "list"})
	}
	created := map[string]bool{}
	for _, f := range why.Judge(e).Findings {
		for _, r := range f.Remedies {
			if words := strings.Fields(r.Command); f.ID == "C06" && words[1] == "create" && words[2] == "clusterrole" {
				assert.False(t, created[words[3]], words[3])
				created[words[3]] = true
			}
		}
	}
	assert.Len(t, created, 2)
}
