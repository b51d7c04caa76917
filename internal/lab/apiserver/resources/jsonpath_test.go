package resources

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The paths are those of real definitions.
func TestPathsOfColumns(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"cluster.x-k8s.io/cluster-name": "c"}},
		"spec":     map[string]any{"hosts": []any{"a", "b"}},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": "True"}, map[string]any{"type": "Other", "status": "False"},
		}},
	}
	for text, want := range map[string][]any{
		`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`: {"c"},
		`.metadata.labels.cluster\.x-k8s\.io/cluster-name`:    {"c"},
		`.status.conditions[?(@.type=="Ready")].status`:       {"True"},
		`.status.conditions[?(@.type=='Ready')].status`:       {"True"},
		`.spec.hosts[1]`:    {"b"},
		`.spec.hosts[-1:]`:  {"b"},
		`.spec.hosts[*]`:    {"a", "b"},
		`.spec['hosts'][0]`: {"a"},
		`.spec.missing`:     nil,
	} {
		path, err := parseJSONPath(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, path.find(object), text)
	}
}
