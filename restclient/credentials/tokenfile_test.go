package credentials

import (
	"fmt"
	"io/fs"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newTokenFile(t *testing.T, path string) *TokenFile {
	t.Helper()
	file, err := NewTokenFile(TokenFileConfig{Path: path})
	require.NoError(t, err)
	return file
}

func TestTokenFileIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tempFile(t, "one\n")
		file := newTokenFile(t, path)
		write(t, path, "two")
		time.Sleep(49 * time.Second)
		assert.Equal(t, "Bearer one", header(t, file), "less than a minute old")
		time.Sleep(time.Second)
		assert.Equal(t, "Bearer two", header(t, file), "ten seconds before the minute is over")
		assert.Nil(t, clientCertificate(t, file))
	})
}

func TestTokenFileKeepsTheOldTokenWhileTheFileIsUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tempFile(t, "one")
		file := newTokenFile(t, path)
		require.NoError(t, os.Remove(path))
		time.Sleep(time.Hour)
		assert.Equal(t, "Bearer one", header(t, file))
		write(t, path, " ")
		assert.Equal(t, "Bearer one", header(t, file), "an empty file is being written just now")
		write(t, path, "two")
		assert.Equal(t, "Bearer two", header(t, file), "it is tried again at each request")
	})
}

func TestTokenFileDropsARefusedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tempFile(t, "one")
		file := newTokenFile(t, path)
		refused := sent(t, file)
		write(t, path, "two")
		file.Unauthorized(refused)
		assert.Equal(t, "Bearer two", header(t, file))

		write(t, path, "three")
		file.Unauthorized(refused) // the late answer to an older request
		assert.Equal(t, "Bearer two", header(t, file), "the newer token was not refused")

		// A refused token does not stay in use, even without a better one: the error says what is
		// wrong.
		refused = sent(t, file)
		require.NoError(t, os.Remove(path))
		file.Unauthorized(refused)
		err := file.Apply(request(t))
		var fileError *FileError
		require.ErrorAs(t, err, &fileError)
		assert.Equal(t, path, fileError.Path)
	})
}

func TestTokenFileFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir() + "/none"
		file, err := NewTokenFile(TokenFileConfig{Path: path, Fallback: " spare "})
		require.NoError(t, err)
		assert.Equal(t, "Bearer spare", header(t, file))
		write(t, path, "real")
		assert.Equal(t, "Bearer real", header(t, file))
	})
}

func TestTokenFileErrors(t *testing.T) {
	_, err := NewTokenFile(TokenFileConfig{Path: "/none/at/all"})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.Equal(t, "cannot use the token file /none/at/all: no such file or directory", err.Error())

	path := tempFile(t, secret+" "+secret)
	_, err = NewTokenFile(TokenFileConfig{Path: path})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), secret)
	_, err = NewTokenFile(TokenFileConfig{Path: path, Fallback: secret + " " + secret})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), secret)
	write(t, path, "")
	_, err = NewTokenFile(TokenFileConfig{Path: path})
	assert.EqualError(t, err, "cannot use the token file "+path+": the file is empty")

	write(t, path, secret)
	file := newTokenFile(t, path)
	assertHides(t, file)
	assert.Equal(t, "bearer token in "+path, fmt.Sprint(file))
}
