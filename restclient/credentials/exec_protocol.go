package credentials

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"orrery/restclient/api"
)

// The versions of the protocol between client and plugin.
const (
	ExecV1      = "client.authentication.k8s.io/v1"
	ExecV1beta1 = "client.authentication.k8s.io/v1beta1"
)

const execKind = "ExecCredential"

// ExecCluster tells a plugin the cluster that the credentials are for.
type ExecCluster struct {
	Server                   string `json:"server"`
	TLSServerName            string `json:"tls-server-name,omitempty"`
	InsecureSkipTLSVerify    bool   `json:"insecure-skip-tls-verify,omitempty"`
	CertificateAuthorityData []byte `json:"certificate-authority-data,omitempty"`
	ProxyURL                 string `json:"proxy-url,omitempty"`
	DisableCompression       bool   `json:"disable-compression,omitempty"`

	// Config is the extension "client.authentication.k8s.io/exec" of the cluster in the kubeconfig.
	Config json.RawMessage `json:"config,omitempty"`
}

// execRequest is the content of the environment variable KUBERNETES_EXEC_INFO.
type execRequest struct {
	Kind       string          `json:"kind"`
	APIVersion string          `json:"apiVersion"`
	Spec       execRequestSpec `json:"spec"`
}

type execRequestSpec struct {
	Cluster     *ExecCluster `json:"cluster,omitempty"`
	Interactive bool         `json:"interactive"`
}

// execAnswer is the output of the plugin.
type execAnswer struct {
	Kind       string            `json:"kind"`
	APIVersion string            `json:"apiVersion"`
	Status     *execAnswerStatus `json:"status"`
}

type execAnswerStatus struct {
	ExpirationTimestamp   string `json:"expirationTimestamp"`
	Token                 string `json:"token"`
	ClientCertificateData string `json:"clientCertificateData"`
	ClientKeyData         string `json:"clientKeyData"`
}

func encodeExecRequest(version string, cluster *ExecCluster, interactive bool) (string, error) {
	data, err := json.Marshal(execRequest{
		Kind:       execKind,
		APIVersion: version,
		Spec:       execRequestSpec{Cluster: cluster, Interactive: interactive},
	})
	return string(data), err
}

// decodeExecAnswer returns the credential, or a problem. The problem does not quote the output,
// which is secret; nor does it contain errors of encoding/json, which quote values.
func decodeExecAnswer(version string, output []byte) (credential *execCredential, problem string) {
	var answer execAnswer
	switch err := api.Unmarshal(output, &answer); {
	case len(bytes.TrimSpace(output)) == 0:
		return nil, "printed nothing on standard output"
	case err != nil:
		return nil, "did not print an " + execKind + " in JSON"
	case answer.Kind != execKind:
		return nil, "printed JSON that is not of kind " + execKind
	case answer.APIVersion != version:
		return nil, "printed an " + execKind + " of another version than " + version + ": correct apiVersion in its configuration"
	case answer.Status == nil:
		return nil, "printed an " + execKind + " without status"
	}
	return answer.Status.credential()
}

func (s *execAnswerStatus) credential() (*execCredential, string) {
	credential := &execCredential{token: strings.TrimSpace(s.Token), obtained: time.Now()}
	if checkToken(credential.token) != nil {
		return nil, "printed a token that cannot stand in an HTTP header"
	}
	if s.ExpirationTimestamp != "" {
		expires, err := time.Parse(time.RFC3339, s.ExpirationTimestamp)
		if err != nil {
			return nil, "printed an expirationTimestamp that is not an RFC 3339 time"
		}
		credential.expires = expires
	}
	hasCert, hasKey := s.ClientCertificateData != "", s.ClientKeyData != ""
	switch {
	case hasCert != hasKey:
		return nil, "printed only one of clientCertificateData and clientKeyData"
	case !hasCert && credential.token == "":
		return nil, "printed neither a token nor a client certificate"
	case !hasCert:
		return credential, ""
	}
	credential.cert, credential.key = []byte(s.ClientCertificateData), []byte(s.ClientKeyData)
	var err error
	if credential.certificate, err = parsePair(credential.cert, credential.key); err != nil {
		return nil, "printed a client certificate and key that cannot be used together"
	}
	return credential, ""
}
