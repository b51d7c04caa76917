package restclient

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRedactText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"nothing secret here", "nothing secret here"},
		{"header Bearer abc.DEF-1_2/3+4= is bad", "header Bearer [redacted] is bad"},
		{"authorization: basic dXNlcjpwYXNz", "authorization: basic [redacted]"},
		{`invalid proxy address "http://joe:pa55@proxy:3128"`, `invalid proxy address "http://[redacted]@proxy:3128"`},
		{"https://server/x?access_token=abc&limit=1", "https://server/x?access_token=[redacted]&limit=1"},
		{"mail to joe@example.org", "mail to joe@example.org"},
	} {
		assert.Equal(t, c.want, Redact(c.text))
	}
}

func TestRedactURL(t *testing.T) {
	u, err := url.Parse("https://joe:pa55@server:6443/api/v1/pods?watch=true&labelSelector=a%3Db&continue=eyJ2&sig=s3cret")
	require.NoError(t, err)
	assert.Equal(t, "https://server:6443/api/v1/pods?continue=[...]&labelSelector=a%3Db&sig=[redacted]&watch=true", redactURL(u))
	assert.Contains(t, u.String(), "pa55", "the URL itself is not changed")
}
