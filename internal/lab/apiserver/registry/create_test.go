package registry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// A generated name may be taken. The server generates another one, and gives up after eight
// (KEP-4420).
func TestGeneratedNamesThatAreTakenAreReplaced(t *testing.T) {
	for taken, want := range map[int]int{0: 1, 3: 4, 7: 8, 8: 8} {
		attempts := 0
		w := newWorld(t, func(c *registry.Config) {
			other := registry.New(*c)
			c.Admit = func(_ context.Context, a registry.Attributes) error {
				if attempts++; attempts <= taken { // another client takes the name at the last moment
					_, err := other.Create(ctx, a.Target, tree(`{"metadata":{"name":"`+a.Name+`"}}`), none)
					return err
				}
				return nil
			}
		})
		_, err := w.Create(ctx, w.cm(""), tree(`{"metadata":{"generateName":"x-"}}`), none)
		assert.Equal(t, taken == 8, api.IsAlreadyExists(err), "%d names taken: %v", taken, err)
		assert.Equal(t, want, attempts, "attempts, with %d names taken", taken)
	}
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
	_, err = w.Update(ctx, w.cm("a"), tree(`{"metadata":{"name":"a"},"data":{"k":"2"}}`), eve)
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
	_, err = w.Update(ended, w.cm("a"), tree(`{"metadata":{"name":"a"}}`), none)
	require.ErrorIs(t, err, context.Canceled)
	_, err = w.Patch(ended, w.cm("a"), merge(`{}`), none)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = w.Delete(ended, w.cm("a"), api.DeleteOptions{}, none)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, w.Bind(ended, w.at("pods", "default", "a"), "n", none), context.Canceled)
}
