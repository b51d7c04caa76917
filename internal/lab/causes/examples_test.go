package causes_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
)

var update = flag.Bool("update", false, "write the examples into the package why; go generate ./internal/why puts them on the page")

// What the page shows of each cause is what kubectl describe says of its fixture. The sentence of
// orrery why is recorded beside it.
func TestExamples(t *testing.T) {
	examples := map[string]why.Example{}
	inEach(t, nil, func(t *testing.T, f causes.Fixture, c *clustertest.Cluster) {
		evidence, report := judged(t, c, collect.Options{})
		examples[f.ID] = why.ExampleOf(evidence.Namespace, report)
	})
	if *update {
		var text bytes.Buffer
		require.NoError(t, why.WriteExamples(&text, examples))
		require.NoError(t, os.WriteFile("../../why/examples.json", text.Bytes(), 0o644))
		return
	}
	assert.Equal(t, why.Examples(), examples, "run: go test ./internal/lab/causes -run TestExamples -update && go generate ./internal/why")
}
