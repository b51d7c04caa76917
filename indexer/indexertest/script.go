package indexertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// script is a test as data: writes, separated by semicolons. After each the store must show the
// objects that it holds, and each index the values that its function has for them.
//
//	add a/web@n1+x+y     an object of namespace a on node n1 with two labels; also update
//	delete a/web@other   only the key counts
//	deletekey a/web
//	replace a/web n1     by these objects
type script string

func (s script) run(t *testing.T, impl Implementation) { s.play(t, impl) }

// play returns the store at the end.
func (s script) play(t *testing.T, impl Implementation) Indexer {
	t.Helper()
	x, stored := impl.empty(), map[string]*Object{}
	var played []string
	for step := range strings.SplitSeq(string(s), "; ") {
		verb, rest, _ := strings.Cut(step, " ")
		var given []*Object
		for text := range strings.FieldsSeq(rest) {
			given = append(given, written(text))
		}
		switch verb {
		case "add":
			require.NoError(t, x.Add(given[0]))
		case "update":
			require.NoError(t, x.Update(given[0]))
		case "delete":
			require.NoError(t, x.Delete(given[0]))
		case "deletekey":
			x.DeleteKey(rest)
		case "replace":
			require.NoError(t, x.Replace(given, "1"))
			clear(stored)
		default:
			require.Fail(t, fmt.Sprintf("unknown step %q", step))
		}
		for _, o := range given {
			stored[o.Key()] = o
			if strings.HasPrefix(verb, "delete") {
				delete(stored, o.Key())
			}
		}
		assertHolds(t, x, slices.Collect(maps.Values(stored))...)
		if played = append(played, step); t.Failed() {
			t.Fatalf("after %s", strings.Join(played, "; "))
		}
	}
	return x
}

// written reads "a/web@n1+x+y".
func written(text string) *Object {
	labels := strings.Split(text, "+")
	key, node, _ := strings.Cut(labels[0], "@")
	namespace, name, namespaced := strings.Cut(key, "/")
	if !namespaced {
		namespace, name = "", key
	}
	return pod(namespace, name, node, labels[1:]...)
}
