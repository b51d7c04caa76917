package restclient_test

import (
	"errors"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
)

// New promises a *ConfigError, whatever is wrong.
func TestEveryErrorOfNewIsAConfigError(t *testing.T) {
	broken := errors.New("the token=s3cret is missing")
	for field, cfg := range map[string]restclient.Config{
		"Host":           {Host: "http://u:p@h"},
		"WatchTransport": {Host: "h", WatchTransport: "pigeon"},
		"TLS.ReadCA":     {Host: "h", TLS: restclient.TLS{ReadCA: func() ([]byte, error) { return nil, broken }}},
		"TLS.CAFile":     {Host: "h", TLS: restclient.TLS{CAFile: filepath.Join(t.TempDir(), "missing")}},
		"TLS":            {Host: "h", TLS: restclient.TLS{ReadCA: func() ([]byte, error) { return nil, nil }}},
	} {
		_, err := restclient.New(cfg)
		var wrong *restclient.ConfigError
		require.ErrorAs(t, err, &wrong, "%s", field)
		assert.Equal(t, field, wrong.Field)
		if field == "TLS.ReadCA" {
			assert.ErrorIs(t, err, broken, "the cause can be found")
			assert.NotContains(t, err.Error(), "s3cret")
		}
	}
	_, err := restclient.New(restclient.Config{Host: "h", TLS: restclient.TLS{ReadCA: func() ([]byte,
		error) {
		return nil, &url.Error{Op: "x", Err: broken}
	}}})
	var wrong *restclient.ConfigError
	assert.ErrorAs(t, err, &wrong)
}
