package chaos

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// renewal is the server's answer to a replica that acquires, renews or releases the Lease.
func renewal(t *testing.T, s *shifts, replica, holder string, code int) {
	t.Helper()
	body := `{"spec":{"holderIdentity":"` + holder + `"}}`
	response := &http.Response{StatusCode: code, Body: io.NopCloser(strings.NewReader(body)),
		Request: httptest.NewRequest(http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/orrery", nil)}
	s.answered(replica, response)
	left, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, body, string(left), "the answer is unchanged")
}

func TestWritesWithoutTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shifts{}
		write := func(replica string) {
			s.wrote(replica, httptest.NewRequest(http.MethodDelete, "/api/v1/namespaces/a/pods", nil))
		}
		found := func() int { _, v := s.found(); return len(v) }

		renewal(t, s, "one", "host_1", http.StatusOK)
		time.Sleep(time.Minute)
		write("one")
		require.Zero(t, found())
		s.wrote("two", httptest.NewRequest(http.MethodGet, "/api/v1/namespaces", nil))
		s.wrote("two", httptest.NewRequest(http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/orrery", nil))
		renewal(t, s, "two", "host_2", http.StatusConflict)
		write("one")
		require.Zero(t, found(), "the standby reads and tries")

		renewal(t, s, "one", "", http.StatusOK) // released
		renewal(t, s, "two", "host_2", http.StatusOK)
		write("two")
		write("one")
		require.Zero(t, found(), "a write in flight")
		time.Sleep(2 * lateness)
		write("two")
		require.Zero(t, found())
		write("one")
		require.Equal(t, 1, found(), "two at work")
		changes, _ := s.found()
		assert.Equal(t, 2, changes)
	})
}
