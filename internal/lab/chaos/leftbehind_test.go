package chaos

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing/synctest"
	"time"
)

// leftBehind returns what is left in the bubble: goroutines other than the caller's, and timers
// that fire.
func leftBehind() []string {
	synctest.Wait()
	wrong := goroutinesLeft()
	if timers := timersLeft(); timers > 0 {
		wrong = append(wrong, fmt.Sprintf("%d timers rang in the hour after the end", timers))
	}
	return wrong
}

var bubbleOf = regexp.MustCompile(`^goroutine \d+ .*(synctest bubble \d+)`)

// goroutinesLeft returns the stacks of all goroutines of the bubble, except the caller and the
// goroutine that waits for the bubble.
func goroutinesLeft() []string {
	own := make([]byte, 1<<10)
	own = own[:runtime.Stack(own, false)]
	bubble := bubbleOf.FindSubmatch(own)
	if bubble == nil {
		return []string{"this is no bubble: " + string(own)}
	}
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	var wrong []string
	for i, stack := range bytes.Split(all, []byte("\n\n")) {
		of := bubbleOf.FindSubmatch(stack)
		if i == 0 || of == nil || !bytes.Equal(of[1], bubble[1]) ||
			bytes.Contains(stack, []byte("\ntesting/synctest.Test")) {
			continue
		}
		wrong = append(wrong, "a goroutine is left: "+strings.TrimSpace(string(stack)))
	}
	return wrong
}

// timersLeft lets an hour pass and returns the number of timer functions called. Each call starts a
// goroutine, and nothing else can start one if the process is otherwise idle. The first minutes do
// not count, because net/http leaves a ping timer on each HTTP/2 connection, which fires once or
// twice more to no effect.
func timersLeft() int {
	time.Sleep(httpLinger)
	runtime.GC() // starts the garbage collector's own goroutines
	before := goroutinesCreated()
	time.Sleep(time.Hour)
	return int(goroutinesCreated() - before)
}

const httpLinger = 2 * time.Minute

func goroutinesCreated() uint64 {
	samples := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}
