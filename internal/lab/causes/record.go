package causes

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

// The Secret that says which situation is set up on a server. Its data is base64, so that a learner
// does not read the answer by accident.
const (
	recordNamespace = allNamespaces + "/lab"
	record          = recordNamespace + "/secrets/break"
)

// Find returns the fixture of a cause, by its id in upper or lower case, or of several ("C07+C15").
func Find(id string) (Fixture, bool) {
	all := Fixtures()
	var found []Fixture
	for one := range strings.SplitSeq(id, separator) {
		at := slices.IndexFunc(all, func(f Fixture) bool { return strings.EqualFold(f.ID, one) })
		if at < 0 {
			return Fixture{}, false
		}
		found = append(found, all[at])
	}
	switch {
	case len(found) == 1:
		return found[0], true
	case slices.ContainsFunc(found, func(f Fixture) bool { return f.NoController }):
		return Fixture{}, false
	}
	return Combine(found...), true
}

// removal is how long Break waits for what End has deleted.
const removal = 30 * time.Second

// Break sets a fixture up on a server, and remembers it there. It refuses a server that has any of
// the objects that End would delete. What an earlier situation has left may still be terminating:
// Break waits until it has gone.
func (w *World) Break(f Fixture) error {
	path, terminating := w.inTheWay()
	for waited := time.Duration(0); terminating && waited < removal; waited += time.Second {
		sleep(time.Second)(w)
		path, terminating = w.inTheWay()
	}
	if w.err == nil && path != "" {
		w.err = fmt.Errorf("%s exists on this server, and the situation would use it and delete it at its end", path)
	}
	create(allNamespaces, named("lab"))(w)
	cause := base64.StdEncoding.EncodeToString([]byte(f.ID))
	create(recordNamespace+"/secrets", `{"metadata":{"name":"break"},"data":{"cause":"`+cause+`"}}`)(w)
	if w.err != nil {
		return w.err
	}
	f.SetUp(w)
	return w.err
}

// Broken returns the fixture that [World.Break] set up on the server.
func (w *World) Broken() (Fixture, error) {
	var secret struct{ Data struct{ Cause []byte } }
	w.read(record, &secret)
	if api.IsNotFound(w.err) {
		return Fixture{}, fmt.Errorf("no situation is set up on this server: %w", w.err)
	}
	f, ok := Find(string(secret.Data.Cause))
	if w.err == nil && !ok {
		return f, fmt.Errorf("the Secret break in the namespace lab names no cause: %q", secret.Data.Cause)
	}
	return f, w.err
}

// firstPass is how long a controller may take for its first pass: the grace period, and a while.
const firstPass = 15 * time.Second

// Symptom returns what a user sees first: the phase and the conditions of the namespace. It waits
// for the first pass of the controller, if the namespace is terminating.
func (w *World) Symptom() ([]string, error) {
	var namespace api.Namespace
	for range firstPass / time.Second {
		w.read(inNamespace, &namespace)
		if namespace.Status.Phase != api.NamespaceTerminating || len(namespace.Status.Conditions) > 0 {
			break
		}
		sleep(time.Second)(w)
	}
	lines := []string{fmt.Sprintf("namespace %s: %s", Namespace, namespace.Status.Phase)}
	for _, condition := range namespace.Status.Conditions {
		lines = append(lines, fmt.Sprintf("%s=%s %s: %s", condition.Type, condition.Status, condition.Reason,
			condition.Message))
	}
	return lines, w.err
}

// ends are the objects that fixtures leave outside the namespace.
var ends = slices.Concat([]string{
	apiServices + "/v1beta1.metrics.k8s.io", apiServices + "/v1beta1.custom.metrics.k8s.io",
	webhookConfigurations + "/policy", policyBindings + "/keep-all", policies + "/keep",
	rbacAPI + "/clusterrolebindings/keda", rbacAPI + "/clusterroles/keda", rbacAPI + "/clusterrolebindings/strimzi",
	rbacAPI + "/clusterroles/strimzi",
	systemDeployments + "/cloud-controller-manager", systemDeployments + "/kueue-controller-manager",
	systemPods + "/sweeper", systemPods + "/kube-controller-manager", systemLeases + "/kube-controller-manager",
}, operatorsEnds(), []string{allNamespaces + "/" + MachineRoom, recordNamespace})

func operatorsEnds() (paths []string) {
	for _, o := range operators {
		paths = append(paths, o.definition(), allNamespaces+"/"+o.namespace)
	}
	return paths
}

// inTheWay returns the path of an existing object that the fixtures create and End deletes, "" if
// there is none. terminating reports whether all such objects are terminating.
func (w *World) inTheWay() (path string, terminating bool) {
	for _, end := range append(slices.Clone(ends), inNamespace) {
		answer, found := w.find(end)
		if !found {
			continue
		}
		var object api.PartialObjectMetadata
		if json.Unmarshal(answer, &object) != nil || object.DeletionTimestamp == nil {
			return end, false
		}
		path, terminating = end, true
	}
	return path, terminating
}

// End solves the situation if the namespace is still there, and deletes what the fixtures created
// beside it.
func (w *World) End(f Fixture) error {
	if _, found := w.find(inNamespace); found {
		f.Solve(w)
	}
	for _, path := range ends {
		remove(path)(w)
	}
	return w.err
}

// separator stands between the ids of a situation that consists of several.
const separator = "+"

// Combine returns the situation in which a namespace hangs for several causes at once. None of the
// fixtures may have [Fixture.NoController].
func Combine(fixtures ...Fixture) Fixture {
	all := Fixture{
		SetUp: func(w *World) { together(w, func(*World, Fixture) {}, fixtures) },
		Solve: func(w *World) {
			for _, f := range fixtures {
				f.Solve(w)
			}
		},
	}
	var ids []string
	for _, f := range fixtures {
		ids = append(ids, f.ID)
		all.Keep = append(all.Keep, f.Keep...)
		all.Settle = max(all.Settle, f.settle())
	}
	all.ID = strings.Join(ids, separator)
	return all
}

// IDs are those of the causes of which the situation consists.
func (f Fixture) IDs() []string { return strings.Split(f.ID, separator) }

// together sets several fixtures up in one namespace: each prepares its part, then the namespace is
// deleted, and each goes on. then is called with each when it is set up.
func together(w *World, then func(part *World, f Fixture), fixtures []Fixture) {
	deleted := make(chan struct{})
	var ends []<-chan *World
	for _, f := range fixtures {
		part := NewWorld(w.ctx, w.client)
		prepared, end := make(chan struct{}), make(chan *World, 1)
		part.meet = func() {
			close(prepared)
			<-deleted
		}
		w.beside.StartWithContext(w.ctx, func(context.Context) {
			f.SetUp(part)
			then(part, f)
			end <- part
			part.Wait()
		})
		<-prepared
		ends = append(ends, end)
	}
	terminate(w)
	close(deleted)
	for _, end := range ends {
		if part := <-end; w.err == nil {
			w.err = part.err
		}
	}
}

func (f Fixture) settle() time.Duration {
	if f.Settle == 0 {
		return Settled
	}
	return f.Settle
}

// course has the twelve causes of lab 13 of the workshop. A namespace has one of each of its two
// groups: the first one has a cause that keeps the pods, and one that waits behind them; the second
// one has one that refuses deletions, and one that waits for something outside.
var course = map[string][2][]string{
	"first":  {{"C11", "C12", "C13"}, {"C06", "C04", "C05"}},
	"second": {{"C07", "C08", "C09"}, {"C15", "C16", "C18"}},
}

// Seeds is how many different pairs of namespaces lab 13 has. Seed 1 is the course's own.
const Seeds = 81

// IsOfCourse reports whether lab 13 has a namespace of that name: "first" or "second".
func IsOfCourse(name string) bool { return course[name][0] != nil }

// OfCourse returns the situation of a namespace of lab 13 for a seed.
func OfCourse(name string, seed uint64) Fixture {
	number := (seed + Seeds - 1) % Seeds * 50 % Seeds // neighbours have little in common
	if name == "second" {
		number /= 9
	}
	groups := course[name]
	f, ok := Find(groups[0][number%3] + separator + groups[1][number/3%3])
	if !ok {
		panic("causes: lab 13 names a cause that is none")
	}
	return f
}
