package machine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector/machine"
	"orrery/restclient/api"
)

func (s *scenario) command(t *testing.T, name string, args []string) {
	switch name {
	case "config":
		for _, arg := range args {
			s.configure(t, arg)
		}
	case "server":
		for _, arg := range args {
			s.setServer(t, arg)
		}
	case "run":
		s.reflector = machine.New(s.config)
		s.run()
	case "again":
		s.run()
	case "stop":
		s.stop()
	case "advance":
		time.Sleep(duration(t, args[0]))
	case "store":
		versions := s.store.State()
		for _, key := range slices.Sorted(maps.Keys(versions)) {
			s.record("%s@%s", key, versions[key])
		}
	case "snapshot":
		shot := s.reflector.Snapshot()
		s.record("%s at %q, synced=%t, rounds=%d lists=%d watches=%d events=%d bookmarks=%d failures=%d", shot.Phase,
			shot.ResourceVersion, shot.Synced, shot.Rounds, shot.Lists, shot.Watches, shot.Events, shot.Bookmarks,
			shot.Failures)
	default:
		s.change(t, name, args)
	}
}

// change is a command to the server.
func (s *scenario) change(t *testing.T, name string, args []string) {
	switch name {
	case "add":
		forEach(args, func(arg string) { s.source.Add(informertest.Namespace(arg)) })
	case "modify":
		forEach(args, func(arg string) { s.source.Modify(informertest.Namespace(arg)) })
	case "delete":
		forEach(args, func(arg string) { require.True(t, s.source.Delete(arg)) })
	case "lose":
		forEach(args, s.source.Lose)
	case "bump":
		s.source.AdvanceVersion()
	case "fail-list":
		forEach(args, func(arg string) { s.source.FailList(fault(t, arg)) })
	case "fail-watch":
		forEach(args, func(arg string) { s.source.FailWatch(fault(t, arg)) })
	case "fail-store":
		forEach(args, s.failNext)
	case "cut":
		s.source.Cut(fault(t, args[0]))
	case "error":
		var status *api.StatusError
		require.ErrorAs(t, fault(t, args[0]), &status)
		s.source.SendError(status)
	case "bookmark":
		s.source.SendBookmark()
	case "initial-bookmark":
		s.source.SendInitialBookmark()
	case "silence":
		s.source.Silence()
	case "expire":
		s.source.Expire()
	case "many":
		n, err := strconv.Atoi(args[0])
		require.NoError(t, err)
		for i := range n {
			s.source.Add(informertest.Namespace(fmt.Sprintf("n%03d", i)))
		}
	case "add-every":
		n, err := strconv.Atoi(args[1])
		require.NoError(t, err)
		for i := range n {
			time.Sleep(duration(t, args[0]))
			s.source.Add(informertest.Namespace(fmt.Sprintf("n%03d", i)))
		}
	case "down":
		s.down(duration(t, args[0]))
	case "hold":
		s.release = s.source.Hold()
	case "release":
		s.release()
	default:
		t.Fatalf("unknown command %q", name)
	}
}

// down refuses connections for d and keeps only the delays in the journal.
func (s *scenario) down(d time.Duration) {
	over := time.Now().Add(d)
	s.source.FailWatch(slices.Repeat([]error{syscall.ECONNREFUSED}, int(d/time.Second))...)
	s.source.Cut(syscall.ECONNRESET)
	synctest.Wait()
	time.Sleep(time.Until(over))
	s.source.ClearFaults()
	var delays []string
	for _, line := range s.take() {
		if _, after, found := strings.Cut(line, "back off "); found {
			delay, _, _ := strings.Cut(after, ":")
			delays = append(delays, delay)
		}
	}
	s.record("delays of %s", strings.Join(delays, " "))
}

func (s *scenario) configure(t *testing.T, arg string) {
	key, value, _ := strings.Cut(arg, "=")
	switch key {
	case "page-size":
		size, err := strconv.Atoi(value)
		require.NoError(t, err)
		s.config.PageSize = int64(size)
	case "max-items":
		n, err := strconv.Atoi(value)
		require.NoError(t, err)
		s.config.MaxItems = n
	case "idle":
		s.config.IdleTimeout = duration(t, value)
	case "resync":
		s.config.ResyncPeriod = duration(t, value)
	case "streaming":
		s.config.DisableWatchList = value == "off"
	default:
		t.Fatalf("unknown setting %q", key)
	}
}

func (s *scenario) setServer(t *testing.T, arg string) {
	key, value, _ := strings.Cut(arg, "=")
	s.source.Change(func(b *informertest.Behaviour) {
		switch key {
		case "streaming":
			modes := map[string]informertest.StreamingList{
				"supported": informertest.StreamingSupported, "refused": informertest.StreamingRefused,
				"ignored": informertest.StreamingIgnored, "no-bookmark": informertest.StreamingWithoutBookmark}
			mode, known := modes[value]
			require.True(t, known, value)
			b.Streaming = mode
		case "paging":
			b.PageAlways = value == "always"
		case "keepalive":
			b.NoKeepalive = value == "no"
		case "endless":
			b.Endless = value == "yes"
		case "latency":
			b.Latency = duration(t, value)
		default:
			t.Fatalf("unknown setting %q", key)
		}
	})
}

func (s *scenario) run() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.done = cancel, make(chan struct{})
	go func() {
		defer close(s.done)
		s.reflector.Run(ctx)
		s.record("stopped")
	}()
}

func (s *scenario) stop() {
	if s.cancel != nil {
		s.cancel()
		<-s.done
		s.cancel = nil
	}
}

// deadLink is the error of a connection whose ping was not answered.
type deadLink struct{}

func (deadLink) Error() string     { return "no answer to a ping" }
func (deadLink) Unreachable() bool { return true }

func forEach(args []string, do func(string)) {
	for _, arg := range args {
		do(arg)
	}
}

func duration(t *testing.T, text string) time.Duration {
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

// fault returns the error with that name in a scenario.
func fault(t *testing.T, name string) error {
	name, after, _ := strings.Cut(name, "/")
	switch name {
	case "ok", "eof":
		return nil
	case "reset":
		return syscall.ECONNRESET
	case "refused":
		return syscall.ECONNREFUSED
	case "dead":
		return deadLink{}
	case "garbage":
		return errors.New("unintelligible")
	case "too-large":
		return informertest.TooLargeResourceVersion(99, 1)
	}
	if code, err := strconv.Atoi(name); err == nil {
		status := informertest.StatusError(code, "", "the server says "+name)
		if after != "" {
			status.Status.Details = &api.StatusDetails{RetryAfterSeconds: int(duration(t, after).Seconds())}
			return api.NewStatusError(status.Status)
		}
		return status
	}
	return informertest.StatusError(0, api.StatusReason(name), "the server says "+name)
}
