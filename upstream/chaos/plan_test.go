package chaos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThePlanFollowsFromTheSeed(t *testing.T) {
	assert.Equal(t, NewPlan(7, DefaultDuration), NewPlan(7, DefaultDuration))
	assert.NotEqual(t, NewPlan(7, DefaultDuration), NewPlan(8, DefaultDuration))
}

// Without this, a fault that no seed draws would go unnoticed.
func TestThePlansHaveEverything(t *testing.T) {
	drawn := map[string]bool{}
	variants := map[bool]int{}
	for seed := range uint64(200) {
		p := NewPlan(seed, DefaultDuration)
		variants[p.OldServer]++
		require.NotEmpty(t, p.Rounds)
		for _, round := range p.Rounds {
			for _, s := range round.Steps {
				drawn[s.Fault] = true
				assert.NotEmpty(t, s.Where)
				assert.Positive(t, s.For)
				assert.LessOrEqual(t, s.After, round.Lasts)
				assert.True(t, s.Amount >= 1 && s.Amount <= 100)
			}
		}
	}
	for _, f := range catalogue {
		assert.True(t, drawn[f.name], f.name)
		found, known := faultNamed(f.name)
		assert.True(t, known)
		assert.Equal(t, f.name, found.name)
	}
	assert.Len(t, variants, 2)
}

func TestShortRuns(t *testing.T) {
	p := NewPlan(1, 5*time.Second)
	require.Len(t, p.Rounds, 1)
	assert.Equal(t, 5*time.Second, p.Rounds[0].Lasts)
}
