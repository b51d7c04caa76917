package store

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Reading a view blocks no writer and sees no later writes. The race detector checks it as well.
func TestViewsAreReadWhileOthersWrite(t *testing.T) {
	s := New(Config{Window: 50})
	c := s.Collection(configMaps)
	for i := range 500 {
		create(t, c, Key{"n", fmt.Sprintf("%03d", i)}, "0")
	}
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				old, ok := c.Get(Key{"n", fmt.Sprintf("%03d", i%500)})
				if !ok {
					continue
				}
				_, _, err := c.Replace(old, draft(old.Key, fmt.Sprint(i)), nil)
				assert.NoError(t, err)
			}
		})
	}
	for range 3 {
		readers.Go(func() {
			for i := range 50 {
				v, err := c.View(0)
				if i%2 == 1 && err == nil && v.Version() > 521 { // all 500 are there
					v, err = c.View(v.Version() - 20)
				}
				if err != nil {
					assert.ErrorAs(t, err, new(*ExpiredError))
					continue
				}
				count := 0
				v.Ascend("", Key{}, func(o *Object) bool {
					count++
					return assert.LessOrEqual(t, o.Version, v.Version())
				})
				assert.Equal(t, 500, count)
			}
		})
	}
	readers.Wait()
	close(stop)
	writers.Wait()
	require.NoError(t, s.check())
}
