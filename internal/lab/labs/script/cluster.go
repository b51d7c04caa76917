package script

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/labs/guard"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/texts"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/wait"
)

// The namespaces that a run creates on a cluster.
const (
	ClusterNamespaces = 5
	clusterObjects    = 6
	clusterLimit      = 2 * time.Minute
	cleanUpLimit      = time.Minute
	cleanUpPause      = 500 * time.Millisecond
)

// shownRefusals is how many different refusals are printed.
const shownRefusals = 5

// NewPrefix returns a random beginning of the names of a run's namespaces.
func NewPrefix() string { return "lab-" + strings.ToLower(rand.Text()[:6]) }

// PlayOnCluster runs the controller on the cluster of a client. The controller works on a few new
// namespaces and can write to nothing else. They are gone when PlayOnCluster returns, also after an
// interruption. prefix is the beginning of their names, see [NewPrefix]; more are further arguments
// of the controller.
func PlayOnCluster(ctx context.Context, config Config, client *restclient.Client, prefix string, more ...string) (outcome Outcome, err error) {
	p := newPlayer(config)
	proxy, err := guard.Start(client)
	if err != nil {
		return Outcome{}, err
	}
	defer proxy.Close()
	dir, err := os.MkdirTemp("", "orrery-lab-")
	if err != nil {
		return Outcome{}, err
	}
	defer os.RemoveAll(dir)
	p.client, p.kubeconfig, p.created = client, filepath.Join(dir, "kubeconfig"), proxy.Allow
	p.strayed = func() bool { return len(proxy.Refused()) > 0 }
	if err := proxy.WriteKubeconfig(p.kubeconfig); err != nil {
		return Outcome{}, err
	}
	defer func() { err = errors.Join(err, p.cleanUp(ctx, slices.Sorted(maps.Keys(proxy.Namespaces())))) }()

	p.Run.Script = clusterScript(prefix)
	// Other controllers of the lab would work on the whole cluster, and Events are written
	// elsewhere.
	arguments := slices.DeleteFunc(slices.Clone(p.Run.Args), func(argument string) bool { return strings.HasPrefix(argument, "--controllers=") })
	arguments = append(arguments, "--namespaces", prefix+"-*", "--events=false")
	outcome, err = p.control(ctx, client.Snapshot().Host, append(arguments, more...))
	if err == nil {
		p.judge(&outcome, proxy)
	}
	return outcome, err
}

// clusterScript deletes a few full namespaces.
func clusterScript(prefix string) []manifest.Action {
	return []manifest.Action{
		{Say: texts.Message("run-cluster-fill"), Fill: &manifest.Fill{Prefix: prefix, Namespaces: ClusterNamespaces, Objects: clusterObjects}},
		{Say: texts.Message("run-cluster-delete"), Delete: prefix},
		{Gone: &manifest.Gone{Prefix: prefix, Within: manifest.Duration{Duration: clusterLimit}}},
	}
}

// judge says what the proxy has seen: refused writes, and namespaces that another controller
// finalized.
func (p *player) judge(outcome *Outcome, proxy *guard.Proxy) {
	if refused := proxy.Refused(); len(refused) > 0 {
		p.say("run-refused", len(refused))
		kinds := slices.Compact(slices.Sorted(slices.Values(refused)))
		for _, line := range kinds[:min(len(kinds), shownRefusals)] {
			p.line("  " + line)
		}
		outcome.OK = false
	}
	others := 0
	for _, finalized := range proxy.Namespaces() {
		if !finalized {
			others++
		}
	}
	if outcome.OK && others > 0 {
		p.say("run-not-yours", others)
		outcome.OK = false
	}
}

// cleanUp removes namespaces, with the reference deleter: no other namespace controller need run on
// the cluster. It goes on when ctx has ended.
func (p *player) cleanUp(ctx context.Context, names []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpLimit)
	defer cancel()
	namespaces := restclient.Typed[*api.Namespace](p.client, api.NamespacesResource, "")
	deleter := nsctl.NewDeleter(nsctl.DeleterConfig{
		Namespaces: namespaces, Content: nsctl.NewContentClient(p.client), Discovery: discovery.NewCached(discovery.New(p.client)),
	})
	said := false
	var left []error
	for _, name := range names {
		if _, err := namespaces.Get(ctx, name, api.GetOptions{}); api.IsNotFound(err) {
			continue
		}
		if !said {
			p.say("run-cleans-up")
			said = true
		}
		left = append(left, remove(ctx, namespaces, deleter, name))
	}
	return errors.Join(left...)
}

// remove deletes a namespace with its content and waits until it is gone.
func remove(ctx context.Context, namespaces nsctl.NamespaceClient, deleter nsctl.Deleter, name string) error {
	for {
		err := namespaces.Delete(ctx, name, api.DeleteOptions{})
		if api.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = deleter.Delete(ctx, name, nsctl.ObservedDeletion{})
		}
		if ended := wait.Sleep(ctx, cleanUpPause); ended != nil {
			return fmt.Errorf("the namespace %s is still there: %w", name, cmp.Or(err, ended))
		}
	}
}
