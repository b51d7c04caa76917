package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/informer/reflector"
)

// TestRecoveries pins the rules that matter most; TRANSITIONS.md shows the whole table.
func TestRecoveries(t *testing.T) {
	for _, cause := range []reflector.Cause{reflector.CauseExpired, reflector.CauseTooLarge} {
		for _, phase := range []reflector.Phase{phaseOpeningStream, phaseStreaming, phaseListing} {
			assert.Equal(t, StartFresh, RecoveryFor(phase, cause), "%s refuses the version of a list: %s", phase, cause)
		}
		for _, phase := range []reflector.Phase{phaseOpeningWatch, phaseWatching} {
			assert.Equal(t, Relist, RecoveryFor(phase, cause), "%s refuses a watch, not a list: %s", phase, cause)
		}
	}
	for _, cause := range []reflector.Cause{reflector.CauseUnreachable, reflector.CauseTooManyRequests} {
		assert.Equal(t, Retry, RecoveryFor(phaseOpeningWatch, cause), "a watch that cannot be opened keeps its position: %s", cause)
	}
	for _, cause := range []reflector.Cause{reflector.CauseRefused, reflector.CauseInternal, reflector.CauseOther, reflector.CauseUnknown} {
		assert.Equal(t, FallBack, RecoveryFor(phaseOpeningStream, cause), "no server is excluded by streaming lists: %s", cause)
	}
	assert.Equal(t, Resume, RecoveryFor(phaseWatching, reflector.CauseUnknown))
	assert.Equal(t, Relist, RecoveryFor(phaseWatching, reflector.CauseOther), "an object that cannot be read, for instance")
	for cause := range causeCount {
		assert.NotEqual(t, FallBack, RecoveryFor(phaseListing, cause), "there is nothing to fall back to from a list: %s", cause)
	}
}
