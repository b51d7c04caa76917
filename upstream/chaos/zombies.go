package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"orrery/internal/lab/faultnet"
	"orrery/upstream/controlplane"
)

// zombieLimit is how long a dead connection may go unnoticed with default settings; zombieSlack is what a machine with
// too much to do may add.
const (
	zombieLimit = time.Minute
	zombieSlack = 5 * time.Second
)

// What is read of a replica: the watches that its informers have asked for, and the passes that its workers have made.
const (
	watchesMetric = "orrery_reflector_watches_total"
	passesMetric  = "orrery_passes_total"
)

// zombies are replicas whose connections go dead: everything that travels over them vanishes, in both directions, and
// nobody is told of an error. It is the fault that clients of Kubernetes are reported for most. They have a control plane of
// their own, without any other fault and with nothing but a proxy of bytes before it, so that nothing else can wake them.
type zombies struct {
	run      *run
	cluster  *cluster
	backup   string // directory with what etcd had in the beginning
	replicas []*replica
	proxies  []*faultnet.Proxy
	links    []*faultnet.Link
}

// playZombies returns what did not hold: each replica has to open other watches within a minute, and to delete what was
// deleted while it was blind.
func (r *run) playZombies(ctx context.Context) (found []string, err error) {
	z := &zombies{run: r}
	defer func() { err = errors.Join(err, z.close()) }()
	if err := z.open(ctx); err != nil {
		return nil, err
	}
	for i := range z.links {
		if err := z.cluster.createNamespace(ctx, zombieNamespace(i)); err != nil {
			return nil, err
		}
	}
	for _, p := range z.replicas {
		if err := z.cluster.eventually(ctx, p.name+" is ready", p.ready); err != nil {
			return append(p.faults(), err.Error()), nil
		}
	}
	for _, link := range z.links {
		link.BlackHole(true)
	}
	r.note("zombies: their connections are dead")
	for i := range z.links {
		if err := z.cluster.client.Resource(namespaces).Delete(ctx, zombieNamespace(i), metav1.DeleteOptions{}); err != nil {
			return nil, err
		}
	}
	found = z.awaitNotice(ctx)
	found = append(found, z.awaitWork(ctx)...)
	restored, err := z.restore(ctx)
	found = append(found, restored...)
	for _, p := range z.replicas {
		found = append(append(found, p.healthy()...), p.faults()...)
	}
	return found, err
}

func zombieNamespace(i int) string { return fmt.Sprintf("zombie-%d", i) }

func (z *zombies) open(ctx context.Context) (err error) {
	dir := filepath.Join(z.run.dir, "zombies")
	z.cluster, err = startCluster(ctx, controlplane.Config{Binary: z.run.config.ControlPlane, Dir: dir})
	if err != nil {
		return err
	}
	z.backup = filepath.Join(z.run.dir, "backup")
	if err := z.cluster.BackUpEtcd(ctx, z.backup); err != nil {
		return err
	}
	for i, transport := range []string{"http", "websocket"} {
		if err := z.openReplica(i, transport); err != nil {
			return err
		}
	}
	return nil
}

func (z *zombies) openReplica(i int, transport string) error {
	user, err := z.cluster.KubeconfigFor(replicaUser(replicaName(i)))
	if err != nil {
		return err
	}
	server, err := url.Parse(z.cluster.Server())
	if err != nil {
		return err
	}
	link := &faultnet.Link{}
	proxy, err := faultnet.NewProxy("127.0.0.1:0", server.Host, link)
	if err != nil {
		return err
	}
	z.links, z.proxies = append(z.links, link), append(z.proxies, proxy)
	text, err := os.ReadFile(user)
	if err != nil {
		return err
	}
	name := "zombie-" + transport
	kubeconfig := filepath.Join(z.run.dir, name+".kubeconfig")
	text = bytes.ReplaceAll(text, []byte(server.Host), []byte(proxy.Addr().String()))
	if err := os.WriteFile(kubeconfig, text, 0o600); err != nil {
		return err
	}
	// With an election each would wait for the other.
	p, err := newReplica(z.run.config.Orrery, name, kubeconfig, filepath.Join(z.run.dir, name+".log"), z.run.note, "--leader-elect=false", "--watch-transport="+transport)
	if err != nil {
		return err
	}
	z.replicas = append(z.replicas, p)
	return p.start()
}

// awaitNotice waits until each replica has found out, and then lets its new connections through.
func (z *zombies) awaitNotice(ctx context.Context) (found []string) {
	dead := time.Now()
	before := z.metrics(watchesMetric)
	results := make([]string, len(z.replicas))
	var waiting sync.WaitGroup
	for i, p := range z.replicas {
		waiting.Go(func() {
			defer z.links[i].Heal()
			for ctx.Err() == nil && time.Since(dead) < 2*zombieLimit {
				pause(ctx, 250*time.Millisecond)
				if count, _ := p.metric(watchesMetric); count <= before[i] {
					continue
				}
				took := time.Since(dead)
				z.run.note("%s: noticed after %.1f s", p.name, took.Seconds())
				if took > zombieLimit+zombieSlack {
					results[i] = fmt.Sprintf("%s noticed after %v that its connections are dead, which must not take more than %v", p.name, took.Round(time.Second), zombieLimit)
				}
				return
			}
			results[i] = fmt.Sprintf("%s has not noticed for %v that its connections are dead; the end of its log:\n%s", p.name, time.Since(dead).Round(time.Second), p.current().Tail())
		})
	}
	waiting.Wait()
	for _, result := range results {
		if result != "" {
			found = append(found, result)
		}
	}
	return found
}

// awaitWork waits until the namespaces are gone that were deleted meanwhile.
func (z *zombies) awaitWork(ctx context.Context) []string {
	err := z.cluster.eventually(ctx, "the namespaces are gone that were deleted while nobody could see it", func(ctx context.Context) error {
		for i := range z.links {
			_, err := z.cluster.client.Resource(namespaces).Get(ctx, zombieNamespace(i), metav1.GetOptions{})
			if !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is there (%v)", zombieNamespace(i), err)
			}
		}
		return nil
	})
	if err != nil {
		return []string{"zombies: " + err.Error()}
	}
	return nil
}

// restore has etcd begin again with what it had in the beginning, which takes all versions back: the replicas are ahead of their
// server. They have to delete what is deleted then, without being started again.
func (z *zombies) restore(ctx context.Context) (found []string, err error) {
	if err := z.cluster.RestoreEtcd(ctx, z.backup); err != nil {
		return nil, err
	}
	z.run.note("zombies: etcd was restored from a backup")
	before := z.metrics(passesMetric)
	for i := range z.links {
		if err := z.cluster.eventually(ctx, "a namespace is created and deleted", func(ctx context.Context) error {
			if err := ignore(z.cluster.createNamespace(ctx, zombieNamespace(i)), apierrors.IsAlreadyExists); err != nil {
				return err
			}
			return z.cluster.client.Resource(namespaces).Delete(ctx, zombieNamespace(i), metav1.DeleteOptions{})
		}); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	found = append(z.awaitWork(ctx), z.awaitPasses(ctx, before)...)
	z.run.note("zombies: at work again after %.1f s", time.Since(began).Seconds())
	return label("after a restore: ", found), nil
}

// awaitPasses waits until each replica has worked: one of them alone could have deleted everything.
func (z *zombies) awaitPasses(ctx context.Context, before []float64) (found []string) {
	for i, p := range z.replicas {
		if err := z.cluster.eventually(ctx, p.name+" works again", func(context.Context) error {
			if passes, _ := p.metric(passesMetric); passes <= before[i] {
				return fmt.Errorf("%s has made no pass over a namespace", p.name)
			}
			return nil
		}); err != nil {
			found = append(found, "zombies: "+err.Error())
		}
	}
	return found
}

// metrics reads a metric of each replica.
func (z *zombies) metrics(name string) (sums []float64) {
	for _, p := range z.replicas {
		sum, _ := p.metric(name)
		sums = append(sums, sum)
	}
	return sums
}

func (z *zombies) close() error {
	for _, p := range z.replicas {
		p.abandon()
	}
	for _, p := range z.proxies {
		_ = p.Close()
	}
	if z.cluster == nil {
		return nil
	}
	return z.cluster.Stop()
}

// describe names the errors of a run beside another one.
func describe(what string, found []string, err error) []string {
	if err != nil {
		found = append(found, err.Error())
	}
	return label(strings.TrimSpace(what)+": ", found)
}
