package program_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/app/program"
)

// A page in a browser can have its own name point to 127.0.0.1. Its requests then reach what
// listens there, and name the page's host.
func TestOnlyRequestsThatNameThisHostPass(t *testing.T) {
	loopback, given, anywhere := []string{"127.0.0.1:8081"}, []string{"192.0.2.7:8081", "build.example"},
		[]string{"0.0.0.0:8081"}
	for _, c := range []struct {
		served       []string
		host, origin string
		code         int
	}{
		{loopback, "127.0.0.1:8081", "", 200},
		{loopback, "127.0.0.1", "", 200},
		{loopback, "127.8.9.10:1", "", 200},
		{loopback, "localhost:8081", "", 200},
		{loopback, "LOCALHOST.:8081", "", 200},
		{loopback, "[::1]:8081", "", 200},
		{loopback, "", "", 200}, // no browser leaves it out
		{loopback, "evil.example:8081", "", 403},
		{loopback, "localhost.evil.example:8081", "", 403},
		{loopback, "127.0.0.1.evil.example", "", 403},
		{loopback, "192.0.2.7:8081", "", 403},
		{loopback, "0.0.0.0:8081", "", 403}, // browsers of some systems take it for this machine

		{given, "192.0.2.7:8081", "", 200},
		{given, "Build.Example:8081", "", 200},
		{given, "localhost:8081", "", 200},
		{given, "192.0.2.8:8081", "", 403},

		{anywhere, "10.1.2.3:8081", "", 200}, // kubelet and Prometheus name the address of a pod
		{anywhere, "[fd00::7]:8081", "", 200},
		{anywhere, "orrery:8081", "", 200},
		{anywhere, "orrery.kube-system.svc:8081", "", 200},
		{anywhere, "orrery.kube-system.svc.cluster.local:8081", "", 200},
		{anywhere, "evil.example:8081", "", 403},
		{anywhere, "evil.examplesvc:8081", "", 403},
		{anywhere, "evil.xcluster.local:8081", "", 403},
		{anywhere, "0.0.0.0:8081", "", 403},
		{anywhere, "[::]:8081", "", 403},
		{[]string{":8081"}, "10.1.2.3:8081", "", 200},
		{[]string{"[::]:8081"}, "evil.example:8081", "", 403},

		{loopback, "localhost:8081", "http://localhost:8081", 200},
		{loopback, "127.0.0.1:8081", "http://127.0.0.1:8081", 200},
		{loopback, "localhost:8081", "http://localhost:3000", 403}, // another program's page
		{loopback, "127.0.0.1:8081", "https://evil.example", 403},
		{loopback, "127.0.0.1:8081", "null", 403},
		{loopback, "", "null", 403}, // an origin without a host is not the origin of a request without one
	} {
		asked := false
		handler := program.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }),
			c.served...)
		request := httptest.NewRequest("GET", "/", nil)
		request.Host = c.host
		if c.origin != "" {
			request.Header.Set("Origin", c.origin)
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		assert.Equal(t, c.code, answer.Code, "%+v", c)
		assert.Equal(t, c.code == 200, asked, "%+v", c)
	}
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	handler := program.Guard(http.NotFoundHandler(), "192.0.2.7:8081", "localhost:8081", "127.0.0.1:1")
	for host, want := range map[string]string{
		"evil.example:1": `this server is not called "evil.example:1": use localhost, a loopback address or 192.0.2.7` +
			"\n",
		"localhost:8081": `requests from pages of "https://evil.example" are refused: open it under the address of the server itself` + "\n",
	} {
		request := httptest.NewRequest("GET", "/", nil)
		request.Host = host
		request.Header.Set("Origin", "https://evil.example")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		assert.Equal(t, want, answer.Body.String())
		assert.Equal(t, "text/plain; charset=utf-8", answer.Header().Get("Content-Type"))
	}
}
