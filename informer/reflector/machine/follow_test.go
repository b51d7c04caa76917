package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/restclient/api"
)

// TestTheShortWayOfAChangeIsTheTable: wherever the machine has got to in a watch, a change does by the short way what it
// does by the table, and no timer rings earlier for it.
func TestTheShortWayOfAChangeIsTheTable(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		d := newDriver(testRules())
		require.NoError(t, d.feed(input{kind: InputStart}))
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "input") }
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			in := randomInput(draw)
			in.now = d.state.lastTime() + time.Second
			if d.state.phase == phaseWatching && !d.state.oldNews(in.rv) {
				change := input{kind: InputEvent, now: in.now, rv: in.rv, added: in.added}
				byTable, effects := d.rules.step(d.state, change)
				short := d.state
				short.follow(change.now, change.rv, change.added)
				require.Equal(t, byTable, short)
				require.Equal(t, applyEffects, effects)
				before, _ := d.state.next()
				after, _ := short.next()
				require.GreaterOrEqual(t, after, before)
				compared++
			}
			require.NoError(t, d.feed(in))
		}
	})
	assert.Positive(t, compared)
}

func TestWhatIsAChange(t *testing.T) {
	for _, change := range []api.WatchEventType{api.WatchAdded, api.WatchModified, api.WatchDeleted} {
		assert.True(t, isChange(change))
		assert.Equal(t, InputEvent, meaning(api.WatchEvent[int]{Type: change}, nil).kind)
	}
	for _, other := range []api.WatchEventType{api.WatchBookmark, api.WatchError, "", "UNHEARD-OF"} {
		assert.False(t, isChange(other))
	}
}
