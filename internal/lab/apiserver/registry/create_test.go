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
