package logs_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/controller"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// reported returns the log lines of a controller's passes, without their time.
func reported(t *testing.T, verbosity int, tell func(*controller.PoolTrace)) (lines []string) {
	t.Helper()
	var out bytes.Buffer
	tell(logs.New(logs.Config{Writer: &out, Verbosity: verbosity}).Controller("things"))
	for line := range strings.Lines(out.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
		lines = append(lines, line)
	}
	return lines
}

func TestPassesOfAController(t *testing.T) {
	failed := errors.New("no")
	lines := reported(t, 0, func(trace *controller.PoolTrace) {
		trace.PassStarted("a")
		trace.PassDone("a", time.Second, 0, time.Minute, nil)
		for failures := range 3 {
			trace.PassDone("a", time.Second, failures+1, 0, failed)
		}
		trace.PassDone("a", time.Second, 0, 0, nil)
		trace.PassDone("a", time.Second, 1, 0, failed)
		trace.PassDone("b", time.Second, 1, 0, &wait.Panic{Value: "broken", Stack: []byte("here")})
		trace.PassDone("c", time.Second, 1, 0, controller.ErrCutShort)
	})
	assert.Equal(t, []string{
		"WARN  pass failed, retrying controller=things key=a error=no failures=1 took_s=1",
		"WARN  pass failed, retrying controller=things key=a error=no failures=1 took_s=1",
		`ERROR pass panicked, retrying controller=things key=b error="panic: broken" stack=here`,
		`WARN  pass interrupted, the next run or leader repeats it controller=things key=c ` +
			`error="the controller is stopping, and the time to finish the pass has passed: context canceled" took_s=1`,
	}, lines, "the same text is logged once, until a pass has succeeded")
}

func TestALineOfAPassHasItsName(t *testing.T) {
	var id string
	lines := reported(t, 1, func(trace *controller.PoolTrace) {
		id = restclient.OriginOf(trace.PassContext(t.Context(), "a"))
		trace.PassStarted("a")
		trace.PassDone("a", time.Second, 0, time.Minute, nil)
		trace.PassStarted("a")
	})
	assert.Equal(t, []string{
		"DEBUG pass started reconcile_id=" + id + " controller=things key=a",
		"DEBUG pass done reconcile_id=" + id + " controller=things key=a next_look_in_s=60 took_s=1",
		"DEBUG pass started controller=things key=a",
	}, lines)
}

// The cache of an informer lags, so a conflict is ordinary until it repeats.
func TestConflictsAreOrdinary(t *testing.T) {
	conflict := api.NewStatusError(api.Status{Status: api.StatusFailure, Code: 409, Reason: api.ReasonConflict, Message: "modified"})
	lines := reported(t, 0, func(trace *controller.PoolTrace) {
		for failures := range 6 {
			trace.PassDone("a", time.Second, failures+1, 0, conflict)
		}
	})
	assert.Equal(t, []string{"WARN  pass failed, retrying controller=things key=a error=modified failures=4 took_s=1"}, lines)
}
