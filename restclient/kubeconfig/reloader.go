package kubeconfig

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"
	"time"

	"orrery/restclient"
)

// followPeriod is the shortest time between two reads of the files.
const followPeriod = 10 * time.Second

// reloader provides a client with the credentials and the certificate authority of its kubeconfig.
// When they are used it reads the files again, and takes over renewed ones, as kubeadm and minikube
// write them. It does not follow a change of the server: a controller with the objects of one
// cluster and the connections of another would do harm.
type reloader struct {
	// Immutable.
	opts     Options // with the chosen context
	chosen   bool    // the context was requested; it is not the current one
	searched []string
	place    string // the server and the way to it

	mu          sync.Mutex // guards the fields below; held while files are read
	checked     time.Time
	sum         [sha256.Size]byte // of the files, before they were last read
	user        *User
	credentials restclient.Credentials
	authority   []byte
	reported    Change // the last reported change, which is not repeated
}

// follow makes a newly loaded configuration follow its files.
func follow(cfg *restclient.Config, l *loader, files searched) error {
	f := &reloader{opts: l.opts, chosen: l.opts.Context != "", searched: files.paths, sum: files.sum, checked: time.Now()}
	f.opts.Context = l.info.Context
	f.user, f.credentials = l.user, cfg.Credentials
	place, err := l.place()
	if err != nil {
		return err
	}
	f.place = place
	if f.credentials != nil {
		cfg.Credentials = f
	}
	if len(cfg.TLS.CAData) > 0 {
		f.authority = cfg.TLS.CAData
		cfg.TLS.CAData, cfg.TLS.ReadCA = nil, f.readCA
	}
	return nil
}

// place returns everything about a server but its certificate authority.
func (l *loader) place() (string, error) {
	server, err := l.serverURL()
	if err != nil {
		return "", err
	}
	c := l.cluster
	return fmt.Sprintf("%s %q %q %t %t", server, c.TLSServerName, string(c.ProxyURL), c.InsecureSkipTLSVerify, c.DisableCompression), nil
}

func (f *reloader) Apply(req *http.Request) error { return f.current().Apply(req) }

func (f *reloader) ClientCertificate() (*tls.Certificate, error) {
	return f.current().ClientCertificate()
}

// Unauthorized makes the next use of the credentials read the files again.
func (f *reloader) Unauthorized(req *http.Request) {
	f.mu.Lock()
	inner := f.credentials
	f.checked = time.Time{}
	f.mu.Unlock()
	inner.Unauthorized(req)
}

func (f *reloader) String() string { return fmt.Sprint(f.current()) }

// Format formats as String does; some verbs of fmt would print the fields.
func (f *reloader) Format(s fmt.State, _ rune) { io.WriteString(s, f.String()) }

func (f *reloader) current() restclient.Credentials {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookLocked()
	return f.credentials
}

func (f *reloader) readCA() ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookLocked()
	return f.authority, nil
}

// lookLocked reads the files if that is due, and takes over renewed parts.
func (f *reloader) lookLocked() {
	if time.Since(f.checked) < followPeriod {
		return
	}
	f.checked = time.Now()
	if sumOfFiles(f.searched) == f.sum {
		return
	}
	info := &Info{Namespace: "default"}
	cfg, files, err := find(f.opts, info)
	if err == nil {
		var l *loader
		if l, err = cfg.resolve(f.opts, info); err == nil {
			err = f.takeOverLocked(l)
		}
	}
	if err != nil { // it may be incomplete: try again next time
		f.reportLocked(Unusable, fmt.Sprintf("%v; the previous content is used", err))
		return
	}
	f.sum = files.sum
	if cfg.CurrentContext != f.opts.Context && !f.chosen {
		f.reportLocked(NotFollowed, fmt.Sprintf("the current-context has changed (to %q); the context %q is used until the next start",
			cfg.CurrentContext, f.opts.Context))
	}
}

// takeOverLocked takes over credentials and authority, both or neither.
func (f *reloader) takeOverLocked(l *loader) error {
	place, err := l.place()
	if err != nil {
		return err
	}
	if place != f.place {
		f.reportLocked(NotFollowed, fmt.Sprintf("the server of the context %q, or the way to it, has changed; the previous one is used, with the previous credentials, until the next start",
			f.opts.Context))
		return nil
	}
	settings, err := l.tls()
	if err != nil {
		return err
	}
	credentials := f.credentials
	renewed := !sameUser(l.user, f.user)
	if renewed {
		if err := l.checkUser(); err != nil {
			return err
		}
		server, err := l.serverURL()
		if err != nil {
			return err
		}
		if credentials, err = l.credentials(server); err != nil {
			return err
		}
	}
	if credentials == nil && f.credentials != nil {
		return l.userError("no longer has credentials: add them again", nil)
	}
	if authority := settings.CAData; f.authority != nil && len(authority) > 0 && !bytes.Equal(authority, f.authority) {
		f.authority = authority
		f.reportLocked(AuthorityRenewed, fmt.Sprintf("the cluster %q has a new certificate authority, which is now used", l.info.Cluster))
	}
	if renewed {
		f.user, f.credentials = l.user, credentials
		f.reportLocked(CredentialsRenewed, fmt.Sprintf("the user %q has new credentials, which are now used", l.info.User))
	}
	return nil
}

// sameUser reports whether two users are equal, with the content of their files.
func sameUser(a, b *User) bool {
	x, y := *a, *b
	x.file, y.file = "", ""
	return reflect.DeepEqual(x, y)
}

// reportLocked reports a change once.
func (f *reloader) reportLocked(kind ChangeKind, text string) {
	change := Change{Kind: kind, Text: text}
	if lasting := kind == NotFollowed || kind == Unusable; lasting && change == f.reported {
		return
	}
	f.reported = change
	f.opts.Changed(change)
}
