package credentials

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Impersonation asks the server to treat the request as somebody else's, which it does if the real user has the verb
// "impersonate" for it. The zero value asks for nothing. It must not be changed while it is in use.
//
// The headers are no secret. They are sent over any transport, because a request that lost them would be made with
// more rights than it was meant to have.
type Impersonation struct {
	noCertificate
	constant

	UserName string
	UID      string
	Groups   []string
	Extra    map[string][]string
}

// ErrNoImpersonatedUser says that uid, groups or extra are given without the user that they belong to: the server
// would refuse that, and leaving them out would make the request as the real user.
var ErrNoImpersonatedUser = errors.New("impersonation has a uid, groups or extra fields but no user name")

// Apply sets the Impersonate-... headers.
func (i *Impersonation) Apply(req *http.Request) error {
	if i.UserName == "" {
		if i.UID != "" || len(i.Groups) > 0 || len(i.Extra) > 0 {
			return ErrNoImpersonatedUser
		}
		return nil
	}
	req.Header.Set("Impersonate-User", i.UserName)
	if i.UID != "" {
		req.Header.Set("Impersonate-Uid", i.UID)
	}
	req.Header.Del("Impersonate-Group")
	for _, group := range i.Groups {
		req.Header.Add("Impersonate-Group", group)
	}
	for key, values := range i.Extra {
		name := "Impersonate-Extra-" + escapeHeaderName(key)
		req.Header.Del(name)
		for _, value := range values {
			req.Header.Add(name, value)
		}
	}
	return nil
}

// escapeHeaderName percent-encodes what may not stand in the name of an HTTP header (RFC 9110, "token"), and the percent
// sign itself. The server undoes it.
func escapeHeaderName(key string) string {
	var out strings.Builder
	for _, b := range []byte(key) {
		if b != '%' && isTokenByte(b) {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}

func isTokenByte(b byte) bool {
	switch {
	case '0' <= b && b <= '9', 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z':
		return true
	default:
		return strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0
	}
}
