package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/trace/tracetest"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// leftOut are the hooks that are not recorded, with the reason.
var leftOut = map[string]string{
	"restclient.watchFrame": "one more event for each event of a watch; WatchClosed has their number",
	"nsctl.noToken":         "nothing is done, and nothing can be seen",
	"nsctl.conditionsKept":  "the conditions are those of the last ConditionsUpdated",
}

// A nil Recorder returns nil hooks, so nothing is called.
func TestNoRecorderNoHooks(t *testing.T) {
	for name, hook := range tracetest.Hooks(nil) {
		assert.True(t, hook.IsNil(), name)
	}
	(*trace.Recorder)(nil).Stop("")
}

// canary is a secret. No line may have it.
const canary = "canary-0123456789-abcdef"

// took is how long everything has taken.
const took = 3 * time.Second

// argument returns a value of a hook's parameter, with a secret wherever one could be.
func argument(t reflect.Type) reflect.Value {
	secret := errors.New("Authorization: Bearer " + canary + " " + strings.Repeat("x", 100) + " https://user:" + canary +
		strings.Repeat("y", 100) + "@proxy " + strings.Repeat("x", 300) + " password=" + canary)
	labels := map[string]string{"label": canary}
	namespace := &api.Namespace{}
	namespace.Name, namespace.UID, namespace.ResourceVersion = "demo", "uid", "7"
	namespace.Labels, namespace.Annotations = labels, labels
	tombstone := deltafifo.Tombstone("demo", namespace)
	for _, known := range []any{
		namespace, tombstone, deltafifo.Deltas[*api.Namespace]{{Type: deltafifo.Added, Object: namespace}, tombstone},
		&indexer.IndexErrors{First: []*indexer.IndexError{{Index: "i", Key: "demo", Err: secret}}, Total: 1},
		&informer.ProcessError{Key: "demo", Err: secret}, &reflector.StoreError{Err: secret},
		&informer.MutationError{Key: "demo", Was: canary, Is: canary},
		&wait.Panic{Value: secret, Stack: []byte(canary)}, reflector.WatchInfo{Err: secret, Lasted: took},
		reflector.ListInfo{Duration: took},
		restclient.RequestResult{Code: 500, Err: secret, Duration: took},
		restclient.RequestInfo{ID: 3, Verb: "get", Path: "/api", Attempt: 1, Name: "demo"},
		restclient.Warning{Agent: canary, Text: "token=" + canary},
		[]api.NamespaceCondition{{Type: "T", Status: "True", Reason: "R", Message: "password=" + canary}},
		context.Context(restclient.WithOrigin(context.Background(), "pass-1")),
		3, uint64(3), "demo", took, int64(3), true, queue.Event[string]{Key: "demo"},
	} {
		if value := reflect.ValueOf(known); value.Type() == t || t.Kind() == reflect.Interface &&
			t != reflect.TypeFor[any]() && value.Type().Implements(t) && t != reflect.TypeFor[error]() {
			return value
		}
	}
	switch t {
	case reflect.TypeFor[error]():
		return reflect.ValueOf(secret)
	case reflect.TypeFor[any]():
		return reflect.ValueOf(canary)
	}
	value := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		value.SetString("x")
	case reflect.Struct:
		for i := range t.NumField() {
			if field := value.Field(i); field.CanSet() {
				field.Set(argument(field.Type()))
			}
		}
	}
	return value
}

// Every hook of every gear is recorded under its name, or left out with a reason. Its line is JSON,
// short, has the fields of the event, and no secret. A duration is in microseconds.
func TestEveryHookIsRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	r, check := start(t, trace.Config{File: file})
	hooks := tracetest.Hooks(r)
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		require.Equal(t, leftOut[name] != "", hooks[name].IsNil(), "%s is recorded, or in leftOut", name)
		if leftOut[name] == "" {
			assertRecorded(t, r, hooks[name], name)
		}
	}
	for name := range leftOut {
		assert.Contains(t, hooks, name, "there is no such hook")
	}
	check()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), canary, "a secret is in the recording, as a whole or cut at 200 bytes")
	_, lines, _ := strings.Cut(string(text), "\n") // without the header
	fields := map[string]int{}
	for line := range strings.Lines(lines) {
		var e trace.Event
		var names map[string]any
		require.NoError(t, errors.Join(json.Unmarshal([]byte(line), &e), json.Unmarshal([]byte(line), &names)))
		for name := range names {
			fields[name]++
		}
		assert.LessOrEqual(t, len(e.Err), 200)
		if e.Micros != 0 {
			assert.Equal(t, took.Microseconds(), e.Micros, e.Name)
		}
	}
	for _, name := range []string{"s", "t", "e", "diff", "state"} {
		delete(fields, name)
	}
	assert.Equal(t, map[string]int{
		"i": 57, "k": 48, "uid": 1, "rv": 8, "d": 7, "us": 23, "n": 24, "m": 3, "h": 8, "p": 2, "q": 7, "r": 2,
		"err": 23, "from": 1, "to": 1, "on": 1, "type": 2, "kind": 4, "phase": 2, "verb": 2, "path": 2, "identity": 2,
		"text": 1, "status": 1, "reason": 2, "message": 1, "name": 1, "num": 5, "page": 1, "attempt": 2, "code": 2,
		"pending": 1, "merged": 1, "more": 1, "initial": 2, "sync": 1, "drain": 1,
	}, fields, "how many events have each field")
}

// assertRecorded calls a hook, and checks the name of its event.
func assertRecorded(t *testing.T, r *trace.Recorder, hook reflect.Value, name string) {
	t.Helper()
	var args []reflect.Value
	for i := range hook.Type().NumIn() {
		args = append(args, argument(hook.Type().In(i)))
	}
	var recorded []string
	r.Watch(func(e *trace.Event, _ *trace.State) { recorded = append(recorded, e.Name) }, func(*trace.Event) {})
	hook.Call(args)
	r.Flush()
	assert.Equal(t, []string{name}, recorded)
}

// Recording an event does not allocate.
func TestRecordingAllocatesNothing(t *testing.T) {
	r, check := start(t, trace.Config{})
	q, fifo := r.Queue("q"), trace.FIFO[*api.Namespace](r, "i")
	ns := &api.Namespace{}
	deltas := deltafifo.Deltas[*api.Namespace]{{Type: deltafifo.Added, Object: ns}}
	seq := uint64(0)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		seq++
		q.Added(queue.Event[string]{Key: "demo", Seq: seq})
		fifo.Queued("demo", deltas[0], 1)
		fifo.Popped("demo", deltas, false, 0)
	}))
	check()
}
