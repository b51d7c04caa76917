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
// The result is a restclient.Config, ready for restclient.New, and an [Info] with its source and
// warnings as data: this package writes to no terminal.
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
// Where this package is stricter than kubectl: as-groups, as-uid and as-user-extra without as are
// an error (kubectl ignores them and uses all the rights of the user), and so are auth providers.
// Where it is more generous: credentials are also used over plain http to a loopback address (see
// credentials.Allowed).
//
// A token beside a tokenFile is used while the file cannot be read. A token, password or client
// certificate switches the exec plugin off.
//
// # Goroutines
//
// None. Everything here is a function of files and environment. A [Config] is plain data and has no
// lock.
//
// # Failure
//
// The text of an error is one sentence with file, entry and advice, ready to be printed.
//
// # Testing
//
// The files in testdata are scenarios: files, environment, and the results. A fuzz test feeds the
// parser with damaged files and looks for secrets in the errors.
//
// Next: package restclient/discovery
package kubeconfig
