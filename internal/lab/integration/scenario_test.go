package integration_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// TestScenarios plays the files in testdata over every way to the server. Each is an incident:
// commands, and below the line the server's requests and the informers' errors, with the time since
// the beginning. `go test -rewrite` writes the second half.
//
// A line "# ways: http websocket" restricts the scenario to ways that behave alike.
//
// A command is a line; several may follow each other. The commands:
//
//	config key=value ...     (before run) page-size, resync, streaming
//	server key=value ...     streaming=ignored, paging=always
//	run, advance DURATION
//	add|modify|delete NAME ..., touch
//	fail-list|fail-watch FAULT ...   one for each of the next requests; "ok" lets one through
//	end [FAULT]                      end the open watches, cleanly or by torn, stalled or reset
//	error FAULT                      send the open watches an ERROR event
//	bookmark, expire
//	cut, silence, refuse, accept     faults of the links
//	token missing|there      the credentials of the client
//	join                     add a handler
//	events, store            the new events of the first handler; the content of the store
//
// A FAULT is hang, reset, torn, stalled, no-upgrade, 429, 503/30s, a code such as 410, a reason
// such as Expired, or too-large.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		for _, over := range waysOf(t, file) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+" over "+over.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { play(t, file, over) })
			})
		}
	}
}

func waysOf(t *testing.T, file string) []way {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, after, restricted := strings.Cut(string(text), "# ways: ")
	if !restricted {
		return ways
	}
	names, _, _ := strings.Cut(after, "\n")
	var some []way
	for _, name := range strings.Split(names, ", ") {
		i := slices.IndexFunc(ways, func(w way) bool { return w.name == name })
		require.GreaterOrEqual(t, i, 0, "%s: there is no way %q", file, name)
		some = append(some, ways[i])
	}
	return some
}

func play(t *testing.T, file string, over way) {
	s := &scenario{world: newWorld(t, over, nil)}
	defer func() { assert.NoError(t, s.stop()) }()
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		for _, line := range append([]string{d.FullCmd()}, strings.Split(d.Input, "\n")...) {
			if words := strings.Fields(line); len(words) > 0 {
				s.command(t, words[0], words[1:])
				synctest.Wait()
			}
		}
		out := append(s.journal(), s.shown...)
		s.shown = nil
		return strings.Join(out, "\n")
	})
	require.NotNil(t, s.cancel, "the scenario runs no informer")
	s.join() // a late handler gets everything
	synctest.Wait()
	assert.NoError(t, s.verify())
}

type scenario struct {
	*world
	value int      // of the last change
	seen  int      // the number of the first handlers' events already shown
	shown []string // by events and store
}

func (s *scenario) command(t *testing.T, name string, args []string) {
	switch name {
	case "config":
		forEach(args, func(arg string) { s.configure(t, arg) })
	case "server":
		forEach(args, func(arg string) { s.setServer(t, arg) })
	case "run":
		s.run()
	case "join":
		s.join()
	case "advance":
		time.Sleep(duration(t, args[0]))
	case "cut":
		s.server.CloseConnections()
	case "silence":
		s.server.Silence()
	case "refuse", "accept":
		s.server.Refuse(name == "refuse")
	case "token":
		s.token.missing.Store(args[0] == "missing")
	case "events":
		s.showEvents()
	case "store":
		s.showStore()
	default:
		s.each(func(c *collection) { s.change(t, c, name, args) })
		s.value++
	}
}

// change changes the collection on the server.
func (s *scenario) change(t *testing.T, c *collection, name string, args []string) {
	switch name {
	case "add", "modify":
		forEach(args, func(arg string) { c.set(arg, strconv.Itoa(s.value)) })
	case "delete":
		forEach(args, func(arg string) { require.True(t, c.source.Delete(c.keyOf(arg))) })
	case "touch":
		c.source.AdvanceVersion()
	case "fail-list":
		forEach(args, func(arg string) { c.source.FailList(faultOf(t, arg)) })
	case "fail-watch":
		forEach(args, func(arg string) { c.source.FailWatch(faultOf(t, arg)) })
	case "end":
		forEach(append(args, "ok")[:1], func(arg string) { c.source.Cut(faultOf(t, arg)) })
	case "error":
		var status *api.StatusError
		require.ErrorAs(t, faultOf(t, args[0]), &status)
		c.source.SendError(status)
	case "bookmark":
		c.source.SendBookmark()
	case "expire":
		c.source.Expire()
	default:
		t.Fatalf("unknown command %q", name)
	}
}

// showEvents shows the new events of every informer's first handler, which must be equal.
func (s *scenario) showEvents() {
	events := s.subjects[0].recorder(0).Events()
	for _, other := range s.subjects {
		assert.Equal(s.t, events, other.recorder(0).Events(), other.on().kind)
	}
	s.shown = append(s.shown, events[s.seen:]...)
	s.seen = len(events)
}

func (s *scenario) showStore() {
	content := s.subjects[0].content()
	for _, other := range s.subjects {
		assert.Equal(s.t, content, other.content(), other.on().kind)
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(content)) {
		words = append(words, name+"="+content[name])
	}
	s.shown = append(s.shown, "store: "+strings.Join(words, " "))
}

func (s *scenario) configure(t *testing.T, arg string) {
	key, value, _ := strings.Cut(arg, "=")
	switch key {
	case "page-size":
		size, err := strconv.Atoi(value)
		require.NoError(t, err)
		s.settings.PageSize = int64(size)
	case "resync":
		s.settings.resync = duration(t, value)
	case "streaming":
		s.settings.DisableWatchList = value == "off"
	default:
		t.Fatalf("unknown setting %q", key)
	}
}

func (s *scenario) setServer(t *testing.T, arg string) {
	s.each(func(c *collection) {
		switch arg {
		case "streaming=ignored":
			c.source.SetStreamingList(informertest.StreamingIgnored)
		case "paging=always":
			c.source.SetPaging(true)
		default:
			t.Fatalf("unknown setting %q", arg)
		}
	})
}

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

// faultOf returns the fault with the given name.
func faultOf(t *testing.T, name string) error {
	name, after, _ := strings.Cut(name, "/")
	switch name {
	case "ok":
		return nil
	case "too-large":
		return informertest.TooLargeResourceVersion(99, 1)
	case string(hang), string(reset), string(torn), string(stalled), string(noUpgrade):
		return fault(name)
	}
	status := informertest.StatusError(0, api.StatusReason(name), "the server reports "+name)
	if code, err := strconv.Atoi(name); err == nil {
		status = informertest.StatusError(code, "", "the server reports "+name)
	}
	if status.Status.Code == 0 && status.Status.Reason == "" {
		t.Fatal(errors.New("no such fault: " + name))
	}
	if after != "" {
		status.RetryAfter = duration(t, after)
		status.Status.Details = &api.StatusDetails{RetryAfterSeconds: int(status.RetryAfter.Seconds())}
	}
	return status
}
