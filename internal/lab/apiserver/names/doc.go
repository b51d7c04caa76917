// Package names knows the rules for names in Kubernetes: of objects, labels, keys and ports.
//
// # Concept
//
// Most names end up in DNS, in file names or in URLs, and each of those places has its own alphabet. A rule is a function
// that returns what is wrong with a name, one sentence for each mistake, and nothing for a good name:
//
//   - [Subdomain]: names of most objects. Dotted DNS labels in lower case, together at most 253 characters;
//   - [Label]: names of namespaces and containers. One DNS label, at most 63 characters;
//   - [ServiceLabel]: names of services. A DNS label that starts with a letter (the older RFC 1035);
//   - [PathSegment]: names of roles. Anything that can be one element of a URL path;
//   - [Qualified]: keys of labels and annotations, and finalizers: "name" or "example.com/name";
//   - [LabelValue]: values of labels;
//   - [DataKey]: keys of config maps and secrets, which become files;
//   - [PortName]: names of ports.
//
// # Guarantees
//
// The sentences are kube-apiserver's, since clients and their users see them.
//
// # Goroutines
//
// None. The rules are pure functions.
//
// # Failure
//
// A rule does not fail: its answer is the list of mistakes.
//
// # Testing
//
// Sentences recorded from a kube-apiserver; a property compares the scanners with the regular expressions that the
// sentences quote.
//
// Next: package selector
package names
