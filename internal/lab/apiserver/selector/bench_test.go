package selector_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/selector"
)

// A watch evaluates this for every event: it must not allocate.
func BenchmarkLabelsMatch(b *testing.B) {
	s, err := selector.ParseLabels("app in (web,db),!canary,load>3")
	require.NoError(b, err)
	labels := map[string]string{"app": "web", "load": "7"}
	b.ReportAllocs()
	for b.Loop() {
		if !s.Matches(labels) {
			b.Fatal("no match")
		}
	}
}
