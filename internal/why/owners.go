package why

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Keeper describes the known owner of a finalizer.
type Keeper struct {
	// Pattern is the finalizer; * stands for any characters but /.
	Pattern string
	// Types are patterns of the types from whose objects the program removes it; nil: of any type.
	// On an object of another type, another party has set it.
	Types []string
	// Name is the program. Protects is what the finalizer keeps until the program has cleaned up.
	Name     string
	Protects string
	// Controller is the owner's name in kube-controller-manager, if it is a part of that program.
	Controller string
	// Programs are words that the names of its workloads, containers, images or commands have.
	// Default: Name.
	Programs []string
	// Accounts are its service accounts, if they are called otherwise.
	Accounts []string
	// Outside: it runs outside the cluster and cannot be seen.
	Outside bool
	// Many: programs of that name may be strangers, such as the drivers of different disks.
	Many bool
	// Balancer: it keeps a load balancer, see C15.
	Balancer bool
}

// keepers are the finalizers of well-known programs. Their names are those in the programs'
// sources.
var keepers = []Keeper{
	{Pattern: claimProtection, Types: []string{"persistentvolumeclaims"}, Name: claimController, Protects: "a volume in use", Controller: claimController},
	{Pattern: jobTracking, Types: []string{"pods"}, Name: "job-controller", Protects: "the Job's count", Controller: "job-controller"},
	{Pattern: "resource.kubernetes.io/delete-protection", Types: []string{"resourceclaims.resource.k8s.io"}, Name: "resourceclaim-controller", Protects: "a device in use", Controller: "resourceclaim-controller"},
	{Pattern: "foregroundDeletion", Name: collectorController, Protects: "dependents", Controller: collectorController},
	{Pattern: "orphan", Name: collectorController, Protects: "dependents", Controller: collectorController},

	{Pattern: "external-provisioner.volume.kubernetes.io/finalizer", Name: "csi-provisioner", Protects: "a disk", Many: true},
	{Pattern: "provisioner.storage.kubernetes.io/*", Types: []string{"persistentvolumeclaims"}, Name: "csi-provisioner", Protects: "the source of a clone", Many: true},
	{Pattern: "external-attacher/*", Name: "csi-attacher", Protects: "an attached disk", Many: true},
	{Pattern: "snapshot.storage.kubernetes.io/*", Types: []string{"persistentvolumeclaims", "*.snapshot.storage.k8s.io"}, Name: "snapshot-controller", Protects: "a snapshot or its source"},
	{Pattern: "groupsnapshot.storage.kubernetes.io/*", Types: []string{"*.groupsnapshot.storage.k8s.io"}, Name: "snapshot-controller", Protects: "a group of snapshots"},

	{Pattern: balancerCleanup, Types: []string{"services"}, Name: "cloud-controller-manager", Protects: "a load balancer", Balancer: true},
	{Pattern: "service.k8s.aws/resources", Types: []string{"services"}, Name: "aws-load-balancer-controller", Protects: "a load balancer", Balancer: true},
	{Pattern: "ingress.k8s.aws/resources", Types: []string{"ingresses.networking.k8s.io"}, Name: "aws-load-balancer-controller", Protects: "a load balancer"},
	{Pattern: "group.ingress.k8s.aws/*", Types: []string{"ingresses.networking.k8s.io"}, Name: "aws-load-balancer-controller", Protects: "a load balancer"},
	{Pattern: "elbv2.k8s.aws/resources", Types: []string{"*.elbv2.k8s.aws"}, Name: "aws-load-balancer-controller", Protects: "a target group"},
	{Pattern: "networking.gke.io/*", Name: "the GKE control plane", Protects: "a load balancer", Outside: true, Balancer: true},
	{Pattern: "gke.networking.io/*", Name: "the GKE control plane", Protects: "a load balancer", Outside: true, Balancer: true},

	{Pattern: "finalizers.*.services.k8s.aws/*", Types: []string{"*.services.k8s.aws"}, Name: "ack", Protects: "a cloud resource", Many: true},
	{Pattern: "serviceoperator.azure.com/finalizer", Types: []string{"*.azure.com"}, Name: "azureserviceoperator-controller-manager", Protects: "a cloud resource", Programs: []string{"azureserviceoperator"}},
	{Pattern: "cnrm.cloud.google.com/*", Types: []string{"*.cnrm.cloud.google.com"}, Name: "cnrm-controller-manager", Protects: "a cloud resource", Programs: []string{"cnrm"}},
	{Pattern: "finalizer.managedresource.crossplane.io", Name: "a provider of Crossplane", Protects: "a cloud resource", Many: true, Programs: []string{"provider-"}},
	{Pattern: "finalizer.apiextensions.crossplane.io", Name: "crossplane", Protects: "composed resources"},
	{Pattern: "composite.apiextensions.crossplane.io", Name: "crossplane", Protects: "composed resources"},

	{Pattern: "resources-finalizer.argocd.argoproj.io", Types: []string{"*.argoproj.io"}, Name: "argocd-application-controller", Protects: "deployed objects", Programs: []string{"argocd"}},
	{Pattern: "workflows.argoproj.io/artifact-gc", Types: []string{"*.argoproj.io"}, Name: "workflow-controller", Protects: "artifacts"},
	{Pattern: "finalizers.fluxcd.io", Types: []string{"*.kustomize.toolkit.fluxcd.io"}, Name: "kustomize-controller", Protects: "deployed objects"},
	{Pattern: "finalizers.fluxcd.io", Types: []string{"*.helm.toolkit.fluxcd.io"}, Name: "helm-controller", Protects: "deployed objects"},
	{Pattern: "finalizers.fluxcd.io", Types: []string{"*.source.toolkit.fluxcd.io"}, Name: "source-controller", Protects: "stored artifacts"},
	{Pattern: "finalizers.fluxcd.io", Types: []string{"*.notification.toolkit.fluxcd.io"}, Name: "notification-controller", Protects: "a receiver of events"},
	{Pattern: "finalizers.fluxcd.io", Types: []string{"*.image.toolkit.fluxcd.io"}, Name: "Flux", Protects: "the scans of images", Programs: []string{
		"image-reflector-controller", "image-automation-controller",
	}},
	{Pattern: "operators.coreos.com/csv-cleanup", Types: []string{"*.operators.coreos.com"}, Name: "olm-operator", Protects: "an operator's objects"},

	{Pattern: "acme.cert-manager.io/finalizer", Types: []string{"*.acme.cert-manager.io"}, Name: "cert-manager", Protects: "DNS records"},
	{Pattern: "finalizer.acme.cert-manager.io", Types: []string{"*.acme.cert-manager.io"}, Name: "cert-manager", Protects: "DNS records"},
	{Pattern: "*.externalsecrets.io/finalizer", Types: []string{"*.external-secrets.io"}, Name: "external-secrets", Protects: "remote secrets or credentials"},
	{Pattern: "finalizer.keda.sh", Types: []string{"*.keda.sh"}, Name: "keda-operator", Protects: "scaling", Programs: []string{"keda"}},
	{Pattern: "strimzi.io/topic-operator", Types: []string{"*.strimzi.io"}, Name: "the topic operator of Strimzi", Protects: "a topic", Programs: []string{"entity-operator", "topic-operator"}},
	{Pattern: "istio-finalizer.install.istio.io", Types: []string{"*.istio.io"}, Name: "istio-operator", Protects: "the mesh"},

	{Pattern: "*.infrastructure.cluster.x-k8s.io", Types: []string{"*.cluster.x-k8s.io"}, Name: "an infrastructure provider of Cluster API", Protects: "machines", Many: true, Programs: []string{"capa", "capd", "capg", "caph", "capm3", "capo", "capv", "capx", "capz"}},
	{Pattern: "*.addons.cluster.x-k8s.io", Types: []string{"*.cluster.x-k8s.io"}, Name: "an add-on provider of Cluster API", Protects: "Helm releases", Many: true, Programs: []string{"caaph", "caapf"}},
	{Pattern: "*.controlplane.cluster.x-k8s.io", Types: []string{"*.cluster.x-k8s.io"}, Name: "a control plane provider of Cluster API", Protects: "machines", Many: true, Programs: []string{"control-plane"}},
	{Pattern: "cluster.cluster.x-k8s.io", Types: []string{"*.cluster.x-k8s.io"}, Name: "capi-controller-manager", Protects: "machines", Programs: []string{"capi", "cluster-api"}},
	{Pattern: "machine*.cluster.x-k8s.io", Types: []string{"*.cluster.x-k8s.io"}, Name: "capi-controller-manager", Protects: "machines", Programs: []string{"capi", "cluster-api"}},
	{Pattern: "*.cluster.x-k8s.io", Types: []string{"*.cluster.x-k8s.io"}, Name: "a provider of Cluster API", Protects: "machines", Many: true, Programs: []string{"capi", "cluster-api"}},
	{Pattern: "*.ceph.rook.io", Types: []string{"*.ceph.rook.io"}, Name: "rook-ceph-operator", Protects: "storage", Programs: []string{"rook"}, Accounts: []string{"rook-ceph-system"}},
	{Pattern: "ceph.rook.io/disaster-protection", Name: "rook-ceph-operator", Protects: "storage", Programs: []string{"rook"}},
	{Pattern: "longhorn.io", Types: []string{"*.longhorn.io"}, Name: "longhorn-manager", Protects: "storage", Programs: []string{"longhorn"}, Accounts: []string{"longhorn-service-account"}},
	{Pattern: "velero.io/pod-volume-finalizer", Types: []string{"*.velero.io"}, Name: "node-agent", Protects: "a backup", Programs: []string{"node-agent", "restic"}},
	{Pattern: "kubevirt.io/virtualMachineControllerFinalize", Types: []string{"*.kubevirt.io"}, Name: "virt-controller", Protects: "a virtual machine"},
	{Pattern: "kubevirt.io/foregroundDeleteVirtualMachine", Types: []string{"*.kubevirt.io"}, Name: "virt-controller", Protects: "a virtual machine"},
	{Pattern: "foregroundDeleteVirtualMachine", Types: []string{"*.kubevirt.io"}, Name: "virt-controller", Protects: "a virtual machine"},
	{Pattern: "kueue.x-k8s.io/resource-in-use", Types: []string{"*.kueue.x-k8s.io"}, Name: "kueue-controller-manager", Protects: "quota", Programs: []string{"kueue"}},
	{Pattern: "kueue.x-k8s.io/managed", Types: []string{"pods"}, Name: "kueue-controller-manager", Protects: "quota", Programs: []string{"kueue"}},
	{Pattern: "ray.io/gcs-ft-redis-cleanup-finalizer", Types: []string{"*.ray.io"}, Name: "kuberay-operator", Protects: "Redis data", Programs: []string{"kuberay", "ray-operator"}},
	{Pattern: "controller.cattle.io/namespace-auth", Name: "Rancher", Protects: "project rights", Outside: true},
	{Pattern: "wrangler.cattle.io/*", Name: "Rancher", Protects: "project rights", Outside: true},
}

const balancerCleanup = "service.kubernetes.io/load-balancer-cleanup"

// Keeper returns the known owner of a finalizer, if that is one which handles the type.
func (h Held) Keeper() (Keeper, bool) {
	at := slices.IndexFunc(keepers, func(k Keeper) bool {
		return matches(k.Pattern, h.Finalizer) && (k.Types == nil || slices.ContainsFunc(k.Types, func(t string) bool { return matches(t, h.Type.Name()) }))
	})
	if at < 0 {
		return Keeper{}, false
	}
	keeper := keepers[at]
	if keeper.Programs == nil {
		keeper.Programs = []string{keeper.Name}
	}
	return keeper, true
}

// foreign says which program has the finalizer on objects of other types; "" for none.
func (h Held) foreign() string {
	at := slices.IndexFunc(keepers, func(k Keeper) bool { return matches(k.Pattern, h.Finalizer) })
	if at < 0 {
		return ""
	}
	return fmt.Sprintf(": %s removes it from %s only", keepers[at].Name, listed(keepers[at].Types))
}

func matches(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}

// creators are managers that write objects for people or from templates, and own no finalizer.
var creators = []string{
	"kubectl", "helm", "argocd", "kustomize-controller", "helm-controller", "terraform", "pulumi", "fleet", "before-first-apply", "velero", "k9s",
	"oc", "flux", "rancher", "kapp", "kpt", "skaffold", "werf", "kube-controller-manager", "kube-apiserver",
}

// isCreator reports whether a manager writes objects on behalf of others.
func isCreator(manager string) bool {
	manager = strings.ToLower(manager)
	return slices.ContainsFunc(creators, func(creator string) bool {
		return manager == creator || len(creator) > 3 && strings.HasPrefix(manager, creator)
	})
}
