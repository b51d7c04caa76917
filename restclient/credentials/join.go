package credentials

import (
	"crypto/tls"
	"net/http"

	"orrery/restclient"
)

// Join combines several kinds of credentials: a client certificate with impersonation, say. They are asked in order.
// The first that sets the Authorization header decides it, the first that has a client certificate decides that. Nil
// entries are left out; nil is returned if nothing remains.
func Join(list ...restclient.Credentials) restclient.Credentials {
	var joined joined
	for _, c := range list {
		if c != nil {
			joined = append(joined, c)
		}
	}
	switch len(joined) {
	case 0:
		return nil
	case 1:
		return joined[0]
	default:
		return joined
	}
}

type joined []restclient.Credentials

func (j joined) Apply(req *http.Request) error {
	for _, c := range j {
		if err := c.Apply(req); err != nil {
			return err
		}
	}
	return nil
}

func (j joined) Unauthorized(req *http.Request) {
	for _, c := range j {
		c.Unauthorized(req)
	}
}

func (j joined) ClientCertificate() (*tls.Certificate, error) {
	for _, c := range j {
		if cert, err := c.ClientCertificate(); cert != nil || err != nil {
			return cert, err
		}
	}
	return nil, nil
}
