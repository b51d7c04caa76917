package chaos

import (
	"context"
	"fmt"
	"net"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// obstacle is a set of objects that make the deletion of namespaces fail while they exist.
type obstacle []placed

// placed is an object of an obstacle.
type placed struct {
	gvr       schema.GroupVersionResource
	namespace string
	object    document
}

var (
	policies       = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}
	policyBindings = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"}
	webhooks       = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"}
	services       = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	apiServices    = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// deletionsOfContent selects the requests that the obstacles affect.
var deletionsOfContent = []any{document{
	"apiGroups": []any{""}, "apiVersions": []any{"*"}, "operations": []any{"DELETE"}, "resources": []any{"configmaps", "secrets"},
}}

// denial is a policy that forbids the replicas to delete content.
func denial() obstacle {
	const name = "chaos-denial"
	return obstacle{
		{gvr: policies, object: document{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": document{"name": name},
			"spec": document{
				"failurePolicy":    "Fail",
				"matchConstraints": document{"resourceRules": deletionsOfContent},
				"validations":      []any{document{"expression": "!request.userInfo.username.startsWith('chaos:')", "message": "chaos: not now"}},
			},
		}},
		{gvr: policyBindings, object: document{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": document{"name": name},
			"spec": document{"policyName": name, "validationActions": []any{"Deny"}},
		}},
	}
}

// silentWebhook is a webhook at an address that accepts connections and never answers.
func silentWebhook(address string, seconds int) obstacle {
	return obstacle{{gvr: webhooks, object: document{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": document{"name": "chaos-silence"},
		"webhooks": []any{document{
			"name": "silence.chaos.example.org", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Fail",
			"timeoutSeconds": int64(seconds), "clientConfig": document{"url": "https://" + address + "/"}, "rules": deletionsOfContent,
		}},
	}}}
}

// lostAPI is an aggregated API without a server: its discovery fails.
func lostAPI(port int) obstacle {
	const name, group = "chaos-lost", "lost.chaos.example.org"
	return obstacle{
		{gvr: services, namespace: metav1.NamespaceDefault, object: document{
			"apiVersion": "v1", "kind": "Service", "metadata": document{"name": name},
			"spec": document{"type": "ExternalName", "externalName": "localhost", "ports": []any{document{"port": int64(port)}}},
		}},
		{gvr: apiServices, object: document{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": document{"name": "v1." + group},
			"spec": document{
				"group": group, "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100), "insecureSkipTLSVerify": true,
				"service": document{"name": name, "namespace": metav1.NamespaceDefault, "port": int64(port)},
			},
		}},
	}
}

// place creates an obstacle. If the server does not answer there is none; that is a fault as well.
func (c *cluster) place(ctx context.Context, o obstacle) {
	for _, p := range o {
		_, _ = c.client.Resource(p.gvr).Namespace(p.namespace).Create(ctx, &unstructured.Unstructured{Object: p.object}, metav1.CreateOptions{})
	}
}

// clear removes an obstacle, whether or not this run created it.
func (c *cluster) clear(ctx context.Context, o obstacle) error {
	for _, p := range o {
		name := (&unstructured.Unstructured{Object: p.object}).GetName()
		if err := c.eventually(ctx, fmt.Sprintf("%s/%s is away", p.gvr.Resource, name), func(ctx context.Context) error {
			return ignore(c.client.Resource(p.gvr).Namespace(p.namespace).Delete(ctx, name, metav1.DeleteOptions{}), apierrors.IsNotFound)
		}); err != nil {
			return err
		}
	}
	return nil
}

// clearAll removes every obstacle again: a frozen server may have executed a cancelled creation
// after the deletion.
func (c *cluster) clearAll(ctx context.Context) error {
	for _, o := range []obstacle{denial(), silentWebhook("", 0), lostAPI(0)} {
		if err := c.clear(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// silentListener accepts connections, as the kernel does for any listener, and never answers.
func silentListener() (net.Listener, int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, err
	}
	return listener, listener.Addr().(*net.TCPAddr).Port, nil
}
