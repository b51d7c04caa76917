package logs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// disk is a writer with limited room; negative means unlimited. If unblock is not nil, writes wait
// until it is closed.
type disk struct {
	unblock chan struct{}

	mu   sync.Mutex // guards the fields below
	text bytes.Buffer
	room int
}

func (d *disk) Write(p []byte) (int, error) {
	if d.unblock != nil {
		<-d.unblock
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

// give sets the room from now on.
func (d *disk) give(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = room
}

func (d *disk) lines() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Split(strings.TrimSuffix(d.text.String(), "\n"), "\n")
}

const endless = -1

// A line is written when the call returns: a crash after that cannot lose it.
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
			assert.Zero(t, time.Since(started), "logging does not block")
			assert.EqualValues(t, 1000, logger.Dropped())
			d.give(endless)
			log("after")
			d.give(0)
			log("lost")
			d.give(endless)
			logger.Stop() // reports what has not been reported
			reported := d.lines()
			require.Len(t, reported, 4)
			for i, part := range []string{"before", lostMessage, "after", lostMessage} {
				assert.Contains(t, reported[i], part)
			}
			assert.Regexp(t, `lost"?[:=]1000\b`, reported[1])
			assert.Regexp(t, `lost"?[:=]1\b`, reported[3])
			assert.EqualValues(t, 1001, logger.Dropped())

			full := &disk{}
			logger = logs.Start(logs.Config{Writer: full})
			log("lost")
			logger.Stop()
			assert.Empty(t, full.text.String())
		})
	}
}

// A disk that fills up in the middle of a line keeps half of it. No other line is damaged.
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
		reported := d.lines()
		require.Len(t, reported, 4)
		assert.Contains(t, reported[2], `"lost":2`)
		assert.Contains(t, reported[3], "whole")
		for _, line := range reported[2:] {
			assert.True(t, strings.HasPrefix(line, "{") && strings.HasSuffix(line, "}"), line)
		}
	})
}

// A pipe without a reader must not stop the work: logging blocks once, for a moment. Lines that
// fit into the buffer are written later, the rest is counted.
func TestAReaderThatStallsDoesNotStopTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: endless, unblock: make(chan struct{})}
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

		close(d.unblock)
		synctest.Wait()
		logger.Info().Msg("the last")
		logger.Stop()
		reported := d.lines()
		assert.Len(t, reported, 10_000-int(dropped)+2)
		assert.Contains(t, reported[len(reported)-2], fmt.Sprintf(`"lost":%d`, dropped))
		assert.Contains(t, reported[len(reported)-1], "the last")
		assert.EqualValues(t, dropped, logger.Dropped(), "nothing more was lost")
	})
}

// slow is a writer that takes a second for each line.
type slow struct{}

func (slow) Write(p []byte) (int, error) {
	time.Sleep(time.Second)
	return len(p), nil
}

// A writer that is too slow has not caught up as long as a line waits.
func TestASlowReaderStopsTheWorkOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger := logs.Start(logs.Config{Writer: slow{}})
		var blocked time.Duration
		for range 10 {
			started := time.Now()
			logger.Info().Msg("something")
			blocked += time.Since(started)
			time.Sleep(400 * time.Millisecond)
		}
		assert.Equal(t, 100*time.Millisecond, blocked, "logging blocks once until the writer has caught up")
		time.Sleep(10 * time.Second) // now it has
		logger.Stop()
	})
}

// Long lines, such as those with a stack, do not fill the memory. The exit of the program does not
// wait for a reader either.
func TestLinesThatWaitAreBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: endless, unblock: make(chan struct{})}
		logger := logs.Start(logs.Config{Writer: d})
		for range 20 {
			logger.Info().Str("text", strings.Repeat("x", 14<<10)).Msg("something")
		}
		assert.EqualValues(t, 2, logger.Dropped(), "18 lines of 14 KiB wait")
		started := time.Now()
		logger.Stop()
		assert.Equal(t, time.Second, time.Since(started))
		logger.Info().Msg("too late")
		assert.EqualValues(t, 3, logger.Dropped())
		close(d.unblock) // for the bubble: the goroutine must end
	})
}

// A line that is longer than the buffer is shortened: it may be the only one that says what is
// wrong. It stays a line of its format.
func TestALongLineIsShortened(t *testing.T) {
	for name, one := range map[string]string{"letters": "a", "characters": "好", "escapes": "\x1b\n\"\\"} {
		for _, format := range []logs.Format{logs.Text, logs.JSON} {
			t.Run(name+" "+string(format), func(t *testing.T) {
				var out bytes.Buffer
				logger := logs.Start(logs.Config{Writer: &out, Format: format})
				long := strings.Repeat(one, 1<<18/len(one))
				logger.Warn().Err(errors.New("it failed: "+long)).Str("detail", long).Str("more", long).
					Str("namespace", "shop").Msg("pass failed, retrying")
				logger.Info().Msg("the next line")
				logger.Stop()
				assert.Zero(t, logger.Dropped(), "no line is lost")
				lines := strings.Split(out.String(), "\n")
				require.Len(t, lines, 3)
				for _, part := range []string{"pass failed, retrying", "it failed: ", "shop", " bytes)"} {
					assert.Contains(t, lines[0], part)
				}
				assert.Less(t, len(lines[0]), 250<<10)
				if format == logs.JSON {
					assert.True(t, json.Valid([]byte(lines[0])), "it stays JSON")
				}
			})
		}
	}
}

// A secret at the place of the cut would be half shown.
func TestALineIsShortenedAfterItsSecretsAreHidden(t *testing.T) {
	for before := range 20 {
		var out bytes.Buffer
		logger := logs.New(logs.Config{Writer: &out})
		logger.Hide("XXXXXXXX")
		logger.Info().Str("detail", strings.Repeat("a", 16<<10-before)+"XXXXXXXX"+strings.Repeat("a", 1<<16)).Msg("m")
		assert.NotContains(t, out.String(), "X", "%d bytes before the cut", before)
	}
}
