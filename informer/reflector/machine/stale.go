package machine

// isStale reports whether a version is not newer than the position, so that whatever comes with it has been seen already: an event
// that was sent twice, or long after its time. Applied as if it were news it would take the store back, and would keep it there until the
// object changes again; an ADDED event would bring back what is deleted. client-go applies it.
//
// A watch delivers versions in rising order (API documentation: resource versions), and since Kubernetes 1.35 clients may compare them as
// numbers (KEP-5504). What is no number, as a server may have it that does not keep to that, is always news, and so are the initial
// events of a watch that began at no definite version, which come in no order, and whatever a server sends that numbers its objects
// one by one (see ownVersions).
func (s *state) isStale(rv string) bool {
	return notNewer(rv, s.ResourceVersion) && !s.synthetic && !s.ownVersions
}

// versioned is an object that knows its version.
type versioned interface{ GetResourceVersion() string }

// versionSample is how many objects of a list have to have different versions.
const versionSample = 64

// ownVersions reports whether the objects of a list have version numbers that do not come from one counter, as those of
// kube-apiserver do, which counts the changes of its etcd. An aggregated API server of its own making may count the changes of each
// object. Then two objects have the same version, or one has a greater one than the list, and an event with a small version is
// news all the same. With one counter neither can be.
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

// notNewer compares versions as numbers, without reading them. It costs a comparison of two lengths for nearly every
// version that is newer.
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
