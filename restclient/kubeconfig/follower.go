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

// followPeriod is how often files are looked at, at most.
const followPeriod = 10 * time.Second

// follower stands between a client and the credentials and the certificate authority that its kubeconfig holds. It reads the
// files again while they are in use, whenever credentials or the authority are asked for, and takes over what was renewed
// there, as kubeadm and minikube do. Where the server is it does not follow: a controller that goes on with the objects of
// one cluster and the connections of another would do harm.
type follower struct {
	// Immutable.
	opts     Options // with the context that was chosen
	chosen   bool    // it was asked for, not the current one
	searched []string
	place    string // where the server is, and how it is reached

	mu          sync.Mutex // guards what follows, and is held while files are read
	checked     time.Time
	sum         [sha256.Size]byte // of the files, before they were read last
	user        *User
	credentials restclient.Credentials
	authority   []byte
	told        Change // the last one, so that it is not told again
}

// follow makes a configuration that was just loaded follow its files.
func follow(cfg *restclient.Config, l *loader, files searched) error {
	f := &follower{opts: l.opts, chosen: l.opts.Context != "", searched: files.paths, sum: files.sum, checked: time.Now()}
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

// place is everything about a server but the authority that vouches for it.
func (l *loader) place() (string, error) {
	server, err := l.serverURL()
	if err != nil {
		return "", err
	}
	c := l.cluster
	return fmt.Sprintf("%s %q %q %t %t", server, c.TLSServerName, string(c.ProxyURL), c.InsecureSkipTLSVerify, c.DisableCompression), nil
}

// Apply asks the credentials as they are now.
func (f *follower) Apply(req *http.Request) error { return f.current().Apply(req) }

// ClientCertificate asks the credentials as they are now.
func (f *follower) ClientCertificate() (*tls.Certificate, error) {
	return f.current().ClientCertificate()
}

// Unauthorized makes the files be read again before the credentials are used once more.
func (f *follower) Unauthorized(req *http.Request) {
	f.mu.Lock()
	inner := f.credentials
	f.checked = time.Time{}
	f.mu.Unlock()
	inner.Unauthorized(req)
}

// String is that of the credentials.
func (f *follower) String() string { return fmt.Sprint(f.current()) }

// Format is String for all verbs of fmt: some would print the fields.
func (f *follower) Format(s fmt.State, _ rune) { io.WriteString(s, f.String()) }

func (f *follower) current() restclient.Credentials {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookLocked()
	return f.credentials
}

func (f *follower) readCA() ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookLocked()
	return f.authority, nil
}

// lookLocked reads the files if that is due, and takes over what was renewed.
func (f *follower) lookLocked() {
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
	if err != nil { // perhaps it is being written: look again next time
		f.tellLocked(Unusable, fmt.Sprintf("%v; what was read before is used", err))
		return
	}
	f.sum = files.sum
	if cfg.CurrentContext != f.opts.Context && !f.chosen {
		f.tellLocked(NotFollowed, fmt.Sprintf("the current-context is another one now (%q); the context %q is used until the next start",
			cfg.CurrentContext, f.opts.Context))
	}
}

// takeOverLocked takes over credentials and authority, both or none.
func (f *follower) takeOverLocked(l *loader) error {
	place, err := l.place()
	if err != nil {
		return err
	}
	if place != f.place {
		f.tellLocked(NotFollowed, fmt.Sprintf("the server of the context %q, or the way to it, is another one now; the former one is used, with the former credentials, until the next start",
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
		return l.userError("has no credentials any more: add them again", nil)
	}
	if authority := settings.CAData; f.authority != nil && len(authority) > 0 && !bytes.Equal(authority, f.authority) {
		f.authority = authority
		f.tellLocked(AuthorityRenewed, fmt.Sprintf("the cluster %q has another certificate authority now; it is used", l.info.Cluster))
	}
	if renewed {
		f.user, f.credentials = l.user, credentials
		f.tellLocked(CredentialsRenewed, fmt.Sprintf("the user %q has other credentials now; they are used", l.info.User))
	}
	return nil
}

// sameUser compares what stands in the files.
func sameUser(a, b *User) bool {
	x, y := *a, *b
	x.file, y.file = "", ""
	return reflect.DeepEqual(x, y)
}

// tellLocked tells of a change. What stays as it is is told once.
func (f *follower) tellLocked(kind ChangeKind, text string) {
	change := Change{Kind: kind, Text: text}
	if lasting := kind == NotFollowed || kind == Unusable; lasting && change == f.told {
		return
	}
	f.told = change
	f.opts.Changed(change)
}
