package credentials

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// tokenFilePeriod is how long a token is used before the file is read again. Kubernetes renews a
// service account's token after four fifths of its lifetime, which is at least ten minutes.
const tokenFilePeriod = 50 * time.Second

// TokenFileConfig configures a [TokenFile].
type TokenFileConfig struct {
	Path     string // required
	Fallback string // the token while the file cannot be read; default none
}

// FileError reports that a file with a credential, or a kubeconfig, cannot be used.
type FileError struct {
	Path string
	What string // "token", "client certificate", "client key", "kubeconfig"
	Err  error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("cannot use the %s file %s: %v", e.What, e.Path, plainCause(e.Err))
}

func (e *FileError) Unwrap() error { return e.Err }

// plainCause removes verb and path from an error of package os: the surrounding sentence has the
// path.
func plainCause(err error) error {
	if pathError, ok := err.(*os.PathError); ok {
		return pathError.Err
	}
	return err
}

// TokenFile is a bearer token in a file that another program renews: the kubelet for service
// accounts. Create it with [NewTokenFile].
//
// While the file cannot be read the last token read stays in use, until the server refuses it.
type TokenFile struct {
	described
	noCertificate

	// Immutable.
	path     string
	fallback string

	// The mutex is held during a read, so that concurrent callers share it. These files are small
	// and local.
	mu       sync.Mutex
	token    string    // empty: none was read, or the last one was refused
	freshTil time.Time // when to read again
}

// NewTokenFile reads the file once. If it cannot be read and there is no Fallback, the error is a
// [*FileError].
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

// Apply sets the Authorization header, and reads the file if that is due.
func (t *TokenFile) Apply(req *http.Request) error {
	token, err := t.current()
	if err != nil {
		return err
	}
	return setAuthorization(req, bearer(token))
}

// Unauthorized drops the token if it is the refused one, not one read since.
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
