package machine

// isStale reports whether a version is not newer than the position, so that its event has been seen
// before: a repeated or very late one. Applied, it would take the store back until the object
// changes again; an ADDED event would restore a deleted object. client-go applies it.
//
// A watch delivers versions in ascending order (API documentation: resource versions), and since
// Kubernetes 1.35 clients may compare them as numbers (KEP-5504). Never stale are versions that are
// not numbers, the initial events of a watch that began at no definite version, which are
// unordered, and the events of a server with one counter per object (see ownVersions).
func (s *state) isStale(rv string) bool {
	return notNewer(rv, s.ResourceVersion) && !s.synthetic && !s.ownVersions
}

// versioned is an object with a resource version.
type versioned interface{ GetResourceVersion() string }

// versionSample is how many objects of a list must have different versions.
const versionSample = 64

// ownVersions reports whether the versions of a list's objects do not come from one counter.
// kube-apiserver has one, the revision of its etcd. A non-standard aggregated API server may count
// the changes of each object. Then two objects may have the same version, or an object a greater
// one than the list, and an event with a small version may be new. With one counter neither is
// possible.
func ownVersions[T any](items []T, listVersion string) bool {
	seen := make(map[string]struct{}, min(len(items), versionSample))
	for i := range items {
		object, ok := any(items[i]).(versioned)
		if !ok {
			return false
		}
		rv := object.GetResourceVersion()
		if !isNumber(rv) {
			continue
		}
		if isNumber(listVersion) && !notNewer(rv, listVersion) {
			return true
		}
		if i < versionSample {
			if _, twice := seen[rv]; twice {
				return true
			}
			seen[rv] = struct{}{}
		}
	}
	return false
}

// notNewer compares versions as numbers, without parsing them. For nearly every newer version it
// compares only two lengths.
func notNewer(rv, than string) bool {
	if len(rv) > len(than) || len(rv) == len(than) && rv > than {
		return false
	}
	return isNumber(rv) && isNumber(than)
}

func isNumber(rv string) bool {
	if rv == "" || rv[0] == '0' {
		return false
	}
	for i := range len(rv) {
		if rv[i] < '0' || rv[i] > '9' {
			return false
		}
	}
	return true
}
