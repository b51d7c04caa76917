package stub_test

import (
	"go/format"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/stub"
)

const switched = `package gear

import "strings"

// T has a sum.
type T struct{ n int }

func (t *T) Add(n int) {
	t.n += n
}

func (t *T) Name() string {
	return strings.Repeat("x", t.n)
}

func idle() {}
`

func TestSeveralVersionsInOnePage(t *testing.T) {
	version := func(name string, replace ...string) stub.Version {
		text := strings.NewReplacer(replace...).Replace(switched)
		require.NotEqual(t, switched, text, name)
		return stub.Version{Name: name, Page: parse(t, text)}
	}
	text, left := parse(t, switched).Switch("chosen", []stub.Version{
		version("less", "+=", "-="),
		version("none", "import \"strings\"\n\n", "", `strings.Repeat("x", t.n)`, `"x"`, "t.n += n", `panic("none")`),
		version("another type", "n int }", "n int64 }"),
		version("another comment", "a sum", "no sum"),
		version("another import", `import "strings"`, "import (\n\t\"os\"\n\t\"strings\"\n)", "t.n += n", `os.Exit(n)`),
		version("another function", "func idle() {}\n", ""),
		version("another signature", "idle()", "idle(int)"),
		version("a label", "t.n += n", "again:\n\tgoto again"),
	})
	assert.Equal(t, []string{"another type", "another comment", "another import", "another function", "another signature", "a label"}, left)
	formatted, err := format.Source(text)
	require.NoError(t, err)
	assert.Equal(t, `package gear

import "strings"

// T has a sum.
type T struct{ n int }

func (t *T) Add(n int) {
	if chosen == "less" {
		t.n -= n

		return
	}

	if chosen == "none" {
		panic("none")

		return
	}

	t.n += n
}

func (t *T) Name() string {
	if chosen == "none" {
		return "x"
	}

	return strings.Repeat("x", t.n)
}

func idle() {}
`, string(formatted))
}

func TestAPageInYAMLHasOneVersion(t *testing.T) {
	page, err := stub.Parse("a.yaml", []byte("a: 1\n"))
	require.NoError(t, err)
	text, left := page.Switch("chosen", []stub.Version{{Name: "b", Page: page}})
	assert.Equal(t, "a: 1\n", string(text))
	assert.Equal(t, []string{"b"}, left)
}
