package apiserver

import "orrery/restclient/kubeconfig"

// kubeconfigName is that of the cluster, the user and the context.
const kubeconfigName = "orrery"

// Kubeconfig is a configuration with which kubectl and its like reach the server as its administrator: with its token, and
// with a client certificate as well if it speaks TLS.
func (s *Server) Kubeconfig() []byte {
	text, err := s.kubeconfig().Marshal()
	if err != nil { // strings
		panic(err)
	}
	return text
}

// WriteKubeconfig writes [Server.Kubeconfig] to a file that only its owner may read. A reader sees the old file or the new
// one, never a part.
func (s *Server) WriteKubeconfig(path string) error { return s.kubeconfig().WriteFile(path) }

func (s *Server) kubeconfig() *kubeconfig.Config {
	cluster := kubeconfig.Cluster{Server: s.URL()}
	user := kubeconfig.User{Token: kubeconfig.Secret(s.identity.token)}
	if s.config.TLS {
		cluster.CertificateAuthorityData = s.identity.authority.PEM()
		user.ClientCertificateData = s.identity.clientCertificate
		user.ClientKeyData = s.identity.clientKey
	}
	return kubeconfig.Single(kubeconfigName, cluster, user, "default")
}
