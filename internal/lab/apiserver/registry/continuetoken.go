package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/store"
)

// continueToken is the position of the next page of a list. It is opaque to clients.
type continueToken struct {
	Format string `json:"v"`
	// Version is the version of the first page, or -1 for the latest. A client gets -1 after the
	// history was compacted.
	Version int64 `json:"rv"`
	// Start is the key after the last one of the previous page.
	Start string `json:"start"`
}

const (
	tokenFormat = "meta.k8s.io/v1"
	// inconsistent is the version of tokens that continue with the latest state.
	inconsistent = -1
)

func (t continueToken) String() string {
	data, _ := json.Marshal(t) // cannot fail
	return base64.RawURLEncoding.EncodeToString(data)
}

// tokenAfter returns the token of the page that starts after last.
func tokenAfter(version int64, last store.Key) string {
	return continueToken{tokenFormat, version, "/" + last.String() + "\x00"}.String()
}

// after returns the key before the page. Tokens of a list of one namespace may omit the namespace.
func (t continueToken) after(namespace string) store.Key {
	start := strings.TrimSuffix(strings.TrimPrefix(t.Start, "/"), "\x00")
	if before, name, found := strings.Cut(start, "/"); found {
		return store.Key{Namespace: before, Name: name}
	}
	return store.Key{Namespace: namespace, Name: start}
}

func parseToken(text string) (continueToken, error) {
	token, err := decodeToken(text)
	if err != nil {
		return token, apierrors.BadRequest("invalid continue token: continue key is not valid: " + err.Error())
	}
	return token, nil
}

func decodeToken(text string) (continueToken, error) {
	var token continueToken
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return token, err
	}
	if err := json.Unmarshal(data, &token); err != nil {
		return token, err
	}
	switch key := "/" + strings.TrimPrefix(token.Start, "/"); {
	case token.Format != tokenFormat:
		return token, fmt.Errorf("server does not recognize this encoded version %s", token.Format)
	case token.Version == 0:
		return token, fmt.Errorf("incorrect encoded start resourceVersion (version %s)", tokenFormat)
	case token.Start == "":
		return token, fmt.Errorf("encoded start key empty (version %s)", tokenFormat)
	case path.Clean(key) != key:
		return token, errors.New(token.Start)
	}
	return token, nil
}

// tooOld returns the 410 for a token whose version is compacted. It carries another token, with
// which the client may read the rest in its latest state.
func (t continueToken) tooOld() error {
	err := apierrors.Expired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to retrieve " +
		"the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that " +
		"were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	t.Version = inconsistent
	err.Status.Continue = t.String()
	return err
}
