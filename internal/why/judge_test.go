package why_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
)

// With --all-namespaces and --watch each change has one line, also the end of a namespace.
func TestChanges(t *testing.T) {
	stuck := evidence(terminating(contentFailure, "x"))
	last := map[string]string{}
	assert.Equal(t, []string{why.Judge(stuck).Sentence}, why.JudgeAll([]why.Evidence{stuck}).Changes(last))
	assert.Empty(t, why.JudgeAll([]why.Evidence{stuck}).Changes(last))
	gone := stuck
	gone.Second = &why.Sample{At: later}
	assert.Equal(t, []string{`namespace "shop" is gone`, "no namespace is Terminating"}, why.JudgeAll([]why.Evidence{gone}).Changes(last))
	assert.Empty(t, last)
	why.JudgeAll([]why.Evidence{stuck}).Changes(last)
	assert.Equal(t, []string{`namespace "shop" is gone`, "no namespace is Terminating"}, why.JudgeAll(nil).Changes(last))
	assert.Empty(t, last)
}
