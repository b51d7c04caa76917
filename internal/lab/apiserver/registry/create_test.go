package registry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

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
