package controlplane

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestControllers(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		want   []string
	}{
		"default": {
			want: append(DefaultControllers(), "-namespace-controller"),
		},
		"with the namespace controller": {
			config: Config{NamespaceController: true},
			want:   append(DefaultControllers(), "namespace-controller"),
		},
		"all but the namespace controller": {
			config: Config{Controllers: []string{"*"}},
			want:   []string{"*", "-namespace-controller"},
		},
		"NamespaceController alone decides": {
			config: Config{Controllers: []string{"namespace-controller", "*"}},
			want:   []string{"*", "-namespace-controller"},
		},
		"also when the list excludes it": {
			config: Config{Controllers: []string{"-namespace-controller", "*"}, NamespaceController: true},
			want:   []string{"*", "namespace-controller"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, test.config.controllers())
		})
	}
}

func TestRuns(t *testing.T) {
	assert.True(t, Config{}.runs(serviceAccountController))
	assert.False(t, Config{}.runs(namespaceController))
	assert.True(t, Config{NamespaceController: true}.runs(namespaceController))
	assert.False(t, Config{Controllers: []string{}}.runs(serviceAccountController),
		"an empty list is not the default one")
	assert.True(t, Config{Controllers: []string{"*"}}.runs(serviceAccountController))
	assert.False(t, Config{Controllers: []string{"-serviceaccount-controller", "*"}}.runs(serviceAccountController))
}

func TestReservedPorts(t *testing.T) {
	seen := map[port]bool{}
	for range 50 {
		p, err := reservePort()
		require.NoError(t, err)
		assert.False(t, seen[p], "port %d was given twice", p)
		seen[p] = true
		assert.GreaterOrEqual(t, int(p), firstPort)
		assert.Less(t, int(p), lastPort)
		listener, err := net.Listen("tcp", p.address())
		require.NoError(t, err, "a reserved port is free to listen on")
		require.NoError(t, listener.Close())
	}
}
