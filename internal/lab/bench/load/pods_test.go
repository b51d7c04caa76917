package load_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/informer"
	"orrery/internal/lab/bench/load"
)

func TestMake(t *testing.T) {
	all := load.MakePods(1000, 4)
	keys := map[string]bool{}
	perNamespace := map[string]int{}
	for i, p := range all {
		assert.Equal(t, int64(i), p.Number)
		keys[p.Key()] = true
		perNamespace[p.Namespace]++
	}
	assert.Len(t, keys, 1000)
	assert.Equal(t, map[string]int{"namespace-000": 250, "namespace-001": 250, "namespace-002": 250, "namespace-003": 250}, perNamespace)
	assert.Equal(t, "namespace-003/web-7c5ddbdf54-00999", all[999].Key())
}

func TestMetadata(t *testing.T) {
	p := load.MakePods(10, 1)[7].As(41)
	p.Payload = 300
	obj := p.Metadata()
	key, err := informer.MetaNamespaceKeyFunc(obj)
	assert.NoError(t, err)
	assert.Equal(t, p.Key(), key)
	assert.Equal(t, int64(41), obj.Generation)
	assert.Equal(t, "42", obj.ResourceVersion)
	assert.Equal(t, strings.Repeat("x", 300), obj.Annotations[load.PayloadAnnotation])
	assert.Equal(t, p.As(1).Metadata().UID, obj.UID, "a state of the same object")
}
