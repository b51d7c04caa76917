package scenes_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	vms "orrery/examples/virtualmachine"
	"orrery/internal/lab/demo"
	"orrery/internal/lab/demo/scenes"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/internal/words"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
	"orrery/wait"
)

const objects = 60

// play plays a scene in a bubble, against the built-in server behind pipes, and passes the story
// to check.
func play(t *testing.T, name string, check func(t *testing.T, s story.State)) {
	playWith(t, gears.Set{}, name, nil, check)
}

// Every scene is played to its end with every form of every gear.
func TestScenesWithOtherGears(t *testing.T) {
	sets := []string{"textbook", "deltafifo=inorder"}
	for _, gear := range gears.Names() {
		sets = append(sets, gear+"=textbook")
	}
	for _, text := range sets {
		set, err := gears.Parse(text)
		require.NoError(t, err)
		for _, scene := range scenes.All() {
			t.Run(text+"/"+scene.Name, func(t *testing.T) {
				playWith(t, set, scene.Name, nil, func(*testing.T, story.State) {})
			})
		}
	}
}

// playWith plays a scene with a set of gears. Meanwhile intruder, if not nil, runs with a client
// of the administrator; the story ends when both have returned.
func playWith(t *testing.T, set gears.Set, name string, intruder func(ctx context.Context, teller *story.Teller, config restclient.Config) error, check func(t *testing.T, s story.State)) {
	synctest.Test(t, func(t *testing.T) {
		scene, err := scenes.Named(name)
		require.NoError(t, err)
		server, made, err := demo.NewServer("")
		require.NoError(t, err)
		defer func() { require.NoError(t, server.Stop(context.Background())) }()
		wire := restclienttest.NewTLSServer(t, server.Handler(), restclienttest.NewAuthority(t), nil)

		teller := scene.Story("")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		on, err := stage.Open(ctx, stage.Config{
			Teller: teller, Server: wire.Config(), Credentials: made, Faults: server.Faults(), Objects: objects, Gears: set,
		}, scene.Options)
		require.NoError(t, err)
		defer on.Close()
		other := make(chan error, 1)
		if intruder != nil {
			config := wire.Config()
			config.Credentials = made[story.Script]
			go func() { other <- intruder(ctx, teller, config) }()
		} else {
			other <- nil
		}
		err = scene.Play(ctx, on)
		require.NoError(t, <-other)
		state := teller.State()
		if !assert.NoError(t, err) {
			t.Log(reported(state))
			return
		}
		if scene.Options.Bare {
			checkAlone(t, state)
		} else {
			checkEveryScene(t, state)
		}
		check(t, state)
		if t.Failed() {
			t.Log(reported(state))
		}
	})
}

// reported returns the whole story, for the log of a failing test.
func reported(s story.State) string {
	var b strings.Builder
	for _, beat := range s.Beats {
		b.WriteString(beat.At.String() + " " + string(beat.Who) + ": " + beat.Text + "\n")
	}
	return b.String()
}

// index returns the number of the actor's first beat that contains the words, from number from
// on, or -1.
func index(s story.State, from int, who story.Who, words string) int {
	at := slices.IndexFunc(s.Beats[from:], func(b story.Beat) bool { return b.Who == who && strings.Contains(b.Text, words) })
	if at < 0 {
		return -1
	}
	return from + at
}

// beat is an expected beat.
type beat struct {
	who   story.Who
	words string
}

// inOrder asserts that the beats occurred in this order, with others in between, and returns
// their numbers.
func inOrder(t *testing.T, s story.State, beats ...beat) []int {
	t.Helper()
	var found []int
	from := 0
	for _, b := range beats {
		at := index(s, from, b.who, b.words)
		if !assert.GreaterOrEqual(t, at, 0, "after beat %d there is no beat %q of %s", from, b.words, b.who) {
			return found
		}
		found = append(found, at)
		from = at + 1
	}
	return found
}

// howOften counts the actor's beats that contain the words.
func howOften(s story.State, who story.Who, words string) int {
	n := 0
	for _, b := range s.Beats {
		if b.Who == who && strings.Contains(b.Text, words) {
			n++
		}
	}
	return n
}

// checkEveryScene asserts what holds for every scene: it begins with a full namespace and ends
// without one, and the counters agree with the beats.
func checkEveryScene(t *testing.T, s story.State) {
	assert.Equal(t, story.Gone, s.Namespace.Phase)
	assert.True(t, s.Over)
	assert.Len(t, s.Types, 10)
	for _, kind := range s.Types {
		assert.Zero(t, kind.Left, "%s are left", kind.Name)
		assert.Positive(t, kind.Most, "there were no %s", kind.Name)
	}
	assert.GreaterOrEqual(t, s.Total().Most, objects)
	inOrder(t, s,
		beat{story.You, "kubectl create namespace shop"},
		beat{story.Reflector, "ADDED shop"},
		beat{story.FIFO, "the delta Added is queued"},
		beat{story.FIFO, "popped with 1 delta: Added"},
		beat{story.Indexer, "has the new state of shop; "},
		beat{story.You, "kubectl delete namespace shop"},
		beat{story.Server, "the phase is Terminating, spec.finalizers is "},
		beat{story.Worker, "pass 1 begins"},
		beat{story.Deleter, "pods: all "},
		beat{story.Deleter, "crontabs: all 2 deleted"},
		beat{story.Deleter, "updates the status: no condition blocks the deletion any more"},
	)
	byHand := howOften(s, story.You, `with "finalizers": []`)
	assert.Equal(t, howOften(s, story.You, "kubectl delete namespace shop"), howOften(s, story.Deleter, "through /finalize")+byHand)
	assert.Equal(t, 1, howOften(s, story.Reflector, "DELETED shop"), "the first of each kind of event is followed")
	assert.Equal(t, 1, howOften(s, story.Indexer, "has removed shop"))
	assert.GreaterOrEqual(t, index(s, 0, story.Worker, "nothing more to do"), 0)

	g := s.Gears
	assert.Zero(t, g.Depth, "nothing waits in a FIFO")
	assert.Zero(t, g.Ready)
	assert.Zero(t, g.Busy)
	assert.Equal(t, g.Adds, g.Passes, "each key that is handed out is a pass")
	assert.GreaterOrEqual(t, g.Deltas, 2*objects)
	assert.Equal(t, 10, g.Workers)
	assert.Positive(t, s.Requests[story.Controller]["deletecollection"])
	assert.GreaterOrEqual(t, s.Requests[story.Script]["create"], objects)
	assert.Zero(t, s.Requests[story.Controller]["create"])

	// The controller does not begin before the grace period of 5 seconds is over.
	marked := index(s, 0, story.Handler, "has a deletionTimestamp")
	looked := index(s, 0, story.Worker, "pass 1 begins")
	require.True(t, 0 <= marked && marked < looked)
	assert.GreaterOrEqual(t, s.Beats[looked].At-s.Beats[marked].At, 5*time.Second)
}

func TestDelete(t *testing.T) {
	play(t, "delete", func(t *testing.T, s story.State) {
		// Pods are deleted first, and the rest once they are gone.
		order := inOrder(t, s,
			beat{story.Deleter, "pods: one deletecollection request"},
			beat{story.Worker, "pass 1 ends"},
			beat{story.Deleter, "pods: all "},
			beat{story.Deleter, "crontabs: one deletecollection request; 2 of 2 remain"},
			beat{story.Operator, "removes the finalizer from"},
			beat{story.Deleter, "crontabs: all 2 deleted"},
		)
		require.Len(t, order, 6)
		for _, other := range []string{"configmaps", "secrets", "services", "leases", "roles"} {
			assert.Greater(t, index(s, 0, story.Deleter, other+": all "), order[2], "%s outlive the pods", other)
		}
		assert.Equal(t, 3, s.Gears.Passes)
		assert.Zero(t, s.Gears.Conflicts+s.Gears.Expired+s.Gears.Retries)
		assert.Equal(t, 11, s.Gears.Lists, "one for each type and one for namespaces")
	})
}

func TestFinalizer(t *testing.T) {
	play(t, "finalizer", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.You, "NamespaceFinalizersRemaining, because: Some content in the namespace has finalizers remaining: " + stage.Finalizer},
			beat{story.Worker, "some content remains in the namespace, estimate 15 seconds"},
			beat{story.Operator, "starts at last"},
			beat{story.Worker, "nothing more to do"},
		)
		assert.Zero(t, s.Gears.Retries, "waiting is no failure")
		assert.Equal(t, 1, howOften(s, story.Deleter, "updates the status: NamespaceFinalizersRemaining"), "an unchanged condition is not reported again")
	})
}

func TestBrokenAPIService(t *testing.T) {
	play(t, "broken-apiservice", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.You, "kubectl get apiservice v1beta1.metrics.k8s.io: Available is False (ServiceNotFound)"},
			beat{story.Deleter, "some are missing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1"},
			beat{story.Deleter, "updates the status: NamespaceDeletionDiscoveryFailure"},
			beat{story.Queue, "AddRateLimited(shop): failure 1, retry in 5ms"},
			beat{story.Queue, "AddRateLimited(shop): failure 2, retry in 10ms"},
			beat{story.Queue, "AddRateLimited(shop): failure 3, retry in 20ms"},
			beat{story.Deleter, "configmaps: all "}, // content of known types is deleted
			beat{story.You, "kubectl delete apiservice"},
			beat{story.Deleter, "through /finalize"}, // and only now the namespace
		)
		assert.Equal(t, s.Gears.Retries+1, s.Gears.Passes)
		assert.GreaterOrEqual(t, s.Gears.Retries, 11)
	})
}

// The scene's advice works: deleting the APIService in another terminal ends the hang.
func TestBrokenAPIServiceIsDeletedByAnotherClient(t *testing.T) {
	deletes := func(ctx context.Context, teller *story.Teller, config restclient.Config) error {
		client, err := restclient.New(config)
		if err != nil {
			return err
		}
		defer client.Close()
		err = teller.Await(ctx, func(s *story.State) bool { return s.Gears.Retries >= 4 })
		if err != nil {
			return err
		}
		services := api.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
		return restclient.Dynamic(client, services, "").Delete(ctx, stage.BrokenAPI, api.DeleteOptions{})
	}
	playWith(t, gears.Set{}, "broken-apiservice", deletes, func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Deleter, "some are missing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1"},
			beat{story.Deleter, "through /finalize"},
			beat{story.You, "is already gone: another client deleted it"},
		)
		assert.Less(t, s.Gears.Retries, 11)
	})
}

func TestExpiredWatch(t *testing.T) {
	play(t, "expired-watch", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.You, "kubectl -n shop delete configmaps"},
			beat{story.You, "kubectl delete namespace"},
			beat{story.Demo, "compact"},
			beat{story.Reflector, "410 Expired"},
			beat{story.FIFO, "the delta Replaced is queued"}, // not an event
			beat{story.Handler, "has a deletionTimestamp"},
		)
		tombstones := howOften(s, story.FIFO, "tombstone")
		assert.Equal(t, 1, tombstones)
		assert.Zero(t, howOften(s, story.Reflector, "MODIFIED shop, resourceVersion")-1, "the deletion itself was not seen, only the first report")
		assert.Equal(t, 11, s.Gears.Expired)
		assert.Equal(t, 22, s.Gears.Lists)
		assert.Positive(t, s.Gears.Tombstones)
	})
}

func TestSlowHandler(t *testing.T) {
	play(t, "slow-handler", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Demo, "a second handler is added to the informer of configmaps"},
			beat{story.Handler, "0 for the quick one"},
			beat{story.You, "kubectl delete namespace"},
			beat{story.Handler, "stale events still wait for the slow handler, 0 for the quick one"},
		)
		require.Len(t, s.Lines, 2)
		for _, line := range s.Lines {
			if strings.HasPrefix(line.Name, stage.SlowHandler) {
				assert.Greater(t, line.Most, 10, "events pile up for the slow one")
			}
		}
	})
}

func TestEmptiedFinalizers(t *testing.T) {
	play(t, "emptied-finalizers", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Deleter, "updates the status: NamespaceFinalizersRemaining"},
			beat{story.You, "kubectl replace --raw /api/v1/namespaces/shop/finalize"},
			beat{story.Reflector, "DELETED shop"},
			beat{story.Demo, "the namespace has gone, and 2 crontabs have not"},
			beat{story.You, "kubectl create namespace shop"},
			beat{story.You, "kubectl -n shop get crontabs: 2 crontabs"},
			beat{story.You, "kubectl delete namespace shop"},
			beat{story.Deleter, "updates the status: NamespaceFinalizersRemaining"},
			beat{story.Operator, "removes the finalizer from 2 crontabs"},
			beat{story.Deleter, "through /finalize; the server removes the namespace"},
		)
	})
}

func TestVirtualMachine(t *testing.T) {
	play(t, "virtualmachine", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.Operator, "cache is Pending; its finalizers are []"},
			beat{story.Operator, "cache: ServerCreated"},
			beat{story.Operator, "cache is Active; its finalizers are [finalizer.cloudnative.tw]"},
			beat{story.You, "kubectl -n shop delete vms cache"},
			beat{story.Operator, "cache is Terminating"},
			beat{story.Operator, "cache: ServerDeleted"},
			beat{story.Server, "the last finalizer of cache is removed"},
			beat{story.Demo, "the controller of virtual machines stops"},
			beat{story.You, "kubectl -n shop get vms db -o yaml: status.phase is Active, metadata.finalizers [finalizer.cloudnative.tw], metadata.deletionTimestamp set: true"},
			beat{story.You, "finalizers remaining: finalizer.cloudnative.tw in 2 resource instances"},
			beat{story.Operator, "the controller of virtual machines starts"},
			beat{story.Deleter, "through /finalize"},
		)
		// The demo hears of a deletion through an informer of its own, before or after the operator.
		inOrder(t, s,
			beat{story.You, "kubectl -n shop delete vms cache"},
			beat{story.Handler, "the deletion of cache arrives as an update"},
			beat{story.Server, "the last finalizer of cache is removed"},
			beat{story.Demo, "the controller of virtual machines stops"},
		)
		// The finalizer exists before a server does, and until the server is gone.
		for _, what := range []string{"created", "deleted"} {
			assert.Equal(t, 3, howOften(s, story.Operator, "was "+what+"; its finalizers are [finalizer.cloudnative.tw]"), what)
		}
		require.Len(t, s.Lines, 1)
		assert.Equal(t, story.Type{Name: "servers outside", Left: 0, Most: 3}, s.Lines[0])
	})
}

// A spectator deletes machines as soon as they appear. The scene continues with the remaining
// ones.
func TestVirtualMachinesThatAreDeletedAtOnce(t *testing.T) {
	for name, deletes := range map[string]func(vm string) bool{
		"one": func(vm string) bool { return vm == "web" },
		"all": func(string) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			playWith(t, gears.Set{}, "virtualmachine", func(ctx context.Context, teller *story.Teller, config restclient.Config) error {
				client, err := restclient.New(config)
				if err != nil {
					return err
				}
				defer client.Close()
				machines := restclient.Dynamic(client, vms.Resource, stage.Namespace)
				for !teller.State().Over {
					list, err := machines.List(ctx, api.ListOptions{})
					if err != nil && !api.IsNotFound(err) { // the definition is not there yet
						return err
					}
					for i := 0; err == nil && i < len(list.Items); i++ {
						if vm := list.Items[i].GetName(); deletes(vm) {
							if err := machines.Delete(ctx, vm, api.DeleteOptions{}); err != nil && !api.IsNotFound(err) {
								return err
							}
						}
					}
					if err := wait.Sleep(ctx, 10*time.Millisecond); err != nil {
						return err
					}
				}
				return nil
			}, func(t *testing.T, s story.State) { assert.Equal(t, story.Gone, s.Namespace.Phase) })
		})
	}
}

// The texts of a scene are complete, and the files that it names exist.
func TestScenesAreComplete(t *testing.T) {
	assert.Equal(t, []string{"delete", "finalizer", "broken-apiservice", "expired-watch", "slow-consumer", "one-key", "slow-handler", "emptied-finalizers", "stuck", "virtualmachine", "errors", "two-ways-of-410", "index", "store-decides", "resync", "back-off", "worker-pool", "two-queues", "stall"}, scenes.Names())
	for _, scene := range scenes.All() {
		said := scene.Words()
		assert.Regexp(t, `^[A-Z].*[.]$`, said.Happens.English)
		assert.Regexp(t, `^Watch .*[.]$`, said.Look.English)
		assert.GreaterOrEqual(t, len(said.Learnt), 3)
		both := append([]words.Text{said.Summary, said.Happens, said.Look}, said.Learnt...)
		for _, set := range []string{"fast", "textbook", "deltafifo=inorder,queue=textbook"} {
			var chosen gears.Set
			require.NoError(t, chosen.Set(set))
			read := scene.LessonOf(chosen, words.English).Read
			assert.GreaterOrEqual(t, len(read), 3, "%s with %s", scene.Name, set)
			for _, reading := range said.Read {
				gear, form, limited := strings.Cut(reading.Form, "=")
				named := slices.Contains(read, story.Reading{File: reading.File, Why: reading.English})
				assert.Equal(t, !limited || chosen.Form(gear) == form, named, "%s with %s", reading.File, set)
			}
		}
		for _, reading := range said.Read {
			_, err := os.Stat(filepath.Join("../../../..", reading.File))
			assert.NoError(t, err)
			both = append(both, reading.Text)
			if reading.Form != "" {
				_, err := gears.Parse(reading.Form)
				assert.NoError(t, err, reading.File)
			}
		}
		for _, text := range both {
			assert.True(t, text.Complete(), "%s in both languages", text.English)
		}
	}
}

func TestUnknownScene(t *testing.T) {
	_, err := scenes.Named("delite")
	var unknown *scenes.UnknownError
	require.ErrorAs(t, err, &unknown)
	assert.EqualError(t, err, `there is no scene "delite"; the scenes are delete, finalizer, broken-apiservice, expired-watch, slow-consumer, one-key, slow-handler, emptied-finalizers, stuck, virtualmachine, errors, two-ways-of-410, index, store-decides, resync, back-off, worker-pool, two-queues, stall`)
}

func TestStuck(t *testing.T) {
	play(t, "stuck", func(t *testing.T, s story.State) {
		inOrder(t, s,
			beat{story.You, "NamespaceContentRemaining, because: Some resources are remaining: pods. has"},
			beat{story.Demo, "the conditions name pods only"},
			beat{story.You, "NamespaceFinalizersRemaining, because: Some content in the namespace has finalizers remaining: "},
			beat{story.Operator, "removes the finalizer"},
			beat{story.You, "kubectl create namespace"},
			beat{story.You, `NamespaceDeletionContentFailure, because: Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook "deny.policy.io"`},
			beat{story.Operator, "removes the finalizer"},
		)
		assert.Equal(t, 2, howOften(s, story.You, "kubectl delete namespace"))
		assert.Equal(t, 2, howOften(s, story.Deleter, "secrets: all "), "what is deleted is told of both namespaces")
	})
}
