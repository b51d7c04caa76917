package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/informer/reflector"
)

// TestRemedies pins the rules that matter most; TRANSITIONS.md shows the whole table.
func TestRemedies(t *testing.T) {
	requests := []reflector.Phase{phaseOpeningStream, phaseStreaming, phaseListing, phaseOpeningWatch, phaseWatching}
	for _, phase := range requests {
		assert.Equal(t, StartFresh, RemedyFor(phase, reflector.CauseExpired), phase)
		assert.Equal(t, StartFresh, RemedyFor(phase, reflector.CauseTooLarge), phase)
	}
	for _, cause := range []reflector.Cause{reflector.CauseUnreachable, reflector.CauseTooManyRequests} {
		assert.Equal(t, Retry, RemedyFor(phaseOpeningWatch, cause), "a watch that cannot be opened keeps its position: %s", cause)
	}
	for _, cause := range []reflector.Cause{reflector.CauseRefused, reflector.CauseInternal, reflector.CauseOther, reflector.CauseUnknown} {
		assert.Equal(t, FallBack, RemedyFor(phaseOpeningStream, cause), "no server is excluded by streaming lists: %s", cause)
	}
	assert.Equal(t, Resume, RemedyFor(phaseWatching, reflector.CauseUnknown))
	assert.Equal(t, Relist, RemedyFor(phaseWatching, reflector.CauseOther), "an object that cannot be read, for instance")
	for cause := range causeCount {
		assert.NotEqual(t, FallBack, RemedyFor(phaseListing, cause), "there is nothing to fall back to from a list: %s", cause)
	}
}
