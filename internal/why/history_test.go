package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
)

// An owner that removes a finalizer twice a minute is at work also between two removals, which one
// examination cannot see. When it has done nothing for some minutes it is looked for again.
func TestAnOwnerThatWorksInIntervals(t *testing.T) {
	var history why.History
	examined := func(after time.Duration, count int) why.Report {
		e := orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", "keda")
		e.Types[0].Finalizers = map[string]int{"finalizer.keda.sh": count}
		e.At, e.Second.At = e.At.Add(after), e.Second.At.Add(after)
		e = calm(e)
		history.Add(&e)
		return why.Judge(e)
	}
	assert.NotNil(t, find(examined(0, 5), "C04"), "nothing is known of a time before")
	working := examined(25*time.Second, 4)
	assert.Nil(t, find(working, "C04"))
	assert.Contains(t, working.Sentence, "finalizer.keda.sh went from scaledobjects.keda.sh 10s ago")
	assert.Nil(t, find(examined(50*time.Second, 4), "C04"), "it was at work half a minute ago")
	assert.NotNil(t, find(examined(5*time.Minute, 4), "C04"), "it has done nothing for minutes")
}

// What could not be counted is no progress, and neither is another namespace of the same name.
func TestAHistoryOfWhatWasNotCounted(t *testing.T) {
	var history why.History
	e := orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", "keda")
	e.Types[0].Finalizers = map[string]int{"finalizer.keda.sh": 5}
	history.Add(&e)
	again := e
	again.Types = []why.Type{e.Types[0]}
	again.Types[0].More, again.Types[0].Finalizers = true, map[string]int{"finalizer.keda.sh": 1}
	history.Add(&again)
	assert.Empty(t, again.Released)

	history = why.History{}
	history.Add(&e)
	head := *e.Namespace
	head.UID = "another"
	next := e
	next.Namespace, next.Types = &head, []why.Type{e.Types[0]}
	next.Types[0].Finalizers = map[string]int{"finalizer.keda.sh": 1}
	history.Add(&next)
	assert.Empty(t, next.Released)
}
