package controlplane

import (
	"os"
	"path/filepath"
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

func TestControllersDoesNotChangeTheConfiguration(t *testing.T) {
	list := []string{"namespace-controller", "a", "b"}
	_ = Config{Controllers: list}.controllers()
	assert.Equal(t, []string{"namespace-controller", "a", "b"}, list)
}

func TestRuns(t *testing.T) {
	assert.True(t, Config{}.runs(serviceAccountController))
	assert.False(t, Config{}.runs(namespaceController))
	assert.True(t, Config{NamespaceController: true}.runs(namespaceController))
	assert.False(t, Config{Controllers: []string{}}.runs(serviceAccountController), "an empty list is not the default one")
	assert.True(t, Config{Controllers: []string{"*"}}.runs(serviceAccountController))
	assert.False(t, Config{Controllers: []string{"-serviceaccount-controller", "*"}}.runs(serviceAccountController))
}

func TestNegativeNodesAreRefused(t *testing.T) {
	_, err := Config{FakeNodes: -1}.complete()
	assert.Error(t, err)
}

func TestBinary(t *testing.T) {
	root := t.TempDir()
	binary := filepath.Join(root, "bin", "controlplane")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "bin"), 0o700))
	require.NoError(t, os.WriteFile(binary, nil, 0o700))
	below := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o700))
	t.Setenv(BinaryVariable, "")

	t.Run("in a directory above", func(t *testing.T) {
		t.Chdir(below)
		found, err := findBinary("")
		require.NoError(t, err)
		assert.Equal(t, binary, found)
	})
	t.Run("named by the environment", func(t *testing.T) {
		t.Setenv(BinaryVariable, binary)
		found, err := findBinary("")
		require.NoError(t, err)
		assert.Equal(t, binary, found)
	})
	t.Run("named by the configuration, relative", func(t *testing.T) {
		t.Chdir(root)
		found, err := findBinary("bin/controlplane")
		require.NoError(t, err)
		assert.Equal(t, binary, found)
	})
	t.Run("named and missing", func(t *testing.T) {
		_, err := findBinary(filepath.Join(root, "missing"))
		assert.ErrorIs(t, err, os.ErrNotExist)
	})
	t.Run("nowhere above", func(t *testing.T) {
		t.Chdir(t.TempDir())
		_, err := findBinary("")
		assert.ErrorContains(t, err, "make", "it says how to build one")
	})
}
