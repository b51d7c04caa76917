package nsctl_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/nsctl/nsctltest"
	"orrery/restclient/api"
)

// Only a success resets the failures. A pass with remaining content is neither a failure nor a
// success: the back-off of a namespace that fails now and then must not restart each time.
func TestWhatRemainsForgetsNoFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		passes := &scripted{errs: []error{errPass, errPass, &nsctl.ResourcesRemainingError{Estimate: 2}, errPass, nil}}
		var log passLog
		var failures []int
		r := nsctltest.StartController(t, c, passes.form, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.Trace = &nsctl.Trace{PassDone: func(_ string, _ time.Duration, n int, _ error) {
				log.record(func() { failures = append(failures, n) })
			}}
		})
		time.Sleep(time.Minute)
		r.Stop()
		assert.Equal(t, []int{1, 2, 2, 3, 0}, failures, "the failures of a namespace after each pass: two failures, a rest, a failure, a success")
	})
}

// A pass that an event brings forward replaces the plan of the one before. If it plans nothing, the
// next resync brings the next look, and does not wait for the old plan, which may be hours away.
func TestAnOvertakenPlanIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		started := time.Now()
		c.Update("ns", func(ns *api.Namespace) {
			hoursAgo := api.NewTime(started.Add(-5 * time.Hour)) // the next look may be as far away
			ns.DeletionTimestamp = &hoursAgo
		})
		passes := &scripted{errs: []error{&nsctl.ResourcesRemainingError{Estimate: 7200}}}
		var log passLog
		var looks []time.Duration
		r := nsctltest.StartController(t, c, passes.form, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.ResyncPeriod = 4 * time.Minute
			config.Trace = &nsctl.Trace{PassStarted: func(string) {
				log.record(func() { looks = append(looks, time.Since(started)) })
			}}
		})
		time.Sleep(10 * time.Second)
		require.Len(t, r.Snapshot().Queue.Delayed, 1)
		require.Greater(t, r.Snapshot().Queue.Delayed[0].In, 59*time.Minute, "the first look plans one in an hour")
		c.Update("ns", func(ns *api.Namespace) { ns.Annotations = map[string]string{"look": "now"} })
		time.Sleep(5 * time.Minute)
		r.Stop()
		assert.Equal(t, []time.Duration{5 * time.Second, 15 * time.Second, 4*time.Minute + 5*time.Second}, looks,
			"the resync after four minutes brings a look, after the grace period")
	})
}

// A plan for a former namespace of a name does not shorten the grace period of the next one.
func TestARecreatedNamespaceHasItsOwnGracePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		started := time.Now()
		passes := &scripted{errs: []error{&nsctl.ResourcesRemainingError{Estimate: 60}}} // plans a look at ten seconds
		var log passLog
		r := nsctltest.StartController(t, c, passes.form, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.Trace = log.trace()
		})
		time.Sleep(8 * time.Second)
		c.AddNamespace("ns", true, "kubernetes")
		time.Sleep(time.Minute)
		r.Stop()
		assert.Equal(t, []time.Time{started.Add(5 * time.Second), started.Add(13 * time.Second)}, log.began["ns"])
	})
}

// A pass whose last request is answered just after its time limit has done its work all the same.
func TestAPassThatSucceedsAfterItsTimeLimitHasNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		var log passLog
		var ends []error
		passes := &scripted{takes: 2 * time.Second}
		r := nsctltest.StartController(t, c, passes.form, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.PassTimeout = time.Second
			config.Trace = &nsctl.Trace{PassDone: func(_ string, _ time.Duration, _ int, err error) {
				log.record(func() { ends = append(ends, err) })
			}}
		})
		time.Sleep(time.Minute)
		r.Stop()
		assert.Equal(t, []error{nil}, ends, "one pass, which has succeeded")
	})
}

var errPass = errors.New("out of order")

// scripted is a deleter whose passes return errs in order and then succeed. It deletes nothing.
type scripted struct {
	takes time.Duration // how long a pass takes; its context does not end it

	mu   sync.Mutex
	errs []error
}

func (s *scripted) form(nsctl.DeleterConfig) nsctl.Deleter { return s }

func (s *scripted) Delete(context.Context, string, nsctl.ObservedDeletion) error {
	time.Sleep(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errs) == 0 {
		return nil
	}
	err := s.errs[0]
	s.errs = s.errs[1:]
	return err
}

// A resync says when the planned look comes: the plan counts how long the deletion has taken.
func TestAResyncSaysWhenTheNextLookComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		started := time.Now()
		passes := &scripted{errs: []error{&nsctl.ResourcesRemainingError{Estimate: 60}, &nsctl.ResourcesRemainingError{Estimate: 60}}}
		var log passLog
		var looks []time.Duration
		said := map[time.Duration]time.Duration{}
		r := nsctltest.StartController(t, c, passes.form, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.ResyncPeriod = 4 * time.Second
			config.Trace = &nsctl.Trace{
				Enqueued:    func(_ *api.Namespace, after time.Duration) { log.record(func() { said[time.Since(started)] = after }) },
				PassStarted: func(string) { log.record(func() { looks = append(looks, time.Since(started)) }) },
			}
		})
		time.Sleep(21 * time.Second)
		r.Stop()
		assert.Equal(t, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}, looks[:3])
		assert.Equal(t, 8*time.Second, said[12*time.Second], "the resync at twelve seconds says another time than that of the look, which comes at twenty")
	})
}
