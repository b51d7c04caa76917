package secondparty

import "orrery/nsctl"

// Token is what the second party has in spec.finalizers, the design document's.
const Token = "openshift.com/origin"

// DeleterConfig returns the configuration of the second party's deleter.
func DeleterConfig(namespaces nsctl.NamespaceClient, storage *Storage) nsctl.DeleterConfig {
	return nsctl.DeleterConfig{Namespaces: namespaces, Content: storage, Discovery: storage, FinalizerToken: Token}
}
