package informer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// calls is a handler that records its calls.
type calls []string

func (c *calls) OnAdd(obj *thing, initial bool) {
	*c = append(*c, "add "+obj.name+map[bool]string{true: " initial"}[initial])
}

func (c *calls) OnUpdate(old, obj *thing) {
	*c = append(*c, "update "+old.name+" "+old.version+"->"+obj.version)
}

func (c *calls) OnDelete(d DeletedObject[*thing]) {
	*c = append(*c, "delete "+d.Key+map[bool]string{true: " unknown"}[d.FinalStateUnknown])
}

func TestFuncsMayBeNil(t *testing.T) {
	var none ResourceEventHandlerFuncs[*thing]
	none.OnAdd(&thing{}, true)
	none.OnUpdate(&thing{}, &thing{})
	none.OnDelete(DeletedObject[*thing]{})

	var c calls
	all := ResourceEventHandlerFuncs[*thing]{AddFunc: c.OnAdd, UpdateFunc: c.OnUpdate, DeleteFunc: c.OnDelete}
	all.OnAdd(&thing{name: "a"}, true)
	all.OnUpdate(&thing{name: "a", version: "1"}, &thing{name: "a", version: "2"})
	all.OnDelete(DeletedObject[*thing]{Key: "a", FinalStateUnknown: true})
	assert.Equal(t, calls{"add a initial", "update a 1->2", "delete a unknown"}, c)
}

func TestNamesOfKinds(t *testing.T) {
	assert.Equal(t, []string{"add", "update", "delete", "synced", "unknown"},
		[]string{EventAdd.String(), EventUpdate.String(), EventDelete.String(), EventSynced.String(), EventKind(0).String()})
	assert.Equal(t, []string{"new", "running", "stopped"},
		[]string{StateNew.String(), StateRunning.String(), StateStopped.String()})
}
