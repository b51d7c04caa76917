package gears_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/queue"
	"orrery/restclient/api"
)

func TestSetsOfGears(t *testing.T) {
	const noSet = `; use fast, textbook, or single gears such as queue=textbook`
	for _, test := range []struct{ text, want, refused string }{
		{"fast", "fast", ""},
		{"textbook", "textbook", ""},
		{"fast,queue=textbook,deltafifo=inorder", "fast,deltafifo=inorder,queue=textbook", ""},
		{"queue=textbook", "fast,queue=textbook", ""},
		{"textbook, queue=fast", "fast,deltafifo=textbook,indexer=textbook,informer=textbook,nsctl=textbook," +
			"reflector=textbook,restclient=textbook", ""},
		{"textbook,deltafifo=inorder", "textbook,deltafifo=inorder", ""},
		{"", "fast", `there is no set of gears ""` + noSet},
		{"quick", "fast", `there is no set of gears "quick"` + noSet},
		{"queue=textbook,fast", "fast", `fast is for all gears and has to come first, once`},
		{"textbook,fast", "fast", `fast is for all gears and has to come first, once`},
		{"fast,queue", "fast", `queue needs a form; its forms are fast, textbook`},
		{"queue=textbook,queue=fast", "fast", `gear queue is given twice`},
		{"workqueue=fast", "fast", `there is no gear "workqueue"; the gears are deltafifo, indexer, informer, nsctl, ` +
			`queue, reflector, restclient`},
		{"queue=inorder", "fast", `queue has no form "inorder"; its forms are fast, textbook`},
		{"deltafifo=", "fast", `deltafifo has no form ""; its forms are fast, textbook, inorder`},
	} {
		var set gears.Set
		if err := set.Set(test.text); test.refused != "" {
			assert.EqualError(t, err, test.refused)
		} else {
			require.NoError(t, err, test.text)
		}
		assert.Equal(t, test.want, set.String(), "a set that is refused changes nothing")
		again, err := gears.Parse(set.String())
		require.NoError(t, err)
		assert.Equal(t, set.Forms(), again.Forms(), "String is what Parse reads")
		assert.Len(t, set.Forms(), len(gears.Names()), "every gear has a form")
	}
}

// typesOf makes everything that a set chooses, and returns the types.
func typesOf(set gears.Set) map[string]string {
	type object = *api.Namespace
	key := informer.MetaNamespaceKeyFunc[object]
	made := gears.Informer[object](set)
	limiter := queue.NewItemExponentialFailureRateLimiter[string](1, 1)
	newDeleter := gears.Choose(set, "nsctl", nsctlfast.NewDeleter, nsctl.NewDeleter)
	types := map[string]string{
		"queue":      fmt.Sprintf("%T", set.NewQueue(limiter, queue.Config[string]{})),
		"nsctl":      fmt.Sprintf("%T", newDeleter(nsctl.DeleterConfig{})),
		"restclient": fmt.Sprintf("%T", set.Codec()),
		"deltafifo":  "textbook", "indexer": "textbook", "reflector": "textbook", "informer": "textbook",
	}
	if made.NewQueue != nil {
		types["deltafifo"] = fmt.Sprintf("%T", made.NewQueue(deltafifo.Config[object]{KeyFunc: key}))
	}
	if made.NewStore != nil {
		types["indexer"] = fmt.Sprintf("%T", made.NewStore(indexer.Config[object]{KeyFunc: key}))
	}
	if made.NewReflector != nil {
		types["reflector"] = fmt.Sprintf("%T", made.NewReflector(reflector.Config[object]{KeyFunc: key}))
	}
	if made.NewProcessor != nil {
		types["informer"] = fmt.Sprintf("%T", made.NewProcessor())
	}
	return types
}

// Choosing one gear changes that gear and no other.
func TestEachGearIsChosenAlone(t *testing.T) {
	fast := typesOf(gears.Set{})
	for _, gear := range gears.Names() {
		assert.Regexp(t, "fast|machine", fast[gear], "the default form of %s", gear)
		set, err := gears.Parse(gear + "=textbook")
		require.NoError(t, err)
		for other, made := range typesOf(set) {
			if other == gear {
				assert.NotEqual(t, fast[other], made, "--gears %s makes the fast %s", set, other)
			} else {
				assert.Equal(t, fast[other], made, "--gears %s changes %s", set, other)
			}
		}
	}
	inOrder, err := gears.Parse("deltafifo=inorder")
	require.NoError(t, err)
	assert.Contains(t, typesOf(inOrder)["deltafifo"], "inorder.")
}
