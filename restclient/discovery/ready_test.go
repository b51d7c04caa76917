package discovery

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// A kube-apiserver that has just started lists its built-in groups, apparently completely, before
// it knows its custom resources. A namespace that was finalized on that basis left its custom
// objects behind.
func TestServersThatAreNotReadyAreNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFakeServer(formV2)
		fake.refuse["/readyz"] = http.StatusInternalServerError
		c, server := connect(t, fake, Config{OnlyWhenReady: true})
		cached := NewCached(c)
		started := time.Now()
		lists, err := cached.PreferredNamespacedResources(t.Context(), time.Time{})
		var notReady *NotReadyError
		require.ErrorAs(t, err, &notReady)
		assert.Equal(t, http.StatusInternalServerError, api.CodeOf(err))
		assert.Empty(t, lists)
		assert.Equal(t, []string{"/readyz"}, paths(server, 0), "the only request, made once")
		assert.Zero(t, time.Since(started))

		fake.set(func() { delete(fake.refuse, "/readyz") })
		lists, err = cached.PreferredNamespacedResources(t.Context(), time.Time{})
		require.NoError(t, err)
		assert.Len(t, lists, 4)
		assert.Equal(t, []string{"/api", "/apis", "/readyz"}, paths(server, 1))
	})
}

// A starting kube-apiserver reads the roles one by one. For a moment it allowed discovery and
// forbade the readiness check. Five namespaces were removed, and their custom objects stayed.
func TestServersThatForbidTheQuestionAreNotBelievedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFakeServer(formV2)
		c, server := connect(t, fake, Config{OnlyWhenReady: true})
		discover := func() error {
			_, err := c.ServerPreferredNamespacedResources(t.Context())
			return err
		}
		require.NoError(t, discover())
		fake.set(func() { fake.refuse["/readyz"] = http.StatusForbidden })
		asked := len(paths(server, 0))
		var notReady *NotReadyError
		require.ErrorAs(t, discover(), &notReady)
		assert.Contains(t, notReady.Error(), "forbids to ask whether it is ready")
		assert.Equal(t, []string{"/readyz"}, paths(server, asked))
		time.Sleep(refusalIsMeant - time.Second)
		require.ErrorAs(t, discover(), &notReady)
		fake.set(func() { fake.refuse["/readyz"] = http.StatusInternalServerError })
		require.ErrorAs(t, discover(), &notReady)
		fake.set(func() { fake.refuse["/readyz"] = http.StatusForbidden })
		time.Sleep(time.Minute)
		require.ErrorAs(t, discover(), &notReady, "there was an answer: it may be another start")
		fake.set(func() { fake.onGet = func(string) { panic(http.ErrAbortHandler) } })
		time.Sleep(time.Minute)
		require.Error(t, discover())
		fake.set(func() { fake.onGet = nil })
		require.ErrorAs(t, discover(), &notReady, "the server was down: it has restarted")
		time.Sleep(refusalIsMeant)
		require.NoError(t, discover(), "that is how the roles are")
		fake.set(func() { delete(fake.refuse, "/readyz") })
		require.NoError(t, discover())
	})
}

// All users may read it by default, but that depends on roles, and old servers do not have the
// endpoint.
func TestServersThatDoNotSayWhetherTheyAreReadyAreBelieved(t *testing.T) {
	for _, code := range []int{http.StatusUnauthorized, http.StatusNotFound} {
		synctest.Test(t, func(t *testing.T) {
			fake := newFakeServer(formV2)
			fake.refuse["/readyz"] = code
			c, _ := connect(t, fake, Config{OnlyWhenReady: true})
			_, err := c.ServerPreferredNamespacedResources(t.Context())
			assert.NoError(t, err, "%d", code)
		})
	}
}

// A repeated request could reach a server that started after the other was found ready.
func TestDiscoveryOfReadyServersIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFakeServer(formV2)
		fake.refuse["/apis"] = http.StatusServiceUnavailable
		c, server := connect(t, fake, Config{OnlyWhenReady: true})
		_, err := c.ServerPreferredNamespacedResources(t.Context())
		require.Error(t, err)
		assert.Equal(t, []string{"/api", "/apis", "/readyz"}, paths(server, 0))
	})
}
