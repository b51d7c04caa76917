package course_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"orrery/internal/app/program"
	"orrery/internal/lab/causes"
	"orrery/internal/lab/course"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
	"orrery/internal/why"
	"orrery/internal/words"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// This test binary is also the controller of its tests.
func TestMain(m *testing.M) {
	if mode := os.Getenv("LAB_CONTROLLER"); mode != "" {
		os.Exit(control(mode))
	}
	os.Exit(m.Run())
}

// control is a controller that does nothing but serve its metrics.
func control(mode string) int {
	if mode == "panics" {
		panic("lab 08: Queue.Get is yours to write")
	}
	if mode == "dies" {
		fmt.Println(os.Args[1:], os.Getenv("KUBECONFIG") != "")
		return 137
	}
	if os.Args[1] == "why" {
		return explains(mode)
	}
	if os.Args[1] == "bench" {
		return measures()
	}
	port := os.Args[slices.Index(os.Args, "--metrics-port")+1]
	var scrapes atomic.Int32
	http.HandleFunc("/interrupt", func(http.ResponseWriter, *http.Request) {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			self.Signal(os.Interrupt)
		}
	})
	http.HandleFunc("/end", func(http.ResponseWriter, *http.Request) { os.Exit(1) })
	http.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "# HELP passes\npasses{name=\"a\"} 40\npasses{name=\"b\"} 2\n")
		if scrapes.Add(1) > 1 {
			io.WriteString(w, "retries{code=\"429\"} 1\n")
		}
	})
	go http.ListenAndServe("127.0.0.1:"+port, nil)
	if slices.Contains(os.Args, "--view") {
		defer traced()()
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, os.Interrupt)
	fmt.Println(strings.Join(os.Args[1:], " "))
	if mode == "knows" || mode == "guesses" {
		go reports()
	}
	reason := <-ended
	switch {
	case mode == "fails":
		return 1
	case reason == os.Interrupt:
		return program.ExitInterrupted
	}
	return 0
}

// playing plays a run with this binary as the controller.
func playing(t *testing.T, ctx context.Context, mode string, config course.PlayConfig) (
	outcome course.Outcome, told string, err error) {
	t.Helper()
	t.Setenv("LAB_CONTROLLER", mode)
	var out strings.Builder
	config.Program, config.Log = os.Args[0], filepath.Join(t.TempDir(), "log")
	config.Out, config.Lang = &out, words.English
	outcome, err = course.Play(ctx, config)
	return outcome, out.String(), err
}

// played plays a script.
func played(t *testing.T, mode, actions string) (outcome course.Outcome, told string, err error) {
	t.Helper()
	run := course.Run{Args: []string{"--concurrent-namespace-syncs=3"}}
	if mode == "dies" || mode == "panics" {
		run = course.Run{Program: "examples/p", Args: []string{"-a"}}
	} else if mode == "measures" {
		run = course.Run{Program: "cmd/lab", Args: []string{"bench"}}
	}
	require.NoError(t, yaml.Unmarshal([]byte(actions), &run.Script))
	return playing(t, t.Context(), mode, course.PlayConfig{Run: run})
}

func TestAScriptIsPlayed(t *testing.T) {
	outcome, told, err := played(t, "works", `
- {say: {en: creating, zh-CN: 创建}, fill: {prefix: team, namespaces: 2, objects: 1}}
- {touch: {prefix: team, times: 2, every: 1ms}}
- {pause: 1ms}
- {fault: "delay:by=1h,verb=create"}
- {end: "delay:by=1h,verb=create"}
- {fill: {prefix: later, namespaces: 1}}
- {gone: {prefix: none, within: 1s}}
- {gone: {prefix: tea, within: 1s}} # team-0 is of another prefix
- {metric: {name: retries, at_least: 1, within: 60s}} # a series with labels begins with its first value
- {metric: {name: passes, at_least: 42, at_most: 42, within: 1s}}
`)
	require.NoError(t, err)
	assert.True(t, outcome.OK, told)
	assert.Contains(t, told, "creating\n")
	assert.Contains(t, told, "both end with the script, unless you add --keep\n")
	assert.True(t, strings.HasSuffix(told, "stopping the program; it may finish its work, for 30 s at most\n"), told)
	assert.Contains(t, told, "passes is 42 (≥ 42, ≤ 42)\n")
	assert.Contains(t, told, "all 0 namespaces are gone\n", "what was waited for has come about")
	assert.Contains(t, outcome.Output, "--gears textbook --concurrent-namespace-syncs=3")
}

// Another outcome is told, and is no error. Only the exit code of a killed program is not a crash.
func TestAnotherOutcomeIsToldAndIsNoError(t *testing.T) {
	for _, c := range []struct {
		mode, actions string
		want          string // "": the controller has crashed
	}{
		{"works", "[{fill: {prefix: team, namespaces: 1}}, {gone: {prefix: team, within: 1ms}}]",
			"1 of 1 namespaces are still there after 0 s"},
		{"works", "[{fill: {prefix: team-a, namespaces: 2}}, {gone: {prefix: team, within: 1ms}}]",
			"2 of 2 namespaces are still there after 0 s"},
		{"works", "[{metric: {name: passes, at_most: 41}}]", "passes is 42, and must be ≤ 41"},
		{"works", "[{metric: {name: nothing, within: 1ms}}]", "the controller has no metric nothing"},
		{"fails", "[]", "The controller did not finish its work within 30 s"},
		{"dies", "[{create_machine: web}, {machines: {objects: [web], servers: [web], within: 1ms}}]",
			"VirtualMachines: web; servers: none; want VirtualMachines: web; servers: web\n"},
		{"works", "[{killed: 1ms}]", "The program is still running after 0 s"},
		{"measures", "[{bench: {args: [queue], designs: [fast, textbook], at_least: {p90: 20us, max: 1s}}}]",
			"fast       2 k/s   p50 11 µs   p90 20 µs   p99 30 µs   max 40 µs\n"},
		{"measures", "[{bench: {args: [queue], designs: [fast, textbook], at_least: {p50: 10us, p90: 20us}}}]",
			"With the design textbook, the latency p50 is 9µs. It must be at least 10µs"},
		{"panics", "[{bench: {designs: [fast]}}]", ""},
		{"panics", "[{start: {}}, {pause: 1m}]", ""},
		{"panics", "[{start: {}}, {touch: {times: 1, every: 1m}}]", ""},
		{"panics", "[{start: {}}, {killed: 60s}]", ""},
	} {
		outcome, told, err := played(t, c.mode, c.actions)
		require.NoError(t, err)
		assert.False(t, outcome.OK)
		assert.Equal(t, c.want == "", outcome.Crashed, "an action sees that the program has ended: %s", c.actions)
		assert.Contains(t, told, c.want)
		if outcome.Crashed {
			assert.Contains(t, outcome.Output, "panic: lab 08: Queue.Get is yours to write")
		}
	}
}

// A kept run ends when its context does; the outcome is that of the script.
func TestARunIsKept(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	run := course.Run{Script: []course.Action{
		{Fill: &course.Fill{Prefix: "team", Namespaces: 2, Objects: 3, Pods: 1}},
		{Touch: &course.Touch{Prefix: "team", Times: 2}}, {Delete: "team"},
	}}
	found := map[string]int{}
	outcome, _, err := playing(t, ctx, "works", course.PlayConfig{Run: run, Keep: func(file, _ string) {
		defer interrupt()
		config, _, err := kubeconfig.Load(kubeconfig.Options{Path: file})
		require.NoError(t, err)
		client, err := restclient.New(config)
		require.NoError(t, err)
		defer client.Close()
		for _, of := range []api.GroupVersionResource{
			api.NamespacesResource, api.ConfigMapsResource, api.PodsResource,
		} {
			list, err := restclient.Dynamic(client, of, "").List(ctx, api.ListOptions{})
			require.NoError(t, err)
			for _, o := range list.Items {
				if strings.HasPrefix(o.GetNamespace()+o.GetName(), "team-") && o.GetName() != "kube-root-ca.crt" {
					found[fmt.Sprint(of.Resource, o.GetAnnotations()["touched"], o.GetDeletionTimestamp() != nil)]++
				}
			}
		}
	}})
	require.NoError(t, err)
	assert.True(t, outcome.OK)
	assert.Equal(t, map[string]int{"namespaces1true": 2, "configmapsfalse": 6, "pods1false": 2}, found,
		"each namespace has its objects, the last touch has reached it and its pod, and it was deleted")
}

// ask sends a request to a controller, which may end before it has answered.
func ask(gears, path string) {
	if answer, err := http.Get(strings.TrimSuffix(gears, "/debug/orrery?pretty") + path); err == nil {
		answer.Body.Close()
	}
}

// Ctrl-C on a terminal reaches the controller as well. A kept controller that ends in another way
// has crashed.
func TestAKeptControllerThatEnds(t *testing.T) {
	for path, crashed := range map[string]bool{"/interrupt": false, "/end": true} {
		outcome, _, err := playing(t, t.Context(), "works",
			course.PlayConfig{Keep: func(_, gears string) { ask(gears, path) }})
		require.NoError(t, err)
		assert.Equal(t, crashed, outcome.Crashed, path)
		assert.Equal(t, !crashed, outcome.OK, path)
	}
}

func TestAMistakeInAScriptIsAnError(t *testing.T) {
	for want, actions := range map[string]string{
		"nonsense":                             "[{fault: nonsense}]",
		"there is no fault \"compact\" to end": "[{end: compact}]",
	} {
		_, _, err := played(t, "works", actions)
		assert.ErrorContains(t, err, want)
	}
}

// The program of a lab is started by the script, as often as it asks for, and has one log.
func TestAProgramThatIsKilledIsStartedAgain(t *testing.T) {
	outcome, told, err := played(t, "dies", `
- {create_machine: web}
- {start: {args: [-b, "-state=$STATE"]}}
- {killed: 60s}
- {machines: {objects: [web], servers: [], within: 60s}}
- {delete_machine: web}
- {machines: {objects: [], servers: []}}
- {start: {}}
- {killed: 60s}
`)
	require.NoError(t, err)
	assert.True(t, outcome.OK, told)
	assert.Contains(t, told, "VirtualMachines: web; servers: none\n")
	assert.Regexp(t, `^\[-a -b -state=/.*state\] true\n\[-a\] true\n$`, outcome.Output)
}

// traced is what "orrery run --view" does: it serves a trace and prints the address of its page.
func traced() (stop func()) {
	recorder, err := trace.Start(trace.Config{Header: trace.Header{Run: "orrery run", Mode: "cluster",
		Gears: "textbook", Workers: 7}})
	if err != nil {
		panic(err)
	}
	recorder.Queue("work").Added(queue.Event[string]{Key: "a", Seq: 1})
	recorder.Flush()
	server, err := web.StartView(web.ViewConfig{Source: recorder})
	if err != nil {
		panic(err)
	}
	fmt.Println("The view: " + server.URL())
	return func() {
		recorder.Stop("the process has stopped")
		server.Stop()
	}
}

// The trace of the controller is followed from its first event to its last, and a controller that
// ends before it has one is said to have begun all the same.
func TestTheControllersTraceIsFollowed(t *testing.T) {
	for mode, want := range map[string][]string{
		"serves": {`"state"`, `"state"`, `"e":"queue.added","i":"work","k":"a"`,
			`"e":"trace.end","reason":"the process has stopped"`},
		"panics": {`"state"`, `"reason":"panic: it crashed"`},
	} {
		var header trace.Header
		begun, relay := 0, trace.NewRelay(trace.Header{Run: "lab run", Mode: "lab", Gears: "textbook"})
		outcome, _, err := playing(t, t.Context(), mode, course.PlayConfig{
			LimitFactor: 10, Trace: relay, Begun: func() { begun++; header = relay.Header() },
		})
		require.NoError(t, err)
		relay.End(map[string]string{"panics": "panic: it crashed"}[mode])
		assert.Equal(t, mode == "panics", outcome.Crashed, outcome.Output)
		assert.Equal(t, 1, begun)
		assert.Equal(t, map[string]int{"serves": 7}[mode], header.Workers)
		assert.Equal(t, "lab run", header.Run)
		var text []byte
		for cursor := relay.History().Cursor(1 << 20); err == nil; {
			var part []byte
			part, err = cursor.Next(context.Background())
			text = append(text, part...)
		}
		assert.Equal(t, io.EOF, err)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		require.Len(t, lines, len(want), "the states of the relay and of the process, and the events")
		for i, line := range lines {
			assert.Contains(t, line, want[i])
		}
	}
}

// verdicts have a seed whose second namespace has no pod, and so is set up at once: C07 and C18.
const verdicts = "seed: 7\n"

// reports is a controller that only writes a condition.
func reports() error {
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: os.Args[slices.Index(os.Args, "--kubeconfig")+1]})
	if err != nil {
		return err
	}
	client, err := restclient.New(config)
	if err != nil {
		return err
	}
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	for range time.Tick(10 * time.Millisecond) {
		namespace, err := namespaces.Get(context.Background(), causes.Namespace, api.GetOptions{})
		if err == nil && namespace.DeletionTimestamp != nil && len(namespace.Status.Conditions) == 0 {
			namespace.Status.Conditions = []api.NamespaceCondition{{Type: api.NamespaceContentRemaining,
				Status: api.ConditionTrue, Reason: "Seen", Message: "all"}}
			namespaces.UpdateStatus(context.Background(), namespace, api.UpdateOptions{})
		}
	}
	return nil
}

// explains is "orrery why".
func explains(mode string) int {
	fmt.Println(os.Args[2], "C07", os.Getenv("KUBECONFIG") != "")
	if mode == "guesses" {
		return why.ExitUnknown
	}
	fmt.Println("C18")
	return why.ExitStuck
}

func TestAStuckNamespaceIsExplainedAfterAPass(t *testing.T) {
	file := filepath.Join(t.TempDir(), "verdict.yaml")
	require.NoError(t, os.WriteFile(file, []byte(verdicts), 0o600))
	for _, c := range []struct {
		mode       string
		passed, ok bool
		says       string
	}{
		{"knows", false, true, `"orrery why shop" explains it here when your verdicts have passed`},
		{"knows", true, true, "orrery why shop:\nshop C07 true\nC18\n"},
		{"guesses", true, false, "shop C07 true\n"},
	} {
		outcome, told, err := playing(t, t.Context(), c.mode, course.PlayConfig{
			Run: course.Run{Script: []course.Action{{Stuck: &course.Stuck{Namespace: "second",
				Within: time.Millisecond}}}},
			Verdicts: file, Passed: c.passed, LimitFactor: 1000,
		})
		require.NoError(t, err)
		assert.Equal(t, c.ok, outcome.OK, told)
		assert.Contains(t, told, "namespace shop: Terminating\n")
		assert.Contains(t, told, "NamespaceContentRemaining=True Seen: all\n")
		assert.Contains(t, told, c.says)
		assert.Equal(t, c.passed && c.ok, strings.Contains(told, "\nC18\n"), told)
		assert.Equal(t, !c.ok, strings.Contains(told,
			"orrery why must prove C07, C18, and has not done so within 1 s"), "the factor of limits: %s", told)
	}
}

// measures is "lab bench": two rounds of a design, and one of another.
func measures() int {
	if strings.Join(os.Args[1:], " ") != "bench queue --design fast,textbook -o json -q" {
		return 1
	}
	const result = `{"subject": %q, "figures": [{"name": "other"}, {"name": "processed", "value": %d}],
		"latency": {"unit": "ns", "p50": %d, "p90": 2e4, "p99": 3e4, "max": 4e4}}`
	fmt.Printf(`{"results": [`+result+","+result+","+result+"]}", "fast", 3000, 12000, "fast", 1000, 10000,
		"textbook", 500, 9000)
	return 0
}
