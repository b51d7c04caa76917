package logs

import "orrery/restclient/kubeconfig"

// KubeconfigChanged tells that the kubeconfig in use was written anew: what was renewed is used, what is not followed is a
// warning.
func (l *Logger) KubeconfigChanged(change kubeconfig.Change) {
	event := l.Warn()
	if change.Kind == kubeconfig.CredentialsRenewed || change.Kind == kubeconfig.AuthorityRenewed {
		event = l.Info()
	}
	event.Str("change", change.Text).Msg("the kubeconfig has changed")
}
