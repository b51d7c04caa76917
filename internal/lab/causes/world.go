// Package causes sets up the situations in which a namespace hangs: one fixture for each cause that
// package why knows, with a near miss that looks alike and is not that cause. The workshop breaks a
// cluster with them, and the tests of this package run `orrery why` on each.
//
// A fixture only uses what any client of the API can do, and the faults of the API server in
// memory.
//
// Next: package internal/why
package causes

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Namespace is the namespace that the fixtures stop.
const Namespace = "shop"

// MachineRoom is the namespace of what cannot be repaired through the API: a ConfigMap in it
// represents something broken, such as a node without power, and deleting the ConfigMap repairs it.
const MachineRoom = "machine-room"

// The paths of what the fixtures create.
const (
	allNamespaces         = "/api/v1/namespaces"
	inNamespace           = allNamespaces + "/" + Namespace
	machineRoom           = allNamespaces + "/" + MachineRoom + "/configmaps"
	systemPods            = allNamespaces + "/kube-system/pods"
	systemDeployments     = "/apis/apps/v1/namespaces/kube-system/deployments"
	podTemplates          = inNamespace + "/podtemplates"
	definitions           = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	rbacAPI               = "/apis/rbac.authorization.k8s.io/v1"
	apiServices           = "/apis/apiregistration.k8s.io/v1/apiservices"
	webhookConfigurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	policies              = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	policyBindings        = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
)

// World is a server on which a situation is set up, as its administrator. After the first error the
// methods do nothing, see [World.Err]. It is not safe for concurrent use.
type World struct {
	ctx    context.Context
	client *restclient.Client
	err    error

	beside wait.Group

	// meet, if set, is called instead of the deletion of the namespace: the world is one of several
	// in which a situation is set up.
	meet func()

	// StartController starts a namespace controller; nil means that another one does.
	StartController func()
}

// NewWorld returns a world on the server of an administrator's client.
func NewWorld(ctx context.Context, client *restclient.Client) *World {
	return &World{ctx: ctx, client: client}
}

// Err returns the first error.
func (w *World) Err() error { return w.err }

// Wait blocks until what goes on beside the situation has ended: when the situation is over, or the
// world's context.
func (w *World) Wait() { w.beside.Wait() }

// do sends a request with a JSON body, or a fault's text. A patch is a merge patch.
func (w *World) do(method, path, body string) (answer []byte) {
	if w.err != nil {
		return nil
	}
	path, query, _ := strings.Cut(path, "?")
	values, _ := url.ParseQuery(query)
	request := restclient.Request{Verb: method, Path: path, Query: values, ContentType: "application/json"}
	if method == http.MethodPatch {
		request.ContentType = string(api.MergePatchType)
	}
	if body != "" {
		request.Body = []byte(body)
	}
	if err := w.client.Do(w.ctx, request, &answer); err != nil {
		w.err = fmt.Errorf("%s %s: %w", method, path, err)
	}
	return answer
}

// read reads an object.
func (w *World) read(path string, into any) {
	answer := w.do(http.MethodGet, path, "")
	if w.err == nil {
		w.err = json.Unmarshal(answer, into)
	}
}

// write sends an object.
func (w *World) write(method, path string, object any) {
	body, err := json.Marshal(object)
	if w.err == nil {
		w.err = err
	}
	w.do(method, path, string(body))
}

// find reads what may be absent.
func (w *World) find(path string) (answer []byte, found bool) {
	if w.err != nil {
		return nil, false
	}
	err := w.client.Do(w.ctx, restclient.Request{Path: path}, &answer)
	if err != nil && !api.IsNotFound(err) {
		w.err = fmt.Errorf("GET %s: %w", path, err)
	}
	return answer, err == nil
}

// step is one thing that is done to a server.
type step = func(*World)

// then takes steps one after the other.
func then(steps ...step) step {
	return func(w *World) {
		for _, step := range steps {
			step(w)
		}
	}
}

// each takes a step for each number.
func each(count int, step func(i int) step) step {
	return func(w *World) {
		for i := range count {
			step(i)(w)
		}
	}
}

// stuck creates the namespace, takes steps in it, and requests its deletion.
func stuck(steps ...step) step { return then(namespace, then(steps...), terminate) }

// beside takes steps while the situation goes on, until the end of the world's context.
func beside(steps ...step) step {
	return func(w *World) {
		w.beside.StartWithContext(w.ctx, func(ctx context.Context) {
			then(steps...)(&World{ctx: ctx, client: w.client, StartController: w.StartController})
		})
	}
}

// start starts a namespace controller.
func start(w *World) {
	if w.err == nil && w.StartController != nil {
		w.StartController()
	}
}

// sleep waits, for what the server's own controllers do.
func sleep(d time.Duration) step {
	return func(w *World) {
		if w.err == nil {
			w.err = wait.Sleep(w.ctx, d)
		}
	}
}

// waited is the solution of what ends by itself.
var waited = sleep(5 * time.Minute)

func create(path, body string) step { return func(w *World) { w.do(http.MethodPost, path, body) } }
func patch(path, body string) step  { return func(w *World) { w.do(http.MethodPatch, path, body) } }

// ensure creates a namespace that may be there.
func ensure(namespace string) step {
	return func(w *World) {
		if _, found := w.find(allNamespaces + "/" + namespace); !found {
			create(allNamespaces, named(namespace))(w)
		}
	}
}

// remove deletes an object if it is there.
func remove(path string) step {
	return func(w *World) {
		if _, found := w.find(path); found {
			w.do(http.MethodDelete, path, "")
		}
	}
}

// release removes all finalizers of an object, as its owners would, if it is still there.
func release(path string) step {
	return func(w *World) {
		if _, found := w.find(path); found {
			patch(path, `{"metadata":{"finalizers":null}}`)(w)
		}
	}
}

// fault adds a fault of the API server in memory.
func fault(order string) step { return create("/debug/orrery/faults", order) }

// broken adds faults that last until their ConfigMap in the machine room is deleted, see [repair].
// Without faults the ConfigMap stands for something outside the cluster that the owner of a
// finalizer has to clean up. If the finalizer is removed and the ConfigMap is not, that thing is
// left behind.
func broken(what string, orders ...string) step {
	return func(w *World) {
		then(ensure(MachineRoom), create(machineRoom, named(what)))(w)
		for _, order := range orders {
			separator := ","
			if !strings.Contains(order, ":") {
				separator = ":"
			}
			fault(order + separator + "while=configmaps/" + MachineRoom + "/" + what)(w)
		}
	}
}

// repair ends what broken began, or cleans up what is outside.
func repair(what string) step { return remove(machineRoom + "/" + what) }

// until waits until something in the machine room was repaired, or the world has an error.
func until(what string) step {
	return absent(machineRoom+"/"+what, func(w *World) { sleep(5 * time.Second)(w) })
}

// absent repeats a step until an object is gone, or the world has an error.
func absent(path string, step step) step {
	return func(w *World) {
		for found := true; found; _, found = w.find(path) {
			step(w)
		}
	}
}

// namespace creates the namespace of the fixtures, if another part of the situation has not.
var namespace = ensure(Namespace)

// terminate requests the deletion of the namespace.
func terminate(w *World) {
	if w.meet != nil {
		w.meet()
		return
	}
	w.do(http.MethodDelete, inNamespace, "")
}

// named is an object, with entries for its metadata.
func named(name string, metadata ...string) string {
	return `{"metadata":{` + strings.Join(append([]string{`"name":"` + name + `"`}, metadata...), ",") + `}}`
}

// kept is the entry of an object's metadata with its finalizers.
func kept(finalizers ...string) string {
	return `"finalizers":["` + strings.Join(finalizers, `","`) + `"]`
}

// object creates an object of the core group in the namespace.
func object(resource, name string, finalizers ...string) step {
	if len(finalizers) == 0 {
		return create(inNamespace+"/"+resource, named(name))
	}
	return create(inNamespace+"/"+resource, named(name, kept(finalizers...)))
}

func configMap(name string, finalizers ...string) step {
	return object("configmaps", name, finalizers...)
}

// containers is that of a pod's spec whose program does not matter.
const containers = `"containers":[{"name":"c","image":"i"}]`

// pod creates a pod in the namespace, with an entry for its metadata, a grace period in seconds,
// and entries for its spec, each with a comma behind it. It waits until the pod runs.
func pod(name, metadata string, grace int, spec string) step {
	if metadata != "" {
		metadata = "," + metadata
	}
	return then(create(inNamespace+"/pods", fmt.Sprintf(
		`{"metadata":{"name":%q%s},"spec":{"terminationGracePeriodSeconds":%d,%s%s}}`,
		name, metadata, grace, spec, containers,
	)), sleep(10*time.Second))
}

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
	"/apis/apps/v1/namespaces/default/deployments/kueue-controller-manager",
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

func (f Fixture) settle() time.Duration { return cmp.Or(f.Settle, Settled) }

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
