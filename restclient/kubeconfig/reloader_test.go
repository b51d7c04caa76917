package kubeconfig

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// followed is a server, a kubeconfig in use, and the reported changes.
type followed struct {
	t         *testing.T
	path      string
	authority *restclienttest.Authority
	server    *restclienttest.Server
	client    *restclient.Client
	changes   []Change
}

// newFollowed starts a server that returns the client's certificate name and token, and answers
// 401 to the token "refused". It presents the certificate of present, if that is not nil.
func newFollowed(t *testing.T, user func(*restclienttest.Authority) User, present func() *tls.Certificate) *followed {
	f := &followed{t: t, path: filepath.Join(t.TempDir(), "config"), authority: restclienttest.NewAuthority(t)}
	who := func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("Authorization")
		if token == "Bearer refused" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		name := ""
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		fmt.Fprintf(w, "%s %s", name, token)
	}
	f.server = restclienttest.NewTLSServer(t, http.HandlerFunc(who), f.authority, func(cfg *tls.Config) {
		if present != nil {
			cfg.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return present(), nil }
		}
	})
	f.write(Single("kind", f.cluster(), user(f.authority), ""))
	return f
}

func (f *followed) cluster() Cluster {
	return Cluster{Server: "https://apiserver.test", CertificateAuthorityData: f.authority.PEM()}
}

func (f *followed) write(cfg *Config) { require.NoError(f.t, cfg.WriteFile(f.path)) }

// use gives the user of the kubeconfig other credentials.
func (f *followed) use(user User) { f.write(Single("kind", f.cluster(), user, "")) }

// ofUser is a kubeconfig with one user of a cluster that needs nothing.
func ofUser(user User) *Config { return Single("k", Cluster{Server: "https://h"}, user, "") }

func (f *followed) load(opts Options) {
	opts.Path = f.path
	opts.Changed = func(c Change) { f.changes = append(f.changes, c) }
	cfg, _, err := Load(opts)
	require.NoError(f.t, err)
	f.connect(cfg)
}

func (f *followed) connect(cfg restclient.Config) {
	cfg.Dial, cfg.QPS = f.server.Dial, -1
	var err error
	f.client, err = restclient.New(cfg)
	require.NoError(f.t, err)
	f.t.Cleanup(f.client.Close)
}

func (f *followed) ask() (string, error) {
	var body []byte
	err := f.client.Do(f.t.Context(), restclient.Request{Path: "/"}, &body)
	return string(body), err
}

func (f *followed) hears(want string) {
	f.t.Helper()
	got, err := f.ask()
	require.NoError(f.t, err)
	assert.Equal(f.t, want, got)
}

// hearsLater is hears after the kubeconfig has been read again.
func (f *followed) hearsLater(want string) {
	f.t.Helper()
	time.Sleep(followPeriod)
	f.hears(want)
}

// reported returns the changes since the last call, as text.
func (f *followed) reported() []string {
	var out []string
	for _, c := range f.changes {
		out = append(out, string(c.Kind)+": "+c.Text)
	}
	f.changes = nil
	return out
}

func withToken(token Secret) func(*restclienttest.Authority) User {
	return func(*restclienttest.Authority) User { return User{Token: token} }
}

// whileFollowing runs a test in a bubble, with a client that has loaded a kubeconfig with the token
// "one".
func whileFollowing(t *testing.T, opts Options, test func(t *testing.T, f *followed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t, withToken("one"), nil)
		f.load(opts)
		test(t, f)
	})
}

func TestARenewedTokenIsUsed(t *testing.T) {
	whileFollowing(t, Options{}, func(t *testing.T, f *followed) {
		f.hears(" Bearer one")
		f.use(User{Token: "two"})
		f.hears(" Bearer one")
		f.hearsLater(" Bearer two")
		assert.Equal(t, []string{`CredentialsRenewed: the user "kind" has new credentials, which are now used`}, f.reported())

		// A 401 does not wait, and the request is repeated.
		f.use(User{Token: "refused"})
		time.Sleep(followPeriod)
		_, err := f.ask()
		assert.True(t, api.IsUnauthorized(err), "%v", err)
		f.use(User{Token: "three"})
		f.hears(" Bearer three")
		assert.Len(t, f.reported(), 2)
		assert.NotContains(t, fmt.Sprintf("%v %+v %#v", f.client.Config(), f.client.Config().Credentials, f.client.Config().Credentials), "three")
	})
}

// A change between the reading of a file and the first check is found by that check. It would be
// lost if the check compared the file with its state after the reading.
func TestAChangeWhileTheFileIsBeingLoadedIsNotLost(t *testing.T) {
	for _, searched := range []string{"by path", "by KUBECONFIG"} {
		t.Run(searched, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFollowed(t, withToken("one"), nil)
				opts := Options{Path: f.path, Changed: func(c Change) { f.changes = append(f.changes, c) }}
				if searched != "by path" {
					opts.Path, opts.Getenv = "", func(string) string { return f.path }
				}
				info := &Info{}
				cfg, files, err := find(opts, info)
				require.NoError(t, err)
				f.use(User{Token: "two"})
				loaded, err := cfg.load(opts, info, files)
				require.NoError(t, err)
				f.connect(loaded)
				f.hears(" Bearer one")
				f.hearsLater(" Bearer two")
				assert.Len(t, f.reported(), 1)
			})
		})
	}
}

func issue(t *testing.T, a *restclienttest.Authority, name string) User {
	cert, key := a.IssuePEM(t, restclienttest.Leaf{Name: name})
	return User{ClientCertificateData: cert, ClientKeyData: key}
}

// As kubeadm and minikube do: the file is rewritten with a new certificate in it.
func TestARenewedCertificateIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t, func(a *restclienttest.Authority) User { return issue(t, a, "first") }, nil)
		f.load(Options{})
		f.hears("first ")
		dialled := f.server.Dialled()
		time.Sleep(80 * time.Second)
		f.hears("first ")
		assert.Equal(t, dialled, f.server.Dialled(), "no change, no new connection")
		f.use(issue(t, f.authority, "second"))
		time.Sleep(2 * time.Minute)
		f.hears("second ")
		assert.Len(t, f.reported(), 1)
	})
}

func TestARenewedAuthorityIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now *tls.Certificate
		f := newFollowed(t, withToken("one"), func() *tls.Certificate { return now })
		host := restclienttest.Leaf{Name: "apiserver.test", Hosts: []string{"apiserver.test"}}
		now = f.authority.Issue(t, host)
		f.load(Options{})
		f.hears(" Bearer one")

		next := restclienttest.NewAuthority(t)
		now = next.Issue(t, host)
		f.server.CloseConnections()
		time.Sleep(time.Minute)
		_, err := f.ask()
		assert.ErrorAs(t, err, new(x509.UnknownAuthorityError))
		cluster := f.cluster()
		cluster.CertificateAuthorityData = next.PEM()
		f.write(Single("kind", cluster, User{Token: "one"}, ""))
		time.Sleep(time.Minute)
		f.hears(" Bearer one")
		assert.Equal(t, []string{`AuthorityRenewed: the cluster "kind" has a new certificate authority, which is now used`}, f.reported())
	})
}

func TestAnAuthorityThatIsGoneIsKept(t *testing.T) {
	whileFollowing(t, Options{}, func(t *testing.T, f *followed) {
		f.write(Single("kind", Cluster{Server: f.cluster().Server}, User{Token: "two"}, ""))
		time.Sleep(followPeriod)
		f.server.CloseConnections()
		f.hears(" Bearer two")
		assert.NotContains(t, strings.Join(f.reported(), "\n"), "AuthorityRenewed")
	})
}

func TestTheAuthoritiesOfTheSystemAreNotReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, ofUser(User{Token: "one"}).WriteFile(path))
	cfg, _, err := Load(Options{Path: path, Changed: func(Change) {}})
	require.NoError(t, err)
	assert.Nil(t, cfg.TLS.ReadCA, "there is none to read")
}

// A controller keeps its cluster, whatever the file says.
func TestAnotherServerIsNotFollowed(t *testing.T) {
	whileFollowing(t, Options{}, func(t *testing.T, f *followed) {
		elsewhere := f.cluster()
		elsewhere.Server = "https://elsewhere.test"
		f.write(Single("kind", elsewhere, User{Token: "not for the old server"}, ""))
		f.hearsLater(" Bearer one")
		time.Sleep(time.Hour)
		f.hears(" Bearer one")
		assert.Equal(t, []string{`NotFollowed: the server of the context "kind", or the way to it, has changed; the previous one is used, with the previous credentials, until the next start`}, f.reported())
		f.use(User{Token: "two"})
		f.hearsLater(" Bearer two")
	})
}

func TestAnotherContextIsNotFollowed(t *testing.T) {
	for _, asked := range []string{"", "kind"} {
		whileFollowing(t, Options{Context: asked}, func(t *testing.T, f *followed) {
			cfg := Single("kind", f.cluster(), User{Token: "two"}, "")
			cfg.Merge(Single("minikube", Cluster{Server: "https://minikube.test"}, User{Token: "three"}, ""))
			cfg.CurrentContext = "minikube"
			f.write(cfg)
			f.hearsLater(" Bearer two")
			reported := []string{`CredentialsRenewed: the user "kind" has new credentials, which are now used`}
			if asked == "" {
				reported = append(reported, `NotFollowed: the current-context has changed (to "minikube"); the context "kind" is used until the next start`)
			}
			assert.Equal(t, reported, f.reported())
		})
	}
}

// The file may be half written, or have an error.
func TestAFileThatMakesNoSenseIsPassedOver(t *testing.T) {
	whileFollowing(t, Options{}, func(t *testing.T, f *followed) {
		broken := []func(){
			func() { require.NoError(t, os.WriteFile(f.path, []byte("{"), 0o600)) },
			func() { require.NoError(t, os.Remove(f.path)) },
			func() { f.write(Single("other", f.cluster(), User{Token: "x"}, "")) },
			func() { f.write(Single("kind", Cluster{}, User{Token: "x"}, "")) },
			func() { f.use(User{}) },
			func() { f.use(User{Token: "x", Username: "y"}) },
			func() { f.use(User{Token: "\n\x00"}) },
			func() {
				cluster := f.cluster()
				cluster.CertificateAuthorityData = Data("no certificate")
				f.write(Single("kind", cluster, User{Token: "x"}, ""))
			},
		}
		for i, breakIt := range broken {
			breakIt()
			f.hearsLater(" Bearer one")
			time.Sleep(time.Hour)
			f.hears(" Bearer one")
			require.Len(t, f.changes, 1, "%d: reported once", i)
			assert.Equal(t, Unusable, f.changes[0].Kind, "%d", i)
			assert.Contains(t, f.reported()[0], "; the previous content is used")
		}
		f.use(User{Token: "two"})
		f.hearsLater(" Bearer two")
	})
}

func TestWithoutChangedFilesAreReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, ofUser(User{Token: "one"}).WriteFile(path))
	cfg, _, err := Load(Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://h", io.NopCloser(nil))
	require.NoError(t, err)
	require.NoError(t, cfg.Credentials.Apply(req))
	assert.Equal(t, "Bearer one", req.Header.Get("Authorization"))
	assert.Equal(t, "bearer token", fmt.Sprint(cfg.Credentials))
}

// Tools that renew a login may write the kubeconfig before the files that it names. The kubeconfig
// does not change again when those are there.
func TestAKubeconfigWhoseTokenFileComesLaterIsUsed(t *testing.T) {
	whileFollowing(t, Options{}, func(t *testing.T, f *followed) {
		token := filepath.Join(t.TempDir(), "token")
		f.use(User{TokenFile: token})
		f.hearsLater(" Bearer one")
		assert.Len(t, f.reported(), 1, "the missing file is reported")

		require.NoError(t, os.WriteFile(token, []byte("two"), 0o600))
		time.Sleep(followPeriod)
		got, err := f.ask()
		require.NoError(t, err)
		assert.Equal(t, " Bearer two", got, "a kubeconfig that could not be used for want of another file is tried again, although it has not changed since")
	})
}
