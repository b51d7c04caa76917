// Package kubeconfig finds and reads the configuration of a client, its API server and credentials,
// as kubectl does.
//
// # Concept
//
// A kubeconfig file (Kubernetes documentation: "Organizing Cluster Access Using kubeconfig Files")
// lists clusters, users, and contexts that join one of each with a namespace. [Load] looks for
// files in this order and takes the first line that applies:
//
//  1. the requested file ([Options].Path, the flag --kubeconfig), alone; it must exist;
//  2. the files that the variable KUBECONFIG lists, merged; those that do not exist are skipped;
//  3. $HOME/.kube/config;
//  4. if these are empty: the service account of the pod in which the program runs.
//
// When files are merged, the first definition of a cluster, user or context wins, as a whole; so
// does the first current-context. Relative paths are relative to their file.
//
// Files that a kubeconfig names (tokenFile, client-certificate, certificate-authority and the like)
// are read again while they are in use. The kubeconfig itself is read once, as by kubectl.
//
// # Guarantees
//
// No text that this package produces, in errors, warnings or by way of fmt, contains a token,
// password, key, argument or environment value of a plugin, or any other quotation of a file.
// Fields that kubectl does not know are ignored.
//
// Where this package is stricter than kubectl: as-groups without as are an error (kubectl ignores
// them and uses all the rights of the user), and so are as-uid, as-user-extra, username, password
// and auth providers, which it does not support. Where it is more generous: credentials are also
// used over plain http to a loopback address (see credentials.Allowed).
//
// A tokenFile wins over a token. A token or a client certificate switches the exec plugin off.
//
// Next: package restclient/discovery
package kubeconfig
