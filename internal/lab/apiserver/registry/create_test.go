package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

func TestCreateFillsInWhatOnlyTheServerKnows(t *testing.T) {
	w := newWorld(t)
	before := w.store.Version()
	o := w.make(w.cm(""), `{"metadata":{"name":"a","uid":"mine","creationTimestamp":"2020-01-01T00:00:00Z","resourceVersion":"0",
		"deletionTimestamp":"2020-01-01T00:00:00Z","deletionGracePeriodSeconds":7,"selfLink":"/x","managedFields":[]},"data":{"k":"v"}}`)
	created := o.Decode()
	assert.Equal(t, before+1, o.Version)
	assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, created.GetUID())
	assert.NotEqual(t, "2020-01-01T00:00:00Z", created.NestedString("metadata", "creationTimestamp"))
	assert.Equal(t, "default", created.GetNamespace(), "the namespace comes from the path")
	for _, field := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		assert.Nil(t, created.Nested("metadata", field), field)
	}
	assert.Equal(t, map[string]string{"k": "v"}, created.NestedStringMap("data"))
}

// The answers are those of kube-apiserver 1.36.
func TestCreateRefuses(t *testing.T) {
	w := newWorld(t)
	w.make(w.cm(""), `{"metadata":{"name":"taken"}}`)
	w.make(w.cm(""), `{"metadata":{"name":"held","finalizers":["a.b/c"]}}`)
	w.delete(w.cm("held"), api.DeleteOptions{})
	w.make(w.ns(""), `{"metadata":{"name":"ending"}}`)
	w.delete(w.ns("ending"), api.DeleteOptions{})
	for name, c := range map[string]struct {
		target        registry.Target
		object        string
		code          int
		reason        api.StatusReason
		message       string
		causes        []api.StatusCause
		kind, objName string
	}{
		"no name": {
			w.cm(""), `{"metadata":{}}`, 422, api.ReasonInvalid,
			`ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`,
			[]api.StatusCause{{Type: "FieldValueRequired", Message: "Required value: name or generateName is required", Field: "metadata.name"}}, "ConfigMap", "",
		},
		"a name taken by a terminating object": {
			w.cm(""), `{"metadata":{"name":"held"}}`, 409, api.ReasonAlreadyExists, `object is being deleted: configmaps "held" already exists`, nil, "configmaps", "held",
		},
		"a missing namespace and an invalid name": {
			w.at("configmaps", "nope", ""), `{"metadata":{"name":"A_B"}}`, 404, api.ReasonNotFound, `namespaces "nope" not found`, nil, "namespaces", "nope",
		},
		"a terminating namespace and no name": {
			w.at("configmaps", "ending", ""), `{"metadata":{}}`, 403, api.ReasonForbidden,
			`configmaps "Unknown" is forbidden: unable to create new content in namespace ending because it is being terminated`,
			[]api.StatusCause{{Type: api.CauseNamespaceTerminating, Message: "namespace ending is being terminated", Field: "metadata.namespace"}}, "configmaps", "Unknown",
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.store.Version()
			for _, options := range []registry.WriteOptions{none, dry} {
				_, err := w.Create(ctx, c.target, tree(c.object), options)
				status := refused(t, err, c.code, c.message)
				assert.Equal(t, c.reason, status.Status.Reason)
				if status.Status.Details != nil {
					assert.Equal(t, c.causes, status.Status.Details.Causes)
					assert.Equal(t, c.kind, status.Status.Details.Kind)
					assert.Equal(t, c.objName, status.Status.Details.Name)
				}
			}
			assert.Equal(t, before, w.store.Version(), "a refused write consumes no version")
		})
	}
}

func TestNewObjectsHaveNoVersion(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"new", "taken"} {
		_, err := w.Create(ctx, w.cm(""), tree(`{"metadata":{"name":"`+name+`","resourceVersion":"5"}}`), none)
		status := refused(t, err, 500, "resourceVersion should not be set on objects to be created")
		assert.Empty(t, status.Status.Reason)
		_, _ = w.Create(ctx, w.cm(""), tree(`{"metadata":{"name":"taken"}}`), none)
	}
	shown, err := w.Create(ctx, w.cm(""), tree(`{"metadata":{"name":"new","resourceVersion":"5"}}`), dry)
	require.NoError(t, err)
	assert.Equal(t, uint64(5), shown.Version, "a dry run accepts a version")
	w.make(w.cm(""), `{"metadata":{"name":"new","resourceVersion":"x"}}`)
}

func TestNamespacesOfClusterObjectsAreIgnored(t *testing.T) {
	w := newWorld(t)
	o := w.make(w.ns(""), `{"metadata":{"name":"a","namespace":"foo"}}`)
	assert.Empty(t, o.Key.Namespace)
}

func TestDryRunOfCreateStoresNothing(t *testing.T) {
	w := newWorld(t)
	before := w.store.Version()
	o, err := w.Create(ctx, w.cm(""), tree(`{"metadata":{"generateName":"abc-"}}`), dry)
	require.NoError(t, err)
	shown := o.Decode()
	assert.Regexp(t, `^abc-[bcdfghjklmnpqrstvwxz2456789]{5}$`, shown.GetName())
	assert.NotEmpty(t, shown.GetUID())
	assert.Empty(t, shown.GetResourceVersion(), "never stored")
	assert.Equal(t, before, w.store.Version())
	assert.False(t, w.exists(w.cm(shown.GetName())))
}

func TestGeneratedNames(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("x", 100)
	o := w.make(w.cm(""), `{"metadata":{"generateName":"`+long+`"}}`)
	assert.Len(t, o.Key.Name, 63, "the name fits a label")
	assert.Equal(t, long, o.Decode().NestedString("metadata", "generateName"))
	o = w.make(w.cm(""), `{"metadata":{"name":"given","generateName":"x-"}}`)
	assert.Equal(t, "given", o.Key.Name, "a given name takes precedence")
	_, err := w.Create(ctx, w.at("configmaps", "nope", ""), tree(`{"metadata":{"generateName":"x-"}}`), none)
	assert.True(t, api.IsNotFound(err), "%v", err)
}

// A generated name may be taken. The server generates another one, and gives up after eight
// (KEP-4420).
func TestGeneratedNamesThatAreTakenAreReplaced(t *testing.T) {
	attempts, taken := 0, 3
	w := newWorld(t, func(c *registry.Config) {
		c.Admit = func(_ context.Context, a registry.Attributes) error {
			if a.User != "tester" {
				return nil
			}
			if attempts++; attempts <= taken { // another client takes the name at the last moment
				_, err := newTaker(c).Create(ctx, a.Target, tree(fmt.Sprintf(`{"metadata":{"name":%q}}`, a.Name)), none)
				return err
			}
			return nil
		}
	})
	_, err := w.Create(ctx, w.cm(""), tree(`{"metadata":{"generateName":"x-"}}`), registry.WriteOptions{User: "tester"})
	require.NoError(t, err)
	assert.Equal(t, 4, attempts)

	attempts, taken = 0, 100
	_, err = w.Create(ctx, w.cm(""), tree(`{"metadata":{"generateName":"x-"}}`), registry.WriteOptions{User: "tester"})
	require.Error(t, err)
	assert.True(t, api.IsAlreadyExists(err))
	assert.Regexp(t, `^configmaps "x-[a-z0-9]{5}" already exists, the server was not able to generate a unique name for the object$`, err.Error())
	assert.Equal(t, 8, attempts)
	assert.Equal(t, "1s", api.RetryAfterOf(err).String())
}

// newTaker returns another registry on the same store.
func newTaker(c *registry.Config) *registry.Registry {
	return registry.New(registry.Config{Store: c.Store, Catalog: c.Catalog})
}

func TestAdmissionIsAskedLast(t *testing.T) {
	var asked []string
	denied := errors.New("no")
	w := newWorld(t, func(c *registry.Config) {
		c.Admit = func(_ context.Context, a registry.Attributes) error {
			if a.User == "" {
				return nil
			}
			asked = append(asked, a.Verb+" "+a.Name+" by "+a.User+" with "+a.Object.NestedString("data", "k"))
			return denied
		}
	})
	eve := registry.WriteOptions{User: "eve"}
	_, err := w.Create(ctx, w.cm(""), tree(`{"metadata":{"name":"UPPER"}}`), eve)
	assert.True(t, api.IsInvalid(err), "%v", err)
	_, err = w.Create(ctx, w.cm(""), tree(`{"metadata":{"name":"a"},"data":{"k":"1"}}`), eve)
	require.ErrorIs(t, err, denied)
	assert.False(t, w.exists(w.cm("a")))

	w.make(w.cm(""), `{"metadata":{"name":"a"},"data":{"k":"1"}}`)
	_, _, err = w.Update(ctx, w.cm("a"), tree(`{"metadata":{"name":"a"},"data":{"k":"2"}}`), eve)
	require.ErrorIs(t, err, denied)
	_, err = w.Patch(ctx, w.cm("a"), merge(`{"data":{"k":"3"}}`), eve)
	require.ErrorIs(t, err, denied)
	_, _, err = w.Delete(ctx, w.cm("a"), api.DeleteOptions{}, eve)
	require.ErrorIs(t, err, denied)
	assert.Equal(t, "1", w.get(w.cm("a")).NestedString("data", "k"))
	assert.Equal(t, []string{
		"create a by eve with 1", "update a by eve with 2", "patch a by eve with 3",
		"delete a by eve with 1",
	}, asked)
}

func TestNothingIsWrittenForAContextThatHasEnded(t *testing.T) {
	w := newWorld(t)
	w.make(w.cm(""), `{"metadata":{"name":"a"}}`)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := w.Create(ended, w.cm(""), tree(`{"metadata":{"name":"b"}}`), none)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = w.Update(ended, w.cm("a"), tree(`{"metadata":{"name":"a"}}`), none)
	require.ErrorIs(t, err, context.Canceled)
	_, err = w.Patch(ended, w.cm("a"), merge(`{}`), none)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = w.Delete(ended, w.cm("a"), api.DeleteOptions{}, none)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, w.Bind(ended, w.at("pods", "default", "a"), "n", none), context.Canceled)
}
