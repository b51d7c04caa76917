package kubeconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/credentials"
)

func TestEnvironmentOfTheProcess(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".kube", "config")
	require.NoError(t, Single("k", Cluster{Server: "https://from-home"}, User{}, "").WriteFile(path))
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	cfg, info, err := Load(Options{})
	require.NoError(t, err)
	assert.Equal(t, "https://from-home", cfg.Host)
	assert.Equal(t, []string{path}, info.Files)
}

func TestCausesCanBeAskedFor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config")

	_, info, err := Load(Options{Path: path})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	require.NotNil(t, info)

	pod := func(string) string { return "1" }
	_, _, err = Load(Options{Getenv: pod, ServiceAccountDir: dir})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	var inCluster *InClusterError
	require.ErrorAs(t, err, &inCluster)
	var fileError *credentials.FileError
	assert.ErrorAs(t, err, &fileError)

	for _, user := range []User{{TokenFile: "none"}, {ClientCertificate: "none", ClientKey: "none"}} {
		require.NoError(t, Single("k", Cluster{Server: "https://h"}, user, "").WriteFile(path))
		_, _, err = Load(Options{Path: path})
		assert.ErrorIs(t, err, fs.ErrNotExist)
		assert.ErrorAs(t, err, new(*credentials.FileError))
	}
	require.NoError(t, Single("k", Cluster{Server: "https://h"}, User{ImpersonateUID: "1"}, "").WriteFile(path))
	_, _, err = Load(Options{Path: path})
	assert.ErrorIs(t, err, credentials.ErrNoImpersonatedUser)
}

func TestErrorsThatAreNotOfTheFileSystem(t *testing.T) {
	err := &FileError{Path: "x", Err: errors.New("gone mad")}
	assert.Equal(t, "the kubeconfig file x cannot be read (gone mad): correct that or give another file", err.Error())
	assert.Equal(t, "the kubeconfig, line 2: wrong", (&ParseError{Line: 2, Problem: "wrong"}).Error())
}

// A bare command is looked up in PATH, one with a slash is relative to the file.
func TestRelativeCommand(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	for command, want := range map[string]string{"aws": "aws", "./aws": filepath.Join(dir, "aws"), "/bin/aws": "/bin/aws"} {
		require.NoError(t, Single("k", Cluster{}, User{Exec: &Exec{Command: command}}, "").WriteFile(path))
		cfg, err := ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, want, cfg.Users["k"].Exec.Command)
	}
}

// A relative path of the kubeconfig itself does not affect the paths inside it.
func TestRelativeKubeconfig(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Chdir(dir)
	require.NoError(t, os.Mkdir("sub", 0o700))
	require.NoError(t, Single("k", Cluster{CertificateAuthority: "../ca.crt"}, User{}, "").WriteFile("sub/config"))
	cfg, err := ReadFile("sub/config")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "ca.crt"), cfg.Clusters["k"].CertificateAuthority)
}

// FuzzParse feeds the parser with damaged kubeconfigs. It must not panic, must return only a
// ParseError, must not quote the file, and must read its own output.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/scenarios/*")
	require.NoError(f, err)
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			for part := range strings.SplitSeq(string(text), "\n----\n") {
				_, part, _ = strings.Cut(part, "\n") // without the command
				f.Add([]byte(part))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, err := Parse(text, "FILE")
		var parseError *ParseError
		if err != nil {
			require.True(t, errors.As(err, &parseError))
			require.NotContains(t, err.Error(), "s3cret")
			require.Less(t, len(err.Error()), 600, "it says what is wrong and does not repeat the file")
			require.GreaterOrEqual(t, parseError.Line, 0)
			require.LessOrEqual(t, parseError.Line, bytes.Count(text, []byte("\n"))+bytes.Count(text, []byte("\r"))+2)
			return
		}
		written, err := cfg.Marshal()
		require.NoError(t, err)
		again, err := Parse(written, "FILE")
		require.NoError(t, err)
		writtenAgain, err := again.Marshal()
		require.NoError(t, err)
		require.Equal(t, string(written), string(writtenAgain))

		// White space between the parts of a JSON document means nothing.
		var compact bytes.Buffer
		if json.Compact(&compact, text) == nil {
			same, err := Parse(compact.Bytes(), "FILE")
			require.NoError(t, err)
			fromCompact, err := same.Marshal()
			require.NoError(t, err)
			require.Equal(t, string(written), string(fromCompact))
		}
	})
}
