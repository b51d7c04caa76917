package nsctltest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/restclienttest"
)

// Form is a deleter under test.
type Form struct {
	New func(nsctl.DeleterConfig) nsctl.Deleter

	// Lacks names the missing capabilities, with the reasons.
	Lacks map[Capability]string
}

// Capability names something that a form may lack without losing content.
type Capability string

const (
	// LooksFirst: a type in which a LIST finds nothing is not deleted. Without it, a DELETE and a
	// LIST follow for each type.
	LooksFirst Capability = "a type is listed before it is deleted"
	// ReadsAnswers: if ConfigMaps are deleted unseen, an empty answer proves that there were none.
	// Without it, a LIST follows each DELETE.
	ReadsAnswers Capability = "the answer to deleting a collection is read"
	// ChecksEmptiness: if many namespaces are being deleted, one cluster-wide list of a type serves
	// them all.
	ChecksEmptiness Capability = "one list of a type serves many namespaces"
	// SkipsLastReport: a namespace that disappears with this controller's token gets no report just
	// before. Without it, each pass reports.
	SkipsLastReport Capability = "no report about a namespace that goes"
)

var capabilities = []Capability{LooksFirst, ReadsAnswers, ChecksEmptiness, SkipsLastReport}

// suite is a form under test. Each exported method is a test. One that takes a cluster runs in a
// bubble, and gets a new cluster.
type suite struct{ Form }

// doomed is a new cluster with the namespace "ns", which has just been deleted.
type doomed struct{ *Cluster }

func (s suite) has(c Capability) bool {
	_, lacks := s.Lacks[c]
	return !lacks
}

// Run runs the whole suite on a form.
func Run(t *testing.T, form Form) {
	for c, reason := range form.Lacks {
		require.Contains(t, capabilities, c, "Lacks names a capability that does not exist")
		require.NotEmpty(t, reason, "Lacks gives no reason for %s", c)
	}
	tests := reflect.ValueOf(suite{form})
	for i := range tests.NumMethod() {
		t.Run(tests.Type().Method(i).Name, func(t *testing.T) {
			switch test := tests.Method(i).Interface().(type) {
			case func(*testing.T):
				test(t)
			case func(*testing.T, *Cluster):
				Bubble(t, test)
			case func(*testing.T, doomed):
				Bubble(t, func(t *testing.T, c *Cluster) {
					c.AddNamespace("ns", true, "kubernetes")
					test(t, doomed{c})
				})
			default:
				t.Fatalf("a test of another type: %T", test)
			}
		})
	}
}

// Bubble runs test in a testing/synctest bubble, with a new cluster.
func Bubble(t *testing.T, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, NewCluster()) })
}

// BubbleRun is Bubble in a subtest.
func BubbleRun(t *testing.T, name string, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { Bubble(t, test) })
}

// DeleterUnderTest is a deleter that is not informed of the deletion beforehand.
type DeleterUnderTest struct{ nsctl.Deleter }

// Delete makes a pass.
func (d DeleterUnderTest) Delete(ctx context.Context, name string) error {
	return d.Deleter.Delete(ctx, name, nsctl.ObservedDeletion{})
}

// NewDeleter returns a new deleter that reaches the server over an in-memory connection. Call it in
// a bubble.
func NewDeleter(t *testing.T, server http.Handler, form func(nsctl.DeleterConfig) nsctl.Deleter,
	adjust ...func(*nsctl.DeleterConfig)) DeleterUnderTest {
	t.Helper()
	return deleterOf(NewClient(t, server), form, adjust...)
}

func deleterOf(client *restclient.Client, form func(nsctl.DeleterConfig) nsctl.Deleter,
	adjust ...func(*nsctl.DeleterConfig)) DeleterUnderTest {
	config := deleterConfig(client)
	for _, f := range adjust {
		f(&config)
	}
	return DeleterUnderTest{form(config)}
}

func deleterConfig(client *restclient.Client) nsctl.DeleterConfig {
	return nsctl.DeleterConfig{
		Namespaces: restclient.Typed[*api.Namespace](client, api.NamespacesResource, ""),
		Content:    nsctl.NewContentClient(client),
		Discovery:  NewDiscovery(client),
	}
}

func (s suite) newDeleter(t *testing.T, c http.Handler, adjust ...func(*nsctl.DeleterConfig)) DeleterUnderTest {
	t.Helper()
	return NewDeleter(t, c, s.New, adjust...)
}

// NewDiscovery returns a new discovery client as cmd/orrery configures it.
func NewDiscovery(client *restclient.Client) nsctl.Discovery {
	return discovery.NewCached(discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true}))
}

// NewClient returns a new client of the server without a rate limit and without retries.
func NewClient(t *testing.T, server http.Handler) *restclient.Client {
	t.Helper()
	config := restclienttest.NewServer(t, server).Config()
	config.QPS = -1
	config.MaxRetries = -1
	client, err := restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// ConditionOf returns the condition of that type, or a zero one.
func ConditionOf(ns *api.Namespace, wanted api.NamespaceConditionType) api.NamespaceCondition {
	for _, condition := range ns.Status.Conditions {
		if condition.Type == wanted {
			return condition
		}
	}
	return api.NamespaceCondition{}
}

// resyncCheck is the period at which the informer checks for due resyncs.
const resyncCheck = time.Minute

// NewStandby returns a new controller, which does not work yet, and the function that stops its
// informer, which runs.
func NewStandby(
	t *testing.T, c http.Handler, form func(nsctl.DeleterConfig) nsctl.Deleter,
	adjust func(*nsctl.Config, *nsctl.DeleterConfig),
) (standby *nsctl.Controller, stopInformer func()) {
	t.Helper()
	client := NewClient(t, c)
	deleter := deleterConfig(client)
	shared := informer.NewSharedIndexInformer(
		restclient.Typed[*api.Namespace](client, api.NamespacesResource, ""),
		informer.Config[*api.Namespace]{Name: "namespaces", ResyncPeriod: resyncCheck})
	config := nsctl.Config{Informer: shared}
	if adjust != nil {
		adjust(&config, &deleter)
	}
	config.Deleter = form(deleter)
	standby, err := nsctl.NewController(config)
	require.NoError(t, err)
	return standby, running(t, func(ctx context.Context) { _ = shared.Run(ctx) })
}

// Running is a running controller of a cluster.
type Running struct {
	*nsctl.Controller
	Stop func() // stops the controller, then the informer, and waits for both
}

// StartController runs a controller as cmd/orrery does: the informer outlives it.
func StartController(
	t *testing.T, c http.Handler, form func(nsctl.DeleterConfig) nsctl.Deleter,
	adjust func(*nsctl.Config, *nsctl.DeleterConfig),
) *Running {
	t.Helper()
	controller, stopInformer := NewStandby(t, c, form, adjust)
	stop := running(t, controller.Run)
	return &Running{Controller: controller, Stop: func() { stop(); stopInformer() }}
}

// running calls run on a goroutine of its own. The function that it returns ends the context of run
// and waits until that has returned; so does the end of the test.
func running(t *testing.T, run func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var ends sync.WaitGroup
	ends.Go(func() { run(ctx) })
	stop = func() {
		cancel()
		ends.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// requireRemaining asserts that a pass has found content left.
func requireRemaining(t *testing.T, err error) (remaining *nsctl.ResourcesRemainingError) {
	t.Helper()
	require.ErrorAs(t, err, &remaining, "content is left, and nothing has failed: want a *ResourcesRemainingError")
	return remaining
}

// Crowd creates terminating namespaces with a ConfigMap each, and one that is not terminating.
func Crowd(c *Cluster, n int) (names []string) {
	c.AddNamespace("bystander", false, "kubernetes")
	c.Put("configmaps.", "bystander", "mine")
	for i := range n {
		name := fmt.Sprintf("ns-%02d", i)
		c.AddNamespace(name, true, "kubernetes")
		c.Put("configmaps.", name, "a")
		names = append(names, name)
	}
	return names
}

// AssertAllGone asserts that the namespaces of a crowd and their content are gone, and nothing
// else.
func AssertAllGone(t *testing.T, c *Cluster, names []string) {
	t.Helper()
	for _, name := range names {
		c.AssertGone(t, name)
		assert.Empty(t, c.Left(name))
	}
	assert.Equal(t, []string{"configmaps./mine"}, c.Left("bystander"))
}
