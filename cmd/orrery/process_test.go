package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/manager"
	"orrery/internal/app/program"
	"orrery/internal/lab/clustertest"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/wait"
)

// pooled is a controller that consists of a pool.
type pooled struct{ *controller.Pool }

func (p pooled) RunWithin(stop, alive context.Context) { p.Run(stop, alive) }

func TestWhatIsCutShortAtTheEndIsLeft(t *testing.T) {
	for limit, want := range map[time.Duration]struct {
		left []string
		err  error
		line string
	}{
		time.Second: {[]string{"slow default/a"}, program.Exit(1),
			"WARN  --shutdown-timeout has passed, some work is unfinished left=[\"slow default/a\"]\n"},
		time.Minute: {line: "INFO  stopped\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, err := restclient.New(restclient.Config{Host: "http://nowhere"})
			require.NoError(t, err)
			var log clustertest.Buffer
			logger := logs.New(logs.Config{Writer: &log})
			options := &runOptions{drainTimeout: limit, dryRun: true}
			p := &process{options: options, logger: logger, observer: &observer{announce: func() {}}}
			describe := func(c manager.ControllerContext) (manager.Controller, error) {
				config := c.WorkerConfig("slow")
				config.NewQueue = nil
				config.Keys = func() []string { return []string{"default/a"} }
				config.Reconcile = func(ctx context.Context, _ string) (time.Duration, error) {
					return 0, wait.Sleep(ctx, 10*time.Second)
				}
				return pooled{controller.NewPool(config)}, nil
			}
			p.manager = manager.NewManager(manager.Shared{
				Client: client, DrainTimeout: limit, Logger: logger, Lead: p.lead,
			}, []manager.Descriptor{{Name: "slow", New: describe}})
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, stop)
			require.NoError(t, p.run(ctx))
			assert.Equal(t, want.left, p.manager.Left())
			assert.Equal(t, want.err, p.stopped(ctx))
			assert.True(t, strings.HasSuffix(log.String(), want.line), log.String())
		})
	}
}

// A panic in a handler is logged with its stack, without anything that may be an object, and the
// process survives.
func TestPanicsAreRecoveredAndLogged(t *testing.T) {
	var out bytes.Buffer
	wait.ReallyCrash.Store(true) // as at the start of a program; a parallel test may have left it otherwise
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
	reported := out.String()
	assert.Contains(t, reported, `"panic":"*errors.errorString"`)
	assert.Contains(t, reported, "index out of range")
	assert.Contains(t, reported, "TestPanicsAreRecoveredAndLogged", "the stack")
	assert.NotContains(t, reported, "a-secret-of-an-object")
	assert.True(t, wait.ReallyCrash.Load(), "the setting is restored")
}
