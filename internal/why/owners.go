package why

import (
	"path"
	"strings"
)

// Keeper describes the known owner of a finalizer.
type Keeper struct {
	// Pattern is the finalizer; * stands for any characters but /.
	Pattern string
	// Name is the program. Protects is what the finalizer keeps until the program has cleaned up.
	Name     string
	Protects string
	// Controller is the owner's name in kube-controller-manager, if it is a part of that program.
	Controller string
	// Programs are words that the names of its workloads, containers, images or commands have.
	// Default: Name.
	Programs []string
	// Outside: it runs outside the cluster and cannot be seen.
	Outside bool
	// Balancer: it keeps a load balancer, see C15.
	Balancer bool
}

// keepers are the finalizers of well-known programs. Their names are those in the programs'
// sources.
var keepers = []Keeper{
	{Pattern: claimProtection, Name: claimController, Protects: "a volume in use", Controller: claimController},
	{Pattern: jobTracking, Name: "job-controller", Protects: "the Job's count", Controller: "job-controller"},
	{Pattern: "resource.kubernetes.io/delete-protection", Name: "resourceclaim-controller", Protects: "a device in use", Controller: "resourceclaim-controller"},
	{Pattern: "foregroundDeletion", Name: collectorController, Protects: "dependents", Controller: collectorController},
	{Pattern: "orphan", Name: collectorController, Protects: "dependents", Controller: collectorController},

	{Pattern: "external-provisioner.volume.kubernetes.io/finalizer", Name: "csi-provisioner", Protects: "a disk"},
	{Pattern: "provisioner.storage.kubernetes.io/*", Name: "csi-provisioner", Protects: "the source of a clone"},
	{Pattern: "external-attacher/*", Name: "csi-attacher", Protects: "an attached disk"},
	{Pattern: "snapshot.storage.kubernetes.io/*", Name: "snapshot-controller", Protects: "a snapshot or its source"},

	{Pattern: balancerCleanup, Name: "cloud-controller-manager", Protects: "a load balancer", Balancer: true},
	{Pattern: "service.k8s.aws/resources", Name: "aws-load-balancer-controller", Protects: "a load balancer", Balancer: true},
	{Pattern: "ingress.k8s.aws/resources", Name: "aws-load-balancer-controller", Protects: "a load balancer"},
	{Pattern: "group.ingress.k8s.aws/*", Name: "aws-load-balancer-controller", Protects: "a load balancer"},
	{Pattern: "elbv2.k8s.aws/resources", Name: "aws-load-balancer-controller", Protects: "a target group"},
	{Pattern: "networking.gke.io/*", Name: "the GKE control plane", Protects: "a load balancer", Outside: true, Balancer: true},
	{Pattern: "gke.networking.io/*", Name: "the GKE control plane", Protects: "a load balancer", Outside: true, Balancer: true},

	{Pattern: "finalizers.*.services.k8s.aws/*", Name: "ack", Protects: "a cloud resource"},
	{Pattern: "serviceoperator.azure.com/finalizer", Name: "azureserviceoperator", Protects: "a cloud resource"},
	{Pattern: "cnrm.cloud.google.com/*", Name: "cnrm-controller-manager", Protects: "a cloud resource", Programs: []string{"cnrm"}},
	{Pattern: "finalizer.managedresource.crossplane.io", Name: "a provider of Crossplane", Protects: "a cloud resource", Programs: []string{"provider-"}},
	{Pattern: "finalizer.apiextensions.crossplane.io", Name: "crossplane", Protects: "composed resources"},
	{Pattern: "composite.apiextensions.crossplane.io", Name: "crossplane", Protects: "composed resources"},

	{Pattern: "resources-finalizer.argocd.argoproj.io", Name: "argocd-application-controller", Protects: "deployed objects", Programs: []string{"argocd"}},
	{Pattern: "workflows.argoproj.io/artifact-gc", Name: "workflow-controller", Protects: "artifacts"},
	{Pattern: "finalizers.fluxcd.io", Name: "Flux", Protects: "deployed objects", Programs: []string{
		"kustomize-controller", "helm-controller", "source-controller", "notification-controller", "image-",
	}},
	{Pattern: "operators.coreos.com/csv-cleanup", Name: "olm-operator", Protects: "an operator's objects"},

	{Pattern: "acme.cert-manager.io/finalizer", Name: "cert-manager", Protects: "DNS records"},
	{Pattern: "finalizer.acme.cert-manager.io", Name: "cert-manager", Protects: "DNS records"},
	{Pattern: "pushsecret.externalsecrets.io/finalizer", Name: "external-secrets", Protects: "remote secrets"},
	{Pattern: "finalizer.keda.sh", Name: "keda-operator", Protects: "scaling", Programs: []string{"keda"}},
	{Pattern: "strimzi.io/topic-operator", Name: "the topic operator of Strimzi", Protects: "a topic", Programs: []string{"strimzi", "entity-operator", "topic-operator"}},
	{Pattern: "istio-finalizer.install.istio.io", Name: "istio-operator", Protects: "the mesh"},

	{Pattern: "*.cluster.x-k8s.io", Name: "Cluster API", Protects: "machines", Programs: []string{"capi", "cap", "cluster-api"}},
	{Pattern: "*.ceph.rook.io", Name: "rook-ceph-operator", Protects: "storage", Programs: []string{"rook"}},
	{Pattern: "ceph.rook.io/disaster-protection", Name: "rook-ceph-operator", Protects: "storage", Programs: []string{"rook"}},
	{Pattern: "longhorn.io", Name: "longhorn-manager", Protects: "storage", Programs: []string{"longhorn"}},
	{Pattern: "velero.io/pod-volume-finalizer", Name: "velero", Protects: "a backup"},
	{Pattern: "kubevirt.io/virtualMachineControllerFinalize", Name: "virt-controller", Protects: "a virtual machine"},
	{Pattern: "kubevirt.io/foregroundDeleteVirtualMachine", Name: "virt-controller", Protects: "a virtual machine"},
	{Pattern: "foregroundDeleteVirtualMachine", Name: "virt-controller", Protects: "a virtual machine"},
	{Pattern: "kueue.x-k8s.io/resource-in-use", Name: "kueue-controller-manager", Protects: "quota", Programs: []string{"kueue"}},
	{Pattern: "kueue.x-k8s.io/managed", Name: "kueue-controller-manager", Protects: "quota", Programs: []string{"kueue"}},
	{Pattern: "ray.io/gcs-ft-redis-cleanup-finalizer", Name: "kuberay-operator", Protects: "Redis data", Programs: []string{"kuberay"}},
	{Pattern: "controller.cattle.io/namespace-auth", Name: "Rancher", Protects: "project rights", Outside: true},
	{Pattern: "wrangler.cattle.io/*", Name: "Rancher", Protects: "project rights", Outside: true},
}

const balancerCleanup = "service.kubernetes.io/load-balancer-cleanup"

// KeeperOf returns the known owner of a finalizer.
func KeeperOf(finalizer string) (Keeper, bool) {
	for _, keeper := range keepers {
		if matched, err := path.Match(keeper.Pattern, finalizer); err == nil && matched {
			if keeper.Programs == nil {
				keeper.Programs = []string{keeper.Name}
			}
			return keeper, true
		}
	}
	return Keeper{}, false
}

// creators are managers that write objects for people and own no finalizer.
var creators = []string{"kubectl", "helm", "argocd", "kustomize-controller", "helm-controller", "terraform", "pulumi", "fleet", "before-first-apply"}

// isCreator reports whether a manager writes objects on behalf of others.
func isCreator(manager string) bool {
	for _, creator := range creators {
		if strings.HasPrefix(strings.ToLower(manager), creator) {
			return true
		}
	}
	return false
}
