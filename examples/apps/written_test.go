package apps_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/examples/apps"
	"orrery/restclient/api"
)

func TestAStoreIsBehindUntilItShowsTheControllersOwnWrite(t *testing.T) {
	at := func(version string) *api.ObjectMeta { return &api.ObjectMeta{UID: "uid", ResourceVersion: version} }
	synctest.Test(t, func(t *testing.T) {
		var written apps.Written
		assert.False(t, written.Behind(at("9")), "nothing was written")

		written.Note(at("10"))
		assert.True(t, written.Behind(at("9")))
		assert.False(t, written.Behind(&api.ObjectMeta{UID: "another", ResourceVersion: "9"}))
		assert.False(t, written.Behind(at("10")))

		written.Note(at("10"))
		time.Sleep(apps.Timeout)
		assert.False(t, written.Behind(at("9")), "the event will not arrive any more")

		written.Note(at("10"))
		written.Forget("uid")
		assert.False(t, written.Behind(at("9")))

		written.Note(at("opaque"))
		assert.False(t, written.Behind(at("9")), "versions that cannot be compared do not block")
	})
}
