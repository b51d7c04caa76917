package logs

import (
	"fmt"

	"orrery/internal/lab/apiserver"
	"orrery/restclient"
)

// Served returns hooks that tell what is asked of the built-in API server.
func (l *Logger) Served() *apiserver.Trace {
	return &apiserver.Trace{
		RequestStarted: func(info apiserver.RequestInfo) {
			l.at(verbosityRequests).Str("method", info.Method).Str("path", restclient.Redact(info.URI)).
				Str("verb", info.Verb).Str("user", info.User).Str("client", info.UserAgent).Msg("request begins")
		},
		RequestDone: func(info apiserver.RequestInfo, result apiserver.RequestResult) {
			l.at(verbosityPasses).Str("method", info.Method).Str("path", restclient.Redact(info.URI)).Int("code", result.Code).
				Str("verb", info.Verb).Str("user", info.User).Str("client", info.UserAgent).
				Int64("bytes", result.Bytes).Dur("took_s", rounded(result.Duration)).Msg("request served")
		},
		Panicked: func(info apiserver.RequestInfo, value any, stack []byte) {
			l.Error().Str("method", info.Method).Str("path", restclient.Redact(info.URI)).Str("panic", restclient.Redact(fmt.Sprint(value))).Bytes("stack", stack).
				Msg("a handler panicked; the server goes on")
		},
	}
}
