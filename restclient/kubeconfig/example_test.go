package kubeconfig_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orrery/restclient/kubeconfig"
)

// A program loads its configuration and prints where it came from. An error is a message for the
// user.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "config")
	demo := kubeconfig.Single("demo", kubeconfig.Cluster{Server: "http://127.0.0.1:8001"}, kubeconfig.User{Token: "s3cret"}, "team")
	if err := demo.WriteFile(path); err != nil {
		panic(err)
	}

	cfg, info, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	if err != nil {
		panic(err)
	}
	fmt.Println(cfg.Host, info.Context, info.Namespace)
	fmt.Println(cfg.Credentials)

	_, _, err = kubeconfig.Load(kubeconfig.Options{Path: path, Context: "prod"})
	_, wrong := errors.AsType[*kubeconfig.Error](err)
	fmt.Println(wrong)
	// Output:
	// http://127.0.0.1:8001 demo team
	// bearer token
	// true
}
