package restclient

import (
	"strings"

	"orrery/restclient/api"
)

// ordinaryWords are words that every log, condition and error of a cluster is full of. One of them may be somebody's
// password, and is then not looked for: whoever reads the text could not tell it from the word, but where each "default"
// is missing the password can be read in what is missing; and a log without its words is of no use, nor is a refusal whose
// reason nobody understands any more.
var ordinaryWords = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`default kubernetes kube-system kube-public kube-node-lease minikube orrery localhost
		namespace namespaces configmap configmaps deployment deployments service services secret secrets endpoints events leases
		account system master masters server client cluster context config kubeconfig controller object resource resources
		password bearer anonymous authenticated unknown request response connection certificate version status
		finalizer finalizers metadata delete deleted deletecollection update create failed failure failures error errors
		success warning active terminating condition discovery remaining content reason message informer handler worker
		pending bookmark development production staging testing`) {
		words[word] = true
	}
	for _, reason := range []api.StatusReason{
		api.ReasonBadRequest, api.ReasonUnauthorized, api.ReasonForbidden, api.ReasonNotFound, api.ReasonMethodNotAllowed,
		api.ReasonNotAcceptable, api.ReasonAlreadyExists, api.ReasonConflict, api.ReasonGone, api.ReasonExpired,
		api.ReasonRequestEntityTooLarge, api.ReasonUnsupportedMediaType, api.ReasonInvalid, api.ReasonTooManyRequests,
		api.ReasonInternalError, api.ReasonServiceUnavailable, api.ReasonServerTimeout, api.ReasonTimeout, api.ReasonStoreReadError,
	} {
		words[strings.ToLower(string(reason))] = true
	}
	return words
}()

// isOrdinary tells whether a secret cannot be told from the words around it.
func isOrdinary(secret string) bool {
	return len(secret) < shortestSecret || ordinaryWords[strings.ToLower(secret)]
}
