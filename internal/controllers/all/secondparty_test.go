package all_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/secondparty"
	"orrery/internal/controllers"
	"orrery/internal/controllers/all"
	"orrery/internal/gears"
	"orrery/internal/lab/apiserver"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/metrics"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// Both parties in one process, over one watch, with every form of gear: the namespace goes when
// both are done.
func TestTwoPartiesInOneProcess(t *testing.T) {
	for _, set := range []string{gears.Fast, gears.Textbook} {
		t.Run(set, func(t *testing.T) {
			chosenGears, err := gears.Parse(set)
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) { twoParties(t, chosenGears) })
		})
	}
}

func twoParties(t *testing.T, set gears.Set) {
	ctx, end := context.WithCancel(t.Context())
	directory, shown, log := t.TempDir(), metrics.New("test"), &bytes.Buffer{}
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true})
	require.NoError(t, err)
	link := restclienttest.NewServer(t, server.Handler())
	chosen, err := controllers.Choose(
		all.Descriptors(all.Options{SecondParty: all.SecondPartyOptions{Storage: directory}}), []string{"namespace", "second-party"})
	require.NoError(t, err)
	manager := controllers.NewManager(controllers.Shared{
		Client: link.Client(), QPS: -1, Gears: set, Metrics: shown, Logger: logs.New(logs.Config{Writer: zerolog.SyncWriter(log)}),
	}, chosen)
	require.NoError(t, manager.Prepare(ctx, ctx))
	working, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		manager.Work(working, ctx)
	}()

	namespaces := restclient.Typed[*api.Namespace](link.Client(), api.NamespacesResource, "")
	namespace := &api.Namespace{TypeMeta: api.TypeMeta{Kind: "Namespace", APIVersion: "v1"}}
	namespace.Name, namespace.Spec.Finalizers = "development", []string{secondparty.Token}
	_, err = namespaces.Create(ctx, namespace, api.UpdateOptions{})
	require.NoError(t, err)
	// A file where a collection should be: the second party's storage is out of order.
	broken := filepath.Join(directory, "development", secondparty.Builds.GroupResource())
	require.NoError(t, os.Mkdir(filepath.Dir(broken), 0o755))
	require.NoError(t, os.WriteFile(broken, nil, 0o644))
	require.NoError(t, namespaces.Delete(ctx, "development", api.DeleteOptions{}))
	time.Sleep(time.Minute)
	namespace, err = namespaces.Get(ctx, "development", api.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{secondparty.Token}, namespace.Spec.Finalizers)

	require.NoError(t, os.Remove(broken))
	time.Sleep(2 * time.Minute)
	_, err = namespaces.Get(ctx, "development", api.GetOptions{})
	assert.True(t, api.IsNotFound(err), "%v", err)
	text := &bytes.Buffer{}
	require.NoError(t, shown.WriteText(text))
	assert.Contains(t, text.String(), `workqueue_adds_total{name="second-party"}`)
	assert.Contains(t, text.String(), `orrery_controller_passes_total{controller="second-party-controller",result="done"}`)

	stop()
	<-ended
	end()
	manager.Shutdown()
	require.NoError(t, server.Stop(context.Background()))
	assert.Regexp(t, `INFO  finalizer removed reconcile_id=\S+ controller=second-party-controller key=development finalizer=openshift.com/origin\n`, log.String())
	assert.Equal(t, 1, strings.Count(log.String(), "finalizer removed"))
}

func TestTheSecondPartyNeedsAStorage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for storage, message := range map[string]string{"": "--second-party-storage", file: "not a directory"} {
		chosen, err := controllers.Choose(all.Descriptors(all.Options{SecondParty: all.SecondPartyOptions{Storage: storage}}), []string{"second-party"})
		require.NoError(t, err)
		_, err = chosen[0].New(controllers.ControllerContext{Name: chosen[0].Name})
		assert.ErrorContains(t, err, message)
	}
}
