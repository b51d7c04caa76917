package view

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
)

// tokenBits is the size of the random token in the page's address.
const tokenBits = 128

// newToken returns a random token for one run.
func newToken() string {
	var random [tokenBits / 8]byte
	_, _ = rand.Read(random[:]) // never fails, see its documentation
	return hex.EncodeToString(random[:])
}

// withToken passes requests to next whose parameter "token" is the right one. Any page in any
// browser of this machine can send requests to a loopback port, but only one that was opened with
// the printed address knows the token.
func withToken(token string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("token")), []byte(token)) != 1 {
			http.Error(w, "the token is missing or wrong: open the address that the program printed", http.StatusForbidden)
			return
		}
		next(w, r)
	}
}
