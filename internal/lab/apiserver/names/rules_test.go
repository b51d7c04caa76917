package names

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The messages are those of kube-apiserver 1.36.
func TestSentences(t *testing.T) {
	const (
		subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
		label     = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
		qualified = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
		value     = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	)
	segment := func(name string) []string { return PathSegment(name, false) }
	for _, c := range []struct {
		rule func(string) []string
		name string
		want []string
	}{
		{Subdomain, "a.b-c.0", nil},
		{Subdomain, "A", []string{subdomain}},
		{Subdomain, "", []string{subdomain}},
		{Subdomain, "a..b", []string{subdomain}},
		{Subdomain, strings.Repeat("a", 254), []string{"must be no more than 253 characters"}},
		{Label, "0-a", nil},
		{Label, "a.b", []string{"must not contain dots"}},
		{Label, "a_b", []string{label}},
		{Label, strings.Repeat("-", 64), []string{"must be no more than 63 characters", label}},
		{segment, "system:x Y", nil},
		{segment, ".", []string{"may not be '.'"}},
		{segment, "..", []string{"may not be '..'"}},
		{segment, "a/b%c", []string{"may not contain '/'", "may not contain '%'"}},
		{Qualified, "example.com/a_B", nil},
		{Qualified, "-a", []string{"name part " + qualified}},
		{Qualified, "/a", []string{"prefix part must be non-empty"}},
		{Qualified, "a/", []string{"name part must be non-empty", "name part " + qualified}},
		{Qualified, "A/b", []string{"prefix part " + subdomain}},
		{Qualified, strings.Repeat("a", 254) + "/b", []string{"prefix part must be no more than 253 bytes"}},
		{Qualified, "a/b/c", []string{"a valid label key " + qualified + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}},
		{Qualified, strings.Repeat("a", 64), []string{"name part must be no more than 63 bytes"}},
		{LabelValue, "", nil},
		{LabelValue, "a_B.c", nil},
		{LabelValue, "-b", []string{value}},
		{LabelValue, strings.Repeat("a", 64), []string{"must be no more than 63 bytes"}},
	} {
		assert.Equal(t, c.want, c.rule(c.name), "%.70q", c.name)
	}
	assert.Empty(t, PathSegment("..", true), "a prefix is not a whole name")
}
