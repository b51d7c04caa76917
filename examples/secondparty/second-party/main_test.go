package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/gears"
	"orrery/examples/secondparty"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// Two parties hold a namespace: it goes when both are done. A file stands where a collection of the
// second party should be: its storage is out of order.
func TestTwoParties(t *testing.T) {
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		*directory = t.TempDir()
		c := clustertest.New(t)
		var failures clustertest.Buffer
		m := controller.NewManager(controller.Config{Client: c.Client(), Gears: set, Failures: &failures})
		require.NoError(t, setUp(m))
		ctx, stop := context.WithCancel(t.Context())
		parties := []<-chan struct{}{clustertest.Run(ctx, m.Run), c.RunNamespaceController(ctx, set)}
		defer func() {
			stop()
			for _, ended := range parties {
				<-ended
			}
		}()

		const development = "/api/v1/namespaces/development"
		c.Must("POST", "/api/v1/namespaces",
			`{"metadata":{"name":"development"},"spec":{"finalizers":["openshift.com/origin"]}}`)
		broken := filepath.Join(*directory, "development", secondparty.Builds.GroupResource())
		require.NoError(t, os.Mkdir(filepath.Dir(broken), 0o755))
		require.NoError(t, os.WriteFile(broken, nil, 0o644))
		c.Must("DELETE", development, "")
		time.Sleep(time.Minute)
		held := clustertest.Get[api.Namespace](c, development)
		assert.Equal(t, []string{secondparty.Token}, held.Spec.Finalizers)
		assert.NotEmpty(t, failures.String(), "the failed passes are visible")

		require.NoError(t, os.Remove(broken))
		time.Sleep(2 * time.Minute)
		_, err := c.Request("GET", development, "")
		assert.True(t, api.IsNotFound(err), "%v", err)
	})
}

func TestTheStorageIsRequired(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for storage, message := range map[string]string{"": "-storage", file: "not a directory"} {
		*directory = storage
		_, err := build(nil, nil)
		assert.ErrorContains(t, err, message)
	}
}
