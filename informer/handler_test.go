package informer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// calls is a handler that writes down its calls.
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

func TestFilterTranslatesWhatCrossesIt(t *testing.T) {
	in := &thing{namespace: "ns", name: "a", version: "in"}
	inToo := &thing{namespace: "ns", name: "a", version: "in too"}
	out := &thing{namespace: "ns", name: "a", version: "out"}
	for name, c := range map[string]struct {
		do   func(h ResourceEventHandler[*thing])
		want calls
	}{
		"an addition inside":  {func(h ResourceEventHandler[*thing]) { h.OnAdd(in, true) }, calls{"add a initial"}},
		"an addition outside": {func(h ResourceEventHandler[*thing]) { h.OnAdd(out, true) }, nil},
		"an update inside":    {func(h ResourceEventHandler[*thing]) { h.OnUpdate(in, inToo) }, calls{"update a in->in too"}},
		"an update outside":   {func(h ResourceEventHandler[*thing]) { h.OnUpdate(out, out) }, nil},
		"it comes in":         {func(h ResourceEventHandler[*thing]) { h.OnUpdate(out, in) }, calls{"add a"}},
		"it goes out":         {func(h ResourceEventHandler[*thing]) { h.OnUpdate(in, out) }, calls{"delete ns/a"}},
		"a deletion inside": {func(h ResourceEventHandler[*thing]) {
			h.OnDelete(DeletedObject[*thing]{Key: "ns/a", Object: in, FinalStateUnknown: true})
		}, calls{"delete ns/a unknown"}},
		"a deletion outside": {func(h ResourceEventHandler[*thing]) {
			h.OnDelete(DeletedObject[*thing]{Key: "ns/a", Object: out})
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got calls
			c.do(FilteringResourceEventHandler[*thing]{
				FilterFunc: func(obj *thing) bool { return obj.version != "out" },
				Handler:    &got,
			})
			assert.Equal(t, c.want, got)
		})
	}
}

func TestFilterWithoutFuncLetsEverythingThrough(t *testing.T) {
	var got calls
	h := FilteringResourceEventHandler[*thing]{Handler: &got}
	h.OnAdd(&thing{name: "a"}, false)
	assert.Equal(t, calls{"add a"}, got)
}

func TestNamesOfKinds(t *testing.T) {
	assert.Equal(t, []string{"add", "update", "delete", "synced", "unknown"},
		[]string{EventAdd.String(), EventUpdate.String(), EventDelete.String(), EventSynced.String(), EventKind(0).String()})
	assert.Equal(t, []string{"new", "running", "stopped"},
		[]string{StateNew.String(), StateRunning.String(), StateStopped.String()})
}
