package main

import "os"

// The rights that the program needs, with -leader-elect those to its Lease, for an account by name.
func Example_rbac() {
	os.Args = []string{"greeter", "rbac", "-leader-elect", "kube-system/greeter",
		"-service-account", "tools/hello"}
	main()
	// Output:
	// apiVersion: v1
	// kind: ServiceAccount
	// metadata:
	//   name: hello
	//   namespace: tools
	//   labels:
	//     app.kubernetes.io/name: greeter
	// ---
	// apiVersion: rbac.authorization.k8s.io/v1
	// kind: ClusterRole
	// metadata:
	//   name: hello
	//   labels:
	//     app.kubernetes.io/name: greeter
	// rules:
	//   # Watched in all namespaces.
	//   - apiGroups: [""]
	//     resources: [namespaces]
	//     verbs: [list, watch]
	//   # Watched in all namespaces. Write the greetings.
	//   - apiGroups: [""]
	//     resources: [configmaps]
	//     verbs: [list, watch, create, update]
	// ---
	// apiVersion: rbac.authorization.k8s.io/v1
	// kind: ClusterRoleBinding
	// metadata:
	//   name: hello
	//   labels:
	//     app.kubernetes.io/name: greeter
	// roleRef:
	//   apiGroup: rbac.authorization.k8s.io
	//   kind: ClusterRole
	//   name: hello
	// subjects:
	//   - kind: ServiceAccount
	//     name: hello
	//     namespace: tools
	// ---
	// apiVersion: rbac.authorization.k8s.io/v1
	// kind: Role
	// metadata:
	//   name: hello-leader-election
	//   namespace: kube-system
	//   labels:
	//     app.kubernetes.io/name: greeter
	// rules:
	//   # Hold the Lease; the other replicas watch it and take over when it is released.
	//   - apiGroups: [coordination.k8s.io]
	//     resources: [leases]
	//     resourceNames: [greeter]
	//     verbs: [get, update, watch]
	//   # Create the Lease. Kubernetes cannot limit this to a name.
	//   - apiGroups: [coordination.k8s.io]
	//     resources: [leases]
	//     verbs: [create]
	// ---
	// apiVersion: rbac.authorization.k8s.io/v1
	// kind: RoleBinding
	// metadata:
	//   name: hello-leader-election
	//   namespace: kube-system
	//   labels:
	//     app.kubernetes.io/name: greeter
	// roleRef:
	//   apiGroup: rbac.authorization.k8s.io
	//   kind: Role
	//   name: hello-leader-election
	// subjects:
	//   - kind: ServiceAccount
	//     name: hello
	//     namespace: tools
}
