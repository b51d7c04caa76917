package logs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/logs"
)

const lostMessage = "log lines were lost, the writer failed or was too slow"

// disk is a writer with so much room; negative: no end of it. gate, if not nil, is what a write waits for.
type disk struct {
	mu   sync.Mutex
	text bytes.Buffer
	room int
	gate chan struct{}
}

func (d *disk) Write(p []byte) (int, error) {
	if gate := d.closed(); gate != nil {
		<-gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room < 0 || len(p) <= d.room {
		d.room -= len(p)
		return d.text.Write(p)
	}
	n, _ := d.text.Write(p[:d.room])
	d.room = 0
	return n, syscall.ENOSPC
}

func (d *disk) closed() chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gate
}

// give sets how much room there is from now on.
func (d *disk) give(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = room
}

func (d *disk) open() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.gate)
	d.gate = nil
}

func (d *disk) lines() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Split(strings.TrimSuffix(d.text.String(), "\n"), "\n")
}

const endless = -1

// A line is out when it has been logged: whatever happens next, a crash for instance, cannot take it back.
func TestALineIsOutWhenItHasBeenLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: endless}
		logger := logs.Start(logs.Config{Writer: d, Format: logs.JSON})
		defer logger.Stop()
		for i := range 100 {
			logger.Info().Int("i", i).Msg("something")
			require.Len(t, d.lines(), i+1)
			require.Contains(t, d.lines()[i], fmt.Sprintf(`"i":%d`, i))
		}
	})
}

func TestAFullDiskLosesLinesAndSaysSoAfterwards(t *testing.T) {
	for _, format := range []logs.Format{logs.JSON, logs.Text} {
		synctest.Test(t, func(t *testing.T) {
			d := &disk{room: endless}
			logger := logs.Start(logs.Config{Writer: d, Format: format})
			log := func(what string) { logger.Info().Str("what", what).Msg("something") }
			log("before")
			d.give(0)
			started := time.Now()
			for range 1000 {
				log("lost")
			}
			assert.Zero(t, time.Since(started), "who logs is not held up")
			assert.EqualValues(t, 1000, logger.Dropped())
			d.give(endless)
			log("after")
			log("later")
			logger.Stop()
			told := d.lines()
			require.Len(t, told, 4)
			assert.Contains(t, told[0], "before")
			assert.Contains(t, told[1], lostMessage)
			assert.Contains(t, told[1], "1000")
			assert.Contains(t, told[2], "after")
			assert.Contains(t, told[3], "later")
			assert.EqualValues(t, 1000, logger.Dropped())
		})
	}
}

// A disk that fills up in the middle of a line leaves half of one. It spoils no other.
func TestAHalfLineSpoilsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: 40}
		logger := logs.Start(logs.Config{Writer: d, Format: logs.JSON})
		defer logger.Stop()
		logger.Info().Msg("a line that does not fit as a whole")
		assert.EqualValues(t, 1, logger.Dropped())
		d.give(7) // for the end of that line, and a part of the notice
		logger.Info().Msg("nor does this")
		assert.EqualValues(t, 2, logger.Dropped())
		d.give(endless)
		logger.Info().Msg("whole")
		told := d.lines()
		require.Len(t, told, 4)
		assert.Contains(t, told[2], `"lost":2`)
		assert.Contains(t, told[3], "whole")
		for _, line := range told[2:] {
			assert.True(t, strings.HasPrefix(line, "{") && strings.HasSuffix(line, "}"), line)
		}
	})
}

// A pipe that nobody reads must not stop the work: whoever logs is held up once, for a moment. What fits into the buffer
// comes later, the rest is counted.
func TestAReaderThatStallsDoesNotStopTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: endless, gate: make(chan struct{})}
		logger := logs.Start(logs.Config{Writer: d, Format: logs.JSON})
		started := time.Now()
		var workers sync.WaitGroup
		for range 10 {
			workers.Go(func() {
				for range 1000 {
					logger.Info().Str("text", strings.Repeat("x", 100)).Msg("something")
				}
			})
		}
		workers.Wait()
		assert.LessOrEqual(t, time.Since(started), 100*time.Millisecond)
		dropped := logger.Dropped()
		assert.Positive(t, dropped)
		assert.Less(t, dropped, int64(10_000))

		d.open()
		synctest.Wait()
		logger.Info().Msg("the last")
		logger.Stop()
		told := d.lines()
		assert.Len(t, told, 10_000-int(dropped)+2)
		assert.Contains(t, told[len(told)-2], fmt.Sprintf(`"lost":%d`, dropped))
		assert.Contains(t, told[len(told)-1], "the last")
		assert.EqualValues(t, dropped, logger.Dropped(), "nothing more was lost")
	})
}

// The end of the program does not wait for a reader either.
func TestStopDoesNotWaitForAReaderThatStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: endless, gate: make(chan struct{})}
		logger := logs.Start(logs.Config{Writer: d})
		logger.Info().Msg("something")
		started := time.Now()
		logger.Stop()
		assert.Equal(t, time.Second, time.Since(started))
		logger.Info().Msg("too late")
		assert.EqualValues(t, 1, logger.Dropped())
		d.open() // for the bubble: the goroutine must end
	})
}

// What was lost is said at the end, if it has not been before.
func TestStopTellsWhatWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		logger := logs.Start(logs.Config{Writer: d})
		logger.Info().Msg("something")
		d.give(endless)
		logger.Stop()
		assert.Contains(t, d.lines()[0], lostMessage+" lost=1")

		d = &disk{}
		logger = logs.Start(logs.Config{Writer: d})
		logger.Info().Msg("something")
		logger.Stop()
		assert.Equal(t, []string{""}, d.lines(), "the disk is still full")
	})
}

// For real: the device that has no room, and a pipe that is never read.
func TestRealWritersThatFail(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	logger := logs.Start(logs.Config{Writer: full})
	for range 10 {
		logger.Info().Msg("something")
	}
	logger.Stop()
	assert.EqualValues(t, 10, logger.Dropped())

	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	logger = logs.Start(logs.Config{Writer: writer})
	for range 20_000 {
		logger.Info().Str("text", strings.Repeat("x", 100)).Msg("something")
	}
	assert.Positive(t, logger.Dropped(), "neither the pipe nor the buffer holds that much")
	go io.Copy(io.Discard, reader)
	logger.Stop()
	require.NoError(t, errors.Join(writer.Close(), reader.Close()))
}

// Lines of several at once are whole, and those of each in order.
func TestManyWriteAtOnce(t *testing.T) {
	d := &disk{room: endless}
	logger := logs.Start(logs.Config{Writer: d, Format: logs.JSON})
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() {
			for i := range 200 {
				logger.Info().Int("worker", worker).Int("i", i).Msg("something")
			}
		})
	}
	workers.Wait()
	logger.Stop()
	require.Zero(t, logger.Dropped())
	next := make([]int, 8)
	for _, line := range d.lines() {
		var worker, i int
		_, err := fmt.Sscanf(line[strings.Index(line, `"worker"`):], `"worker":%d,"i":%d`, &worker, &i)
		require.NoError(t, err, line)
		require.Equal(t, next[worker], i)
		next[worker]++
	}
}

func BenchmarkStartedLogger(b *testing.B) {
	logger := logs.Start(logs.Config{Writer: io.Discard, Format: logs.JSON})
	defer logger.Stop()
	for b.Loop() {
		logger.Info().Str("namespace", "a").Msg("something")
	}
}
