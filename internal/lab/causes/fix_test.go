package causes_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
	"orrery/restclient"
	"orrery/restclient/api"
)

// exclusion matches the commands that change the exclusions of a webhook.
var exclusion = regexp.MustCompile(`^kubectl get validatingwebhookconfigurations policy -o json \| jq '\(\.webhooks\[\] \| ` +
	`select\(\.name == "deny\.policy\.io"\) \| \.namespaceSelector\.matchExpressions\) ([+-])= (\[.*\])' \| kubectl replace -f -$`)

// changed does what jq does in such a command: it appends entries to a list, or removes all that
// are equal to one of them.
func changed(t *testing.T, command string, list []any) []any {
	t.Helper()
	match := exclusion.FindStringSubmatch(command)
	require.NotNil(t, match, command)
	var entries []any
	require.NoError(t, json.Unmarshal([]byte(match[2]), &entries))
	if match[1] == "+" {
		return append(list, entries...)
	}
	return slices.DeleteFunc(list, func(has any) bool {
		return slices.ContainsFunc(entries, func(entry any) bool { return reflect.DeepEqual(has, entry) })
	})
}

// The commands that --fix prints for a webhook exclude the namespace, which goes, and then restore
// the configuration as it was. Exclusions of other namespaces that came in between stay.
func TestAnExclusionIsUndone(t *testing.T) {
	f, _ := causes.Find("C07")
	inWorld(t, f, f.SetUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
		_, report := judged(t, c, collect.Options{Interval: time.Second})
		remedies := slices.DeleteFunc(find(report, "C07").Remedies, func(r why.Remedy) bool { return !strings.Contains(r.Command, " | jq ") })
		require.Len(t, remedies, 2, text(t, report))
		assert.Empty(t, remedies[0].When)
		assert.Equal(t, "when the namespace is gone", remedies[1].When)
		configurations := restclient.Dynamic(c.Admin(), api.GroupVersionResource{
			Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations",
		}, "")
		change := func(by func(list []any) []any) (before, after []any) {
			configuration, err := configurations.Get(t.Context(), "policy", api.GetOptions{})
			require.NoError(t, err)
			selector := configuration.Nested("webhooks").([]any)[0].(map[string]any)["namespaceSelector"].(map[string]any)
			before = slices.Clone(selector["matchExpressions"].([]any))
			after = by(slices.Clone(before))
			selector["matchExpressions"] = after
			_, err = configurations.Update(t.Context(), configuration, api.UpdateOptions{})
			require.NoError(t, err)
			return before, after
		}
		before, _ := change(func(list []any) []any { return changed(t, remedies[0].Command, list) })
		time.Sleep(2 * causes.Settled)
		_, err := c.Request(http.MethodGet, "/api/v1/namespaces/shop", "")
		require.True(t, api.IsNotFound(err), "%v", err)
		other := strings.ReplaceAll(remedies[0].Command, `"shop"`, `"other"`)
		change(func(list []any) []any { return append(changed(t, other, nil), list...) })
		_, after := change(func(list []any) []any { return changed(t, remedies[1].Command, list) })
		assert.Equal(t, append(changed(t, other, nil), before...), after)
	})
}
