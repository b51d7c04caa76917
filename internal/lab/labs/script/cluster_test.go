package script_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/script"
	"orrery/internal/lab/labs/texts"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/kubeconfig"
)

// deletes is a controller that deletes the namespaces that it may see. Mode "strays" deletes a
// config map of others before, and in mode "lazy" another controller does the work.
func deletes(mode string) error {
	file := os.Args[slices.Index(os.Args, "--kubeconfig")+1]
	if mode == "lazy" {
		file = os.Getenv("LAB_DIRECT")
	}
	client, err := clientOf(file)
	if err != nil {
		return err
	}
	if mode == "strays" {
		restclient.Dynamic(client, configMaps, "others").Delete(context.Background(), "a", api.DeleteOptions{})
	}
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	deleter := nsctl.NewDeleter(nsctl.DeleterConfig{
		Namespaces: namespaces, Content: nsctl.NewContentClient(client), Discovery: discovery.NewCached(discovery.New(client)),
	})
	for range time.Tick(10 * time.Millisecond) {
		list, err := namespaces.List(context.Background(), api.ListOptions{})
		if err != nil {
			return err
		}
		for _, namespace := range list.Items {
			if strings.HasPrefix(namespace.Name, "lab-") {
				deleter.Delete(context.Background(), namespace.Name, nsctl.ObservedDeletion{})
			}
		}
	}
	return nil
}

var configMaps = api.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func clientOf(file string) (*restclient.Client, error) {
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: file})
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return restclient.New(config)
}

// cluster starts a server with a config map of others.
func cluster(t *testing.T) *restclient.Client {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{TLS: true})
	require.NoError(t, err)
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, server.WriteKubeconfig(file))
	t.Setenv("LAB_DIRECT", file)
	client, err := clientOf(file)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	for _, step := range []struct{ path, name string }{{"/api/v1/namespaces", "others"}, {"/api/v1/namespaces/others/configmaps", "a"}} {
		body := []byte(`{"metadata":{"name":"` + step.name + `"}}`)
		require.NoError(t, client.Do(t.Context(), restclient.Request{Verb: http.MethodPost, Path: step.path, Body: body}, nil))
	}
	return client
}

// playOnCluster plays with this binary as the controller.
func playOnCluster(ctx context.Context, t *testing.T, mode string, client *restclient.Client) (outcome script.Outcome, told string, err error) {
	t.Helper()
	t.Setenv("LAB_CONTROLLER", mode)
	run := manifest.Run{Args: []string{"--controllers=*,garbagecollector", "--concurrent-namespace-syncs=3"}}
	var out strings.Builder
	outcome, err = script.PlayOnCluster(ctx, script.Config{
		Run: run, Program: os.Args[0], Log: filepath.Join(t.TempDir(), "run.log"), Out: &out, Lang: texts.English,
	}, client, script.NewPrefix(), "--more")
	return outcome, out.String(), err
}

// onlyOthers checks that the cluster is as it was.
func onlyOthers(t *testing.T, client *restclient.Client) {
	t.Helper()
	list, err := restclient.Dynamic(client, api.NamespacesResource, "").List(t.Context(), api.ListOptions{})
	require.NoError(t, err)
	for _, namespace := range list.Items {
		assert.False(t, strings.HasPrefix(namespace.GetName(), "lab-"), namespace.GetName())
	}
	_, err = restclient.Dynamic(client, configMaps, "others").Get(t.Context(), "a", api.GetOptions{})
	assert.NoError(t, err, "the config map of others is still there")
}

func TestAControllerWorksOnACluster(t *testing.T) {
	for mode, want := range map[string]struct {
		ok   bool
		told string
	}{
		"deletes": {true, "all 5 namespaces are gone"},
		"strays":  {false, "DELETE /api/v1/namespaces/others/configmaps/a: this run did not create the namespace others"},
		"lazy":    {false, "5 namespaces were finalized by another controller"},
	} {
		t.Run(mode, func(t *testing.T) {
			client := cluster(t)
			outcome, told, err := playOnCluster(t.Context(), t, mode, client)
			require.NoError(t, err)
			assert.Equal(t, want.ok, outcome.OK, told)
			assert.Contains(t, told, want.told)
			assert.Contains(t, outcome.Output, "--concurrent-namespace-syncs=3 --namespaces lab-")
			assert.Contains(t, outcome.Output, "--events=false --more")
			assert.NotContains(t, outcome.Output, "garbagecollector", "others' objects are no work for a lab")
			onlyOthers(t, client)
		})
	}
}

// The run ends while its namespaces wait for a controller that does nothing.
func TestAnInterruptedRunLeavesNothingBehind(t *testing.T) {
	client := cluster(t)
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		defer interrupt()
		waitForADeletion(ctx, client)
	}()
	_, told, err := playOnCluster(ctx, t, "works", client)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Contains(t, told, "removing what is left of this run")
	onlyOthers(t, client)
}

// interruptedCreation interrupts a run when the server has created a namespace, before its answer
// arrives.
type interruptedCreation struct {
	http.RoundTripper
	interrupt func()
}

func (c interruptedCreation) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(request)
	if err != nil || request.Method != http.MethodPost || request.URL.Path != "/api/v1/namespaces" {
		return answer, err
	}
	c.interrupt()
	if request.Context().Err() != nil {
		answer.Body.Close()
		return nil, request.Context().Err()
	}
	return answer, nil
}

func TestANamespaceWhoseCreationWasInterruptedIsRemoved(t *testing.T) {
	client := cluster(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: os.Getenv("LAB_DIRECT")})
	require.NoError(t, err)
	config.WrapTransport = func(inner http.RoundTripper) http.RoundTripper { return interruptedCreation{inner, interrupt} }
	interrupted, err := restclient.New(config)
	require.NoError(t, err)
	defer interrupted.Close()
	_, _, err = playOnCluster(ctx, t, "works", interrupted)
	assert.ErrorIs(t, err, context.Canceled)
	onlyOthers(t, client)
}

// waitForADeletion returns when a namespace is being deleted.
func waitForADeletion(ctx context.Context, client *restclient.Client) {
	watch, err := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "").Watch(ctx, api.ListOptions{})
	if err != nil {
		return
	}
	defer watch.Stop()
	for {
		event, err := watch.Next()
		if err != nil || event.Object != nil && event.Object.DeletionTimestamp != nil {
			return
		}
	}
}
