package main

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/observe/logs"
	"orrery/wait"
)

// A fault in one place is in the log, with its stack and without what may be an object, and is survived; until then the
// process would have died of it.
func TestPanicsAreSurvivedAndTold(t *testing.T) {
	var out bytes.Buffer
	wait.ReallyCrash.Store(true) // as at the start of a program; runs that tests had side by side leave what the last of them found
	restore := survivePanics(logs.New(logs.Config{Writer: &out, Format: logs.JSON}))
	faults := []func(){
		func() { panic(errors.New("a-secret-of-an-object")) },
		func() { var none []int; _ = none[len(out.Bytes())] },
	}
	for _, fault := range faults {
		func() {
			defer wait.HandleCrashWithContext(context.Background())
			fault()
		}()
	}
	restore()
	told := out.String()
	assert.Contains(t, told, `"panic":"*errors.errorString"`)
	assert.Contains(t, told, "index out of range")
	assert.Contains(t, told, "TestPanicsAreSurvivedAndTold", "the stack")
	assert.NotContains(t, told, "a-secret-of-an-object")
	assert.True(t, wait.ReallyCrash.Load(), "other programs and tests are as they were")
}
