package main

import "os"

// The rights that the program needs, and with -leader-elect those to its Lease.
func Example_rbac() {
	os.Args = []string{"greeter", "rbac", "-leader-elect", "kube-system/greeter"}
	main()
	// Output:
	// apiVersion: v1
	// kind: ServiceAccount
	// metadata:
	//   name: greeter
	//   namespace: default
	//   labels:
	//     app.kubernetes.io/name: greeter
	// ---
	// apiVersion: rbac.authorization.k8s.io/v1
	// kind: ClusterRole
	// metadata:
	//   name: greeter
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
	//   name: greeter
	//   labels:
	//     app.kubernetes.io/name: greeter
	// roleRef:
	//   apiGroup: rbac.authorization.k8s.io
	//   kind: ClusterRole
	//   name: greeter
	// subjects:
	//   - kind: ServiceAccount
	//     name: greeter
	//     namespace: default
	// ---
	// apiVersion: rbac.authorization.k8s.io/v1
	// kind: Role
	// metadata:
	//   name: greeter-leader-election
	//   namespace: kube-system
	//   labels:
	//     app.kubernetes.io/name: greeter
	// rules:
	//   # Hold the Lease; the other replicas watch it and take over when it is released.
	//   - apiGroups: [coordination.k8s.io]
	//     resources: [leases]
	//     resourceNames: [greeter]
	//     verbs: [get, list, update, watch]
	//   # Create the Lease. Kubernetes cannot limit this to a name.
	//   - apiGroups: [coordination.k8s.io]
	//     resources: [leases]
	//     verbs: [create]
	// ---
	// apiVersion: rbac.authorization.k8s.io/v1
	// kind: RoleBinding
	// metadata:
	//   name: greeter-leader-election
	//   namespace: kube-system
	//   labels:
	//     app.kubernetes.io/name: greeter
	// roleRef:
	//   apiGroup: rbac.authorization.k8s.io
	//   kind: Role
	//   name: greeter-leader-election
	// subjects:
	//   - kind: ServiceAccount
	//     name: greeter
	//     namespace: default
}
