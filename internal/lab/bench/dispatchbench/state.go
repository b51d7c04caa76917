package dispatchbench

import (
	"maps"

	"orrery/internal/lab/bench"
)

// state is the expected result of the events sent so far. It is owned by the driver.
type state struct {
	script *script
	last   []int32 // by object: the last event sent; -1 if it has none
}

func newState(s *script) *state {
	return &state{script: s, last: append([]int32(nil), s.last...)}
}

func (st *state) sent(i int) {
	st.last[st.script.events[i].object] = int32(i)
}

// verify compares a store with the expected state.
func (st *state) verify(versions map[string]string) error {
	want := make(map[string]string, len(st.last))
	for object, last := range st.last {
		id := st.script.initialIdentity(object)
		if last >= 0 {
			id = st.script.identity(int(last))
		}
		want[st.script.keys[object]] = id.ResourceVersion
	}
	if maps.Equal(want, versions) {
		return nil
	}
	if err := bench.Prove("objects in the store", len(want), len(versions)); err != nil {
		return err
	}
	for key, version := range want {
		if err := bench.Prove("version of "+key+" in the store", version, versions[key]); err != nil {
			return err
		}
	}
	return nil
}
