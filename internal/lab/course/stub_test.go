package course_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
)

const reference = `package gear

import (
	"fmt"
	"strings"
	"sync"
)

// Gear is a type.
type Gear[K comparable] struct{ mu sync.Mutex }

// Turn turns; see Interface.
func (g *Gear[K]) Turn(n int) (err error) {
	g.mu.Lock() // the answer
	return fmt.Errorf("%d %d", n, g.teeth())
}

// teeth is a helper.
func (g *Gear[K]) teeth() int { return len(strings.Repeat("x", 3)) }

// Free is a function.
func Free[T any](a, b T) { _ = a }
`

func parse(t *testing.T, text string) *course.Page {
	t.Helper()
	page, err := course.ParsePage("gear.go", []byte(text))
	require.NoError(t, err)
	return page
}

func TestAStubHasCommentsAndNoBodies(t *testing.T) {
	made, err := parse(t, reference).Make("04", []string{"Gear.Turn", "Free"}, []string{"Gear.teeth"})
	require.NoError(t, err)
	assert.Equal(t, `package gear

import (
	"sync"
)

// Gear is a type.
type Gear[K comparable] struct{ mu sync.Mutex }

// Turn turns; see Interface.
func (g *Gear[K]) Turn(n int) (err error) {
	panic("lab 04: Gear.Turn is yours to write")
}

// Free is a function.
func Free[T any](a, b T) {
	panic("lab 04: Free is yours to write")
}
`, string(made))
	for name, want := range map[string]string{"Gear.Stop": "there is no function Gear.Stop with a body",
		"Gear": "there is no function Gear with a body"} {
		_, err := parse(t, reference).Make("04", []string{name}, nil)
		assert.EqualError(t, err, want)
	}
	_, err = parse(t, reference).Make("04", nil, []string{"nothing"})
	assert.EqualError(t, err, "there is no function nothing to remove")
}

func TestWhatIsStillToWrite(t *testing.T) {
	page := parse(t, reference)
	assert.Empty(t, page.Unwritten())
	made, err := page.Make("04", []string{"Gear.Turn"}, nil)
	require.NoError(t, err)
	unwritten := parse(t, string(made)).Unwritten()
	require.Len(t, unwritten, 1)
	assert.Equal(t, "Gear.Turn", unwritten[0].Name)
	assert.Equal(t, 12, unwritten[0].Line)

	name, ok := course.UnwrittenIn("panic: lab 04: Gear.Turn is yours to write [recovered, repanicked]")
	assert.True(t, ok)
	assert.Equal(t, "Gear.Turn", name)
	_, ok = course.UnwrittenIn("panic: runtime error")
	assert.False(t, ok)
}

// A YAML file is a page: its keys are functions, and comments stay.
func TestAPageInYAML(t *testing.T) {
	const text = "# The seed.\nseed: 1\n\n# The first one.\nfirst:\n  causes: [C01]\n  # within\n  proof:\n    - " +
		"/a\n\n# The second one.\nsecond: {causes: [C02]}\n"
	page, err := course.ParsePage("verdict.yaml", []byte(text))
	require.NoError(t, err)
	var names []string
	for _, f := range page.Functions() {
		names = append(names, f.Name)
	}
	assert.Equal(t, []string{"seed", "first", "second"}, names)
	first, _ := page.Function("first")
	assert.Equal(t, []int{5, 9}, []int{first.Line, first.End})
	assert.Empty(t, page.Unwritten())

	made, err := page.Make("13", []string{"first", "second"}, nil)
	require.NoError(t, err)
	assert.Equal(t,
		"# The seed.\nseed: 1\n\n# The first one.\nfirst: \"lab 13: first is yours to write\"\n\n# The second "+
			"one.\nsecond: \"lab 13: second is yours to write\"\n", string(made))
	stubbed, err := course.ParsePage("verdict.yaml", made)
	require.NoError(t, err)
	assert.Len(t, stubbed.Unwritten(), 2)
	_, err = page.Make("13", []string{"third"}, nil)
	assert.ErrorContains(t, err, "there is no function third")
	_, err = page.Make("13", nil, []string{"seed"})
	assert.ErrorContains(t, err, "there is no function seed to remove")
}
