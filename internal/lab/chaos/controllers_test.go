package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine/driver"
	"orrery/restclient"
	"orrery/restclient/api"
)

// manySeeds is the number of seeds that TestControllers plays, of the thousand of TestSeeds.
const manySeeds = 100

// All controllers run in one process. At each quiet point everything desired exists, nothing else
// does, and each type has one watch.
func TestControllers(t *testing.T) {
	for seed := *firstSeed + *part; seed < *firstSeed+min(*seeds, manySeeds); seed += *parts {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			p := NewControllersPlan(seed, *storms)
			report := playInBubble(t, p, sabotage{stopped: func(w *world) {
				if *storms < 4*time.Minute {
					return
				}
				for _, resource := range []string{"deployments", "replicasets", "pods", "virtualmachines",
					"configmaps"} {
					assert.Positive(t, w.journal.created(resource), resource)
				}
			}})
			if report.Failure != nil {
				t.Errorf("play it again: make chaos SEED=%d DURATION=%s\n%s", seed, *storms,
					report.Failure.Explain(p))
			}
		})
	}
}

// calmControllers is a plan with writes only. At its end there is a Deployment.
func calmControllers() Plan {
	p := NewControllersPlan(1, 2*time.Minute)
	p.onlyWrites()
	last := &p.Storms[len(p.Storms)-1]
	last.Steps = append(last.Steps, Step{At: last.Length, What: Put, On: "deployments/" + staying + "/last", N: 3})
	return p
}

// Each controller is left out once, and the checks notice.
func TestAControllerThatDoesNothingIsFound(t *testing.T) {
	for name, want := range map[string]string{
		"deployment-controller":        "deployment ",
		"garbage-collector-controller": "has lost its owners",
		"namespace-controller":         "is still being deleted",
		"replicaset-controller":        "replica set ",
		"second-party-controller":      "is still being deleted",
		"virtualmachine":               "virtual machine ",
	} {
		t.Run(name, func(t *testing.T) {
			expectFailure(t, sabotage{without: name}, want)
		})
	}
}

func expectFailure(t *testing.T, s sabotage, want string) {
	t.Helper()
	report := playInBubble(t, calmControllers(), s)
	require.NotNil(t, report.Failure)
	assert.Contains(t, strings.Join(report.Failure.Differences, "\n"), want)
}

func TestWhatControllersLeaveBehindIsFound(t *testing.T) {
	require.Nil(t, playInBubble(t, calmControllers(), sabotage{}).Failure)
	t.Run("a machine", func(t *testing.T) {
		expectFailure(t, sabotage{begun: func(w *world) {
			assert.NoError(t, w.outside.machines.CreateServer(context.Background(),
				driver.CreateRequest{Name: "zombie"}))
		}}, "machine zombie has no object")
	})
	t.Run("content", func(t *testing.T) {
		expectFailure(t, sabotage{begun: func(w *world) {
			directory := filepath.Join(w.outside.directory, "gone", builds)
			assert.NoError(t, os.MkdirAll(directory, 0o755))
			assert.NoError(t, os.WriteFile(filepath.Join(directory, "b"), nil, 0o644))
		}}, "content of namespace gone was left behind")
	})
	t.Run("a second watch", func(t *testing.T) {
		var second api.Watcher[*api.Namespace]
		expectFailure(t, sabotage{
			begun: func(w *world) {
				var err error
				second, err = restclient.Typed[*api.Namespace](w.running()[0].client, api.NamespacesResource, "").
					Watch(context.Background(), api.ListOptions{})
				assert.NoError(t, err)
			},
			stopped: func(*world) { second.Stop() },
		}, "3 watches of /api/v1/namespaces are open")
	})
}

// The end of a watch is lost on a connection that is dead towards the server. The usage of a
// machine keeps arriving, and with it the connection stays open.
func TestTheServerMayMissTheEndOfAWatch(t *testing.T) {
	p := calmControllers()
	p.TLS = true // HTTP/2: all requests share a connection
	storm := &p.Storms[len(p.Storms)-1]
	storm.Steps = append(storm.Steps, Step{At: storm.Length, What: Put,
		On: "virtualmachines/" + staying + "/last", N: 3})
	report := playInBubble(t, p, sabotage{begun: func(w *world) {
		process := w.running()[0]
		watch, err := restclient.Typed[*api.Namespace](process.client, api.NamespacesResource, "").
			Watch(context.Background(), api.ListOptions{})
		assert.NoError(t, err)
		w.under.Go(func() {
			time.Sleep(p.Storms[0].Length + time.Second)
			process.link.BlackHole(true, Sent)
			watch.Stop()
			synctest.Wait()
			process.link.BlackHole(false)
			assert.Equal(t, 1, process.link.Snapshot().Dead)
		})
	}})
	assert.Nil(t, report.Failure)
}
