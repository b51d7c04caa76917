package main

import (
	"net/http"

	"orrery/internal/observe/logs"
	"orrery/restclient"
)

// hidden are credentials whose secrets the log learns of, so that it never shows them: not even where a server has put
// them into an answer that looks harmless.
type hidden struct {
	restclient.Credentials
	logger *logs.Logger
}

// hideFrom makes credentials hidden; none stay none.
func hideFrom(logger *logs.Logger, credentials restclient.Credentials) restclient.Credentials {
	if credentials == nil {
		return nil
	}
	return hidden{Credentials: credentials, logger: logger}
}

func (h hidden) Apply(request *http.Request) error {
	err := h.Credentials.Apply(request)
	for _, secret := range restclient.SecretsOf(request) {
		h.logger.Hide(secret)
	}
	return err
}
