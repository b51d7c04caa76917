package credentials

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// tokenFilePeriod is how long the content of a token file is used before the file is read again. Kubernetes renews the token of
// a service account when four fifths of its life, which is at least ten minutes, have passed.
const tokenFilePeriod = 50 * time.Second

// TokenFileConfig configures a [TokenFile].
type TokenFileConfig struct {
	// Path of the file. Required.
	Path string

	// Fallback is a token for as long as the file cannot be read. Empty: none.
	Fallback string
}

// FileError says that a file which should hold a credential cannot be used.
type FileError struct {
	Path string
	What string // "token", "client certificate", "client key"
	Err  error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("cannot use the %s file %s: %v", e.What, e.Path, plainCause(e.Err))
}

func (e *FileError) Unwrap() error { return e.Err }

// plainCause takes verb and path off an error of package os: the sentence around it names the path already.
func plainCause(err error) error {
	if pathError, ok := err.(*os.PathError); ok {
		return pathError.Err
	}
	return err
}

// TokenFile is a bearer token in a file that another program renews: the kubelet for service accounts. Create it with
// [NewTokenFile].
//
// While the file cannot be read the last token read stays in use, until the server refuses it.
type TokenFile struct {
	described
	noCertificate

	// Immutable.
	path     string
	fallback string

	// The mutex is held while the file is read, so that it is read once and not by all who wait. Files of this kind are
	// small and local.
	mu       sync.Mutex
	token    string    // empty: none was read, or the last one was refused
	freshTil time.Time // when to read again
}

// NewTokenFile reads the file once. That it cannot be read is a [*FileError], unless there is a Fallback.
func NewTokenFile(cfg TokenFileConfig) (*TokenFile, error) {
	t := &TokenFile{described: described("bearer token in " + cfg.Path), path: cfg.Path, fallback: strings.TrimSpace(cfg.Fallback)}
	if err := checkToken(t.fallback); err != nil {
		return nil, err
	}
	if _, err := t.current(); err != nil {
		return nil, err
	}
	return t, nil
}

// Apply sets the Authorization header, reading the file if that is due.
func (t *TokenFile) Apply(req *http.Request) error {
	token, err := t.current()
	if err != nil {
		return err
	}
	return setAuthorization(req, bearer(token))
}

// Unauthorized drops the token if it is the one that was refused. One that was read in the meantime stays.
func (t *TokenFile) Unauthorized(req *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && req.Header.Get(authorization) == bearer(t.token) {
		t.token = ""
	}
}

func (t *TokenFile) current() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.token != "" && now.Before(t.freshTil) {
		return t.token, nil
	}
	token, err := readToken(t.path)
	switch {
	case err == nil:
		t.token, t.freshTil = token, now.Add(tokenFilePeriod)
		return token, nil
	case t.token != "":
		return t.token, nil
	case t.fallback != "":
		return t.fallback, nil
	default:
		return "", err
	}
}

func readToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	token := strings.TrimSpace(string(data))
	if err == nil && token == "" {
		err = errEmptyFile
	}
	if err == nil {
		err = checkToken(token)
	}
	if err != nil {
		return "", &FileError{Path: path, What: "token", Err: err}
	}
	return token, nil
}
