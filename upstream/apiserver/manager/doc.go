// Package manager tests kube-controller-manager on "lab serve" with three unmodified controllers:
// the namespace controller, and those for the default service account and the CA bundle. They use
// most of what controllers need of an API server: discovery, shared informers with streaming lists,
// metadata clients, deletion of collections, finalize and status. The results are checked through
// the API. The tests need bin/lab and bin/controlplane.
package manager
