package credentials_test

import (
	"fmt"
	"net/http"
	"os"

	"orrery/restclient/credentials"
)

// A token from a file, and a request with impersonation.
func Example() {
	file, err := os.CreateTemp("", "token")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	fmt.Fprintln(file, "t0ken")
	file.Close()

	token, err := credentials.NewTokenFile(credentials.TokenFileConfig{Path: file.Name()})
	if err != nil {
		panic(err)
	}
	identity := credentials.Join(token, &credentials.Impersonation{UserName: "jane"})

	req, _ := http.NewRequest(http.MethodGet, "https://10.0.0.1:6443/api", nil)
	fmt.Println(identity.Apply(req))
	fmt.Println(req.Header.Get("Authorization"), req.Header.Get("Impersonate-User"))

	req, _ = http.NewRequest(http.MethodGet, "http://10.0.0.1:8080/api", nil)
	fmt.Println(identity.Apply(req))
	// Output:
	// <nil>
	// Bearer t0ken jane
	// credentials are not sent to 10.0.0.1:8080 over plain http: use https, or "kubectl proxy" on this machine
}
