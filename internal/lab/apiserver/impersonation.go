package apiserver

import (
	"net/http"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/authn"
)

// impersonate returns the user in whose name a request is made: kubectl --as. Everybody may do everything here, so everybody may be
// somebody else.
func impersonate(user User, header http.Header) (User, error) {
	name := header.Get("Impersonate-User")
	groups := slices.Clone(header.Values("Impersonate-Group"))
	if name == "" {
		if len(groups) > 0 || header.Get("Impersonate-Uid") != "" {
			return User{}, apierrors.BadRequest("requested impersonation of groups or a UID without impersonating a user")
		}
		return user, nil
	}
	if rest, ok := strings.CutPrefix(name, "system:serviceaccount:"); ok && len(groups) == 0 {
		namespace, _, _ := strings.Cut(rest, ":")
		groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
	}
	switch {
	case name == authn.Anonymous:
		groups = append(groups, authn.GroupUnauthenticated)
	case !slices.Contains(groups, authn.GroupAuthenticated):
		groups = append(groups, authn.GroupAuthenticated)
	}
	return User{Name: name, UID: header.Get("Impersonate-Uid"), Groups: groups}, nil
}
