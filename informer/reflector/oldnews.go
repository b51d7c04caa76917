package reflector

// oldNews tells whether a version is not newer than the position, so that whatever comes with it has been seen already: an event
// that was sent twice, or long after its time. Applied as if it were news it would take the store back, and would keep it there until the
// object changes again; an ADDED event would bring back what is deleted. client-go applies it.
//
// A watch delivers versions in rising order (API documentation: resource versions), and since Kubernetes 1.35 clients may compare them as
// numbers (KEP-5504). What is no number, as a server may have it that does not keep to that, is always news, and so are the initial
// events of a watch that began at no definite version, which come in no order.
func (s *state) oldNews(rv string) bool {
	return !s.synthetic && notNewer(rv, s.lastRV)
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
