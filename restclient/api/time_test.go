package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

func TestTimeOnTheWire(t *testing.T) {
	zone := time.FixedZone("somewhere", 5*3600+1800)
	moment := time.Date(2026, 3, 1, 17, 30, 15, 987654321, zone)
	data, err := json.Marshal(api.NewTime(moment))
	require.NoError(t, err)
	assert.Equal(t, `"2026-03-01T12:00:15Z"`, string(data))
	data, err = json.Marshal(api.Time{})
	require.NoError(t, err)
	assert.Equal(t, `null`, string(data))

	for text, want := range map[string]time.Time{
		`"2026-03-01T12:00:15Z"`:        moment.Truncate(time.Second),
		`"2026-03-01T17:30:15+05:30"`:   moment.Truncate(time.Second),
		`"2026-03-01T12:00:15.987654Z"`: moment.Truncate(time.Microsecond),
		`"2026-03-01T12:00:15\u005a"`:   moment.Truncate(time.Second),
		`null`:                          {},
		`""`:                            {},
	} {
		got := api.NewTime(time.Now())
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		assert.True(t, want.Equal(got.Time), "%s gives %v", text, got)
	}
	for _, text := range []string{`7`, `"yesterday"`, `{}`, `"2026-03-01"`} {
		assert.Error(t, json.Unmarshal([]byte(text), new(api.Time)), text)
	}
}

func TestZeroTimesAreLeftOut(t *testing.T) {
	data, err := json.Marshal(api.ObjectMeta{Name: "a"})
	require.NoError(t, err)
	assert.Equal(t, `{"name":"a"}`, string(data))
}
