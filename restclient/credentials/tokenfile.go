package credentials

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// How long the content of a token file is used before the file is read again. Kubernetes renews the token of a service
// account when four fifths of its life have passed, so a minute is early enough. The leeway makes it 50 s in practice:
// a token that was read just before the minute is over does not go out after it.
const (
	DefaultTokenFilePeriod = time.Minute
	tokenFileLeeway        = 10 * time.Second
)

// TokenFileConfig configures a [TokenFile].
type TokenFileConfig struct {
	// Path of the file. Required.
	Path string

	// Fallback is a token for as long as the file cannot be read. Empty: none.
	Fallback string

	// Period is how long the content is used before the file is read again, less ten seconds. 0 means
	// DefaultTokenFilePeriod.
	Period time.Duration
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

// TokenFile is a bearer token in a file that somebody else renews: the kubelet for service accounts. Create it with
// [NewTokenFile].
//
// While the file cannot be read the last token read stays in use, until the server refuses it.
type TokenFile struct {
	noCertificate

	// Immutable.
	path     string
	fallback string
	lifetime time.Duration

	// The mutex is held while the file is read, so that it is read once and not by all who wait. Files of this kind are
	// small and local.
	mu       sync.Mutex
	token    string    // empty: none was read, or the last one was refused
	freshTil time.Time // when to read again
}

// NewTokenFile reads the file once. That it cannot be read is a [*FileError], unless there is a Fallback.
func NewTokenFile(cfg TokenFileConfig) (*TokenFile, error) {
	period := cfg.Period
	if period == 0 {
		period = DefaultTokenFilePeriod
	}
	t := &TokenFile{path: cfg.Path, fallback: strings.TrimSpace(cfg.Fallback), lifetime: max(0, period-tokenFileLeeway)}
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
		t.token, t.freshTil = token, now.Add(t.lifetime)
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

// String names the file.
func (t *TokenFile) String() string { return "bearer token in " + t.path }

// Format does the same for all verbs of fmt: some would print the fields.
func (t *TokenFile) Format(f fmt.State, _ rune) { io.WriteString(f, t.String()) }
