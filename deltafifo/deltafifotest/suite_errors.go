package deltafifotest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var errTransform = errors.New("cannot make sense of it")

// refusing makes Transform refuse version 666. The keys that Config.Refused was called with are
// seen, and so is the number of items that the hook Replaced reports.
func refusing(r *rig, cfg *deltafifo.Config[*Object]) {
	cfg.Transform = func(o *Object) (*Object, error) {
		if o.Version == 666 {
			return nil, errTransform
		}
		return o, nil
	}
	cfg.Refused = func(key string, err error) {
		if _, isKeyError := errors.AsType[*deltafifo.KeyError](err); isKeyError {
			key = "no key"
		} else {
			assert.ErrorIs(r, err, errTransform)
		}
		r.seen = append(r.seen, key)
	}
	cfg.Trace = &deltafifo.Trace[*Object]{Replaced: func(_ string, items, _, _ int) {
		r.seen = append(r.seen, fmt.Sprintf("%d listed", items))
	}}
}

// stamping makes Transform add 1000 to the version. The objects that it gets are seen.
func stamping(r *rig, cfg *deltafifo.Config[*Object]) {
	r.seen = []string{}
	cfg.Transform = func(o *Object) (*Object, error) {
		r.seen = append(r.seen, o.String())
		return Obj(o.Name, o.Version+1000), nil
	}
}

var errorTests = append([]behaviour{
	{"AnObjectWithoutAKeyIsRefused", func(t *testing.T, impl Implementation) {
		for name, call := range map[string]func(Queue) error{
			"Add":    func(q Queue) error { return q.Add(Obj("", 1)) },
			"Update": func(q Queue) error { return q.Update(Obj("", 1)) },
			"Delete": func(q Queue) error { return q.Delete(Obj("", 1)) },
		} {
			r := newRig(t, impl, "", refusing)
			err := call(r.queue)
			keyError, ok := errors.AsType[*deltafifo.KeyError](err)
			require.True(t, ok, "%s: %v", name, err)
			assert.Equal(t, Obj("", 1), keyError.Obj, name)
			assert.ErrorIs(t, err, ErrNameless, name)
			r.expect()
			if impl.has(SkipsRefused) {
				assert.Equal(t, []string{"no key"}, r.seen, "%s: the calls of Config.Refused", name)
			}
		}
	}},
	{"AnAdditionOrUpdateThatTransformRefusesIsNotQueued", func(t *testing.T, impl Implementation) {
		for name, call := range map[string]func(Queue) error{
			"Add":    func(q Queue) error { return q.Add(Obj("bad", 666)) },
			"Update": func(q Queue) error { return q.Update(Obj("bad", 666)) },
		} {
			r := newRig(t, impl, "bad@1", refusing)
			err := call(r.queue)
			assert.ErrorIs(t, err, errTransform, name)
			transformError, typed := errors.AsType[*deltafifo.TransformError](err)
			require.Equal(t, impl.has(TransformErrors), typed, "%s: %v", name, err)
			if typed {
				assert.Equal(t, "bad", transformError.Key, name)
				assert.Equal(t, []string{"bad"}, r.seen, "%s: the calls of Config.Refused", name)
			}
			r.expect()
			assert.Equal(t, []string{"bad@1"}, r.consumer.Objects(), "%s: the store keeps the old state", name)
		}
	}},
}, behaviours([]script{
	{name: "AListedObjectThatIsRefusedCostsOnlyItself", known: "gone@1", config: refusing,
		calls: "list a@1 bad@666 b@1; unsynced",
		want:  "a: Replaced a@1; b: Replaced b@1; gone: Deleted gone@1 (inferred)",
		then:  "synced", seen: "bad; 2 listed",
		without: SkipsRefused, instead: "a: Replaced a@1"}, // and neither b nor the tombstone of gone
	{name: "AListedObjectWithoutAKeyCostsOnlyItself", known: "gone@1", config: refusing,
		calls: "list a@1 @1 b@1; unsynced",
		want:  "a: Replaced a@1; b: Replaced b@1; gone: Deleted gone@1 (inferred)",
		then:  "synced", seen: "no key; 2 listed",
		without: SkipsRefused, instead: "a: Replaced a@1"},
	{name: "AListOfRefusedObjectsIsAList", config: refusing, needs: SkipsRefused,
		calls: "list @1 bad@666; synced", // nothing of the list has to be processed
		want:  "nothing", seen: "no key; bad; 0 listed"},
	{name: "AfterAListThatFailedTheNextOneIsTheFirst", config: refusing,
		calls:   "list @1 bad@666; list a@1",
		want:    "a: Replaced a@1",
		then:    "synced",
		without: SkipsRefused, instead: "a: Replaced a@1"},
	{name: "ADeletionNeedsOnlyItsKey", known: "known@1 changed@1", config: refusing,
		calls: "add waiting@1; update changed@2; " +
			"delete known@666; delete changed@666; delete waiting@666",
		want: "waiting: Added waiting@1, Deleted waiting@1 (inferred); " +
			"changed: Updated changed@2, Deleted changed@2 (inferred); known: Deleted known@1 (inferred)",
		seen:    "known; changed; waiting",
		without: SkipsRefused, instead: "waiting: Added waiting@1; changed: Updated changed@2"},
	{name: "ADeletionOfAnUnknownObjectIsRefusedAndIgnored", config: refusing, needs: SkipsRefused,
		calls: "delete unknown@666",
		want:  "nothing", seen: "unknown"},
	{name: "EachObjectIsTransformedOnce", known: "d@1", config: stamping,
		calls: "add a@1; update a@2; delete a@3; list b@1 c@1 d@2",
		want: "a: Added a@1001, Updated a@1002, Deleted a@1003; b: Replaced b@1001; c: Replaced c@1001; " +
			"d: Replaced d@1002",
		seen: "a@1; a@2; a@3; b@1; c@1; d@2"},
	{name: "TombstonesAreNotTransformed", known: "known@1001", config: stamping,
		calls: "add waiting@1; list",
		want:  "waiting: Added waiting@1001, Deleted waiting@1001 (inferred); known: Deleted known@1001 (inferred)",
		seen:  "waiting@1"},
	{name: "ASyncIsNotTransformed", known: "a@1001", config: stamping,
		calls: "resync",
		want:  "a: Sync a@1001", seen: "nothing"},
	{name: "AListedObjectThatIsRefusedKeepsItsState", known: "known@1 changed@1", config: refusing, needs: SkipsRefused,
		calls: "add waiting@1; update changed@2; list known@666 changed@666 waiting@666 unknown@666",
		want:  "waiting: Added waiting@1; changed: Updated changed@2",
		holds: "changed@2 known@1 waiting@1"}, // no refused object counts as deleted
	{name: "AListedObjectThatIsRefusedWhileItIsProcessedKeepsItsState", config: refusing, needs: SkipsRefused,
		calls: "add a@1", during: "list a@666",
		want: "nothing", holds: "a@1"},
	{name: "AnObjectListedTwiceAndRefusedOnceIsReplaced", known: "a@1", config: refusing, needs: SkipsRefused,
		calls: "list a@666 a@2",
		want:  "a: Replaced a@2"},
	{name: "ADeletionThatIsRefusedWhileItsObjectIsAdded", config: refusing, needs: SkipsRefused,
		calls: "add a@1", during: "delete a@666",
		want: "a: Deleted a@1 (inferred)"},
	{name: "ADeletionThatIsRefusedWhileItsObjectIsDeleted", known: "a@1", config: refusing, needs: SkipsRefused,
		calls: "delete a@2", during: "delete a@666",
		want: "nothing"},
	{name: "ADeletionThatIsRefusedAndRepeated", known: "a@1 b@1", config: refusing, needs: SkipsRefused,
		calls:   "delete a@666; delete a@2; delete b@666; add b@3",
		want:    "a: Deleted a@2; b: Deleted b@1 (inferred), Added b@3",
		without: Accumulation,
		instead: "a: Deleted a@1 (inferred); b: Deleted b@1 (inferred), Added b@3"},
})...)
