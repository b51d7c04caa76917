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

// A kube-apiserver that has just been started lists its built-in groups, completely as it seems, before it knows of its
// custom resources. A namespace that was finalized on that account left its custom objects behind.
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
		assert.Equal(t, []string{"/readyz"}, paths(server, 0), "nothing else was asked, and that once")
		assert.Zero(t, time.Since(started))

		fake.set(func() { delete(fake.refuse, "/readyz") })
		lists, err = cached.PreferredNamespacedResources(t.Context(), time.Time{})
		require.NoError(t, err)
		assert.Len(t, lists, 4)
		assert.Equal(t, []string{"/api", "/apis", "/readyz"}, paths(server, 1))
	})
}

// The question is open to everybody by default, but that is a matter of roles, and old servers do not have it.
func TestServersThatDoNotSayWhetherTheyAreReadyAreBelieved(t *testing.T) {
	for _, code := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound} {
		synctest.Test(t, func(t *testing.T) {
			fake := newFakeServer(formV2)
			fake.refuse["/readyz"] = code
			c, _ := connect(t, fake, Config{OnlyWhenReady: true})
			_, err := c.ServerPreferredNamespacedResources(t.Context())
			assert.NoError(t, err, "%d", code)
		})
	}
}

// A request that is repeated could be answered by a server that was started after the other was found ready.
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
