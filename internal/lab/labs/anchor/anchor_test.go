package anchor_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/anchor"
	"orrery/internal/lab/labs/labtest"
)

func TestAnchorsAreResolved(t *testing.T) {
	repository := labtest.Repository(t)
	labtest.Write(t, repository+"/gear/names.go", `package gear

// Limit is a limit.
const Limit = 3

// Names.
var (
	// First is the first.
	First, Second = 1, 2
	Third         = 3
)
`)
	for text, want := range map[string]anchor.Place{
		"gear/counter.go":                {File: "gear/counter.go", Line: 1},
		"gear/counter.go: Counter":       {File: "gear/counter.go", Name: "Counter", Line: 6, Doc: "Counter counts.\n", Source: "type Counter struct {\n\tmu sync.Mutex\n\tn  int\n}"},
		"gear/counter.go: Counter.Value": {File: "gear/counter.go", Name: "Counter.Value", Line: 19, Doc: "Value returns the sum.\n", Source: "func (c *Counter) Value() int { return c.get() }"},
		"gear/names.go: Limit":           {File: "gear/names.go", Name: "Limit", Line: 4, Doc: "Limit is a limit.\n", Source: "const Limit = 3"},
		"gear/names.go: Second":          {File: "gear/names.go", Name: "Second", Line: 9, Doc: "First is the first.\n", Source: "First, Second = 1, 2"},
	} {
		place, err := anchor.Resolve(repository, text)
		require.NoError(t, err)
		assert.Equal(t, want, place)
	}
	for text, want := range map[string]string{
		"gear/nothing.go":              `"gear/nothing.go": there is no such file`,
		"gear/counter.go: Counter.Sub": `"gear/counter.go: Counter.Sub": the file does not declare that name`,
		"gear/counter.go: Value":       `"gear/counter.go: Value": the file does not declare that name`,
	} {
		_, err := anchor.Resolve(repository, text)
		assert.EqualError(t, err, want)
	}
}
