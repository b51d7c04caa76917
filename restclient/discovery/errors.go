package discovery

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orrery/restclient"
	"orrery/restclient/api"
)

// ErrGroupDiscoveryFailed says that some group versions could not be discovered. It comes beside what could be. It does
// not unwrap to its causes, which are many: that one group was not found must not make api.IsNotFound true of the whole.
type ErrGroupDiscoveryFailed struct {
	Groups map[api.GroupVersion]error
}

// Error lists the group versions in order. The text is that of Kubernetes, because it can be read in the conditions of
// a namespace: it must be the same each time that the same groups fail.
func (e *ErrGroupDiscoveryFailed) Error() string {
	texts := make([]string, 0, len(e.Groups))
	for gv, err := range e.Groups {
		texts = append(texts, fmt.Sprintf("%s: %v", gv, err))
	}
	slices.Sort(texts)
	return "unable to retrieve the complete list of server APIs: " + strings.Join(texts, ", ")
}

// StaleGroupVersionError says that the server which aggregates discovery has no current answer for a group version:
// usually the APIService behind it points at something that is not there.
type StaleGroupVersionError struct {
	GroupVersion api.GroupVersion
}

func (e *StaleGroupVersionError) Error() string {
	return "stale GroupVersion discovery: " + e.GroupVersion.String()
}

// UnexpectedAnswerError says that the server answered with something that is no discovery document.
type UnexpectedAnswerError struct {
	Path string
	Err  error
}

func (e *UnexpectedAnswerError) Error() string {
	return fmt.Sprintf("the server's answer to GET %s is no discovery document: %v", e.Path, e.Err)
}

func (e *UnexpectedAnswerError) Unwrap() error { return e.Err }

// withoutAttempts takes off how often a request was repeated: that number must not get into the text of a condition.
func withoutAttempts(err error) error {
	if attempts, ok := errors.AsType[*restclient.AttemptsError](err); ok {
		return attempts.Err
	}
	return err
}
