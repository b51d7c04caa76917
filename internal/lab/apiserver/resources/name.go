package resources

import "orrery/internal/lab/apiserver/names"

// NameRule checks a name: it returns what is wrong with it, one sentence for each mistake. With prefix the name is one
// that a server will append characters to (metadata.generateName).
type NameRule func(name string, prefix bool) []string

// subdomainName is the rule of most types.
func subdomainName(name string, prefix bool) []string { return names.Subdomain(masked(name, prefix)) }

// labelName is the rule of namespaces and services, whose names become one label of a domain name.
func labelName(name string, prefix bool) []string { return names.Label(masked(name, prefix)) }

// masked gives a prefix the end that a hyphen must not be.
func masked(name string, prefix bool) string {
	if prefix && len(name) > 1 && name[len(name)-1] == '-' {
		return name[:len(name)-2] + "a"
	}
	return name
}
