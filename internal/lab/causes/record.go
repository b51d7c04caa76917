package causes

import (
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
		lines = append(lines, fmt.Sprintf("%s=%s %s: %s", condition.Type, condition.Status, condition.Reason, condition.Message))
	}
	return lines, w.err
}

// ends are the objects that fixtures leave outside the namespace.
var ends = slices.Concat([]string{
	apiServices + "/v1beta1.metrics.k8s.io", apiServices + "/v1beta1.custom.metrics.k8s.io",
	webhookConfigurations + "/policy", policyBindings + "/keep-all", policies + "/keep",
	rbacAPI + "/clusterrolebindings/keda", rbacAPI + "/clusterroles/keda", rbacAPI + "/clusterrolebindings/strimzi", rbacAPI + "/clusterroles/strimzi",
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
