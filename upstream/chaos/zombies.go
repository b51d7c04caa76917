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

// zombieLimit is how long a silent connection may go unnoticed with default settings; zombieSlack
// is for a busy machine.
const (
	zombieLimit = time.Minute
	zombieSlack = 5 * time.Second
)

// The metrics of a replica: watches that its informers opened, and passes that its workers made.
const (
	watchesMetric = "orrery_reflector_watches_total"
	passesMetric  = "orrery_passes_total"
)

// zombies are replicas whose connections go silent: all bytes vanish in both directions, without an
// error. They have a control plane of their own behind a plain proxy, so that nothing else can wake
// them.
type zombies struct {
	run      *run
	cluster  *cluster
	backup   string // directory with etcd's data from the beginning
	replicas []*replica
	proxies  []*faultnet.Proxy
	links    []*faultnet.Link
}

// playZombies returns the violations: each replica must open new watches within a minute, and
// delete what was deleted meanwhile.
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
	r.record("zombies: connections are silent")
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
	// With an election one replica would stand by.
	p, err := newReplica(z.run.config.Orrery, name, kubeconfig, filepath.Join(z.run.dir, name+".log"), z.run.record, "--leader-elect=false", "--watch-transport="+transport)
	if err != nil {
		return err
	}
	z.replicas = append(z.replicas, p)
	return p.start()
}

// awaitNotice waits until each replica has noticed, and then lets its new connections through.
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
				z.run.record("%s: noticed after %.1f s", p.name, took.Seconds())
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

// awaitWork waits until the namespaces deleted meanwhile are gone.
func (z *zombies) awaitWork(ctx context.Context) []string {
	err := z.cluster.eventually(ctx, "the namespaces deleted during the silence are gone", func(ctx context.Context) error {
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

// restore restores etcd from the early backup, so that the replicas are ahead of their server.
// Without a restart they must delete what is deleted then.
func (z *zombies) restore(ctx context.Context) (found []string, err error) {
	if err := z.cluster.RestoreEtcd(ctx, z.backup); err != nil {
		return nil, err
	}
	z.run.record("zombies: etcd was restored from a backup")
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
	z.run.record("zombies: working again after %.1f s", time.Since(began).Seconds())
	return label("after a restore: ", found), nil
}

// awaitPasses waits until each replica has worked: one alone could have deleted everything.
func (z *zombies) awaitPasses(ctx context.Context, before []float64) (found []string) {
	for i, p := range z.replicas {
		if err := z.cluster.eventually(ctx, p.name+" works again", func(context.Context) error {
			if passes, _ := p.metric(passesMetric); passes <= before[i] {
				return fmt.Errorf("%s has processed no namespace", p.name)
			}
			return nil
		}); err != nil {
			found = append(found, "zombies: "+err.Error())
		}
	}
	return found
}

// metrics returns a metric of each replica.
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

// describe prefixes the errors of a run that runs beside another.
func describe(what string, found []string, err error) []string {
	if err != nil {
		found = append(found, err.Error())
	}
	return label(strings.TrimSpace(what)+": ", found)
}
