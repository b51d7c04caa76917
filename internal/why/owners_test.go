package why_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// Each well-known program is found by its finalizer on the type that it handles.
func TestOwnersOfTheirTypes(t *testing.T) {
	for finalizer, test := range map[string]struct{ resource, owner string }{
		"kubernetes.io/pvc-protection":                                             {"persistentvolumeclaims", "persistentvolumeclaim-protection-controller"},
		"batch.kubernetes.io/job-tracking":                                         {"pods", "job-controller"},
		"resource.kubernetes.io/delete-protection":                                 {"resourceclaims.resource.k8s.io", "resourceclaim-controller"},
		"provisioner.storage.kubernetes.io/cloning-protection":                     {"persistentvolumeclaims", "csi-provisioner"},
		"snapshot.storage.kubernetes.io/pvc-as-source-protection":                  {"persistentvolumeclaims", "snapshot-controller"},
		"snapshot.storage.kubernetes.io/volumesnapshot-bound-protection":           {"volumesnapshots.snapshot.storage.k8s.io", "snapshot-controller"},
		"service.kubernetes.io/load-balancer-cleanup":                              {"services", "cloud-controller-manager"},
		"service.k8s.aws/resources":                                                {"services", "aws-load-balancer-controller"},
		"ingress.k8s.aws/resources":                                                {"ingresses.networking.k8s.io", "aws-load-balancer-controller"},
		"group.ingress.k8s.aws/shared":                                             {"ingresses.networking.k8s.io", "aws-load-balancer-controller"},
		"elbv2.k8s.aws/resources":                                                  {"targetgroupbindings.elbv2.k8s.aws", "aws-load-balancer-controller"},
		"finalizers.s3.services.k8s.aws/Bucket":                                    {"buckets.s3.services.k8s.aws", "ack"},
		"serviceoperator.azure.com/finalizer":                                      {"storageaccounts.storage.azure.com", "azureserviceoperator-controller-manager"},
		"cnrm.cloud.google.com/finalizer":                                          {"storagebuckets.storage.cnrm.cloud.google.com", "cnrm-controller-manager"},
		"resources-finalizer.argocd.argoproj.io":                                   {"applications.argoproj.io", "argocd-application-controller"},
		"workflows.argoproj.io/artifact-gc":                                        {"workflows.argoproj.io", "workflow-controller"},
		"finalizers.fluxcd.io":                                                     {"kustomizations.kustomize.toolkit.fluxcd.io", "kustomize-controller"},
		"operators.coreos.com/csv-cleanup":                                         {"clusterserviceversions.operators.coreos.com", "olm-operator"},
		"acme.cert-manager.io/finalizer":                                           {"challenges.acme.cert-manager.io", "cert-manager"},
		"finalizer.acme.cert-manager.io":                                           {"challenges.acme.cert-manager.io", "cert-manager"},
		"pushsecret.externalsecrets.io/finalizer":                                  {"pushsecrets.external-secrets.io", "external-secrets"},
		"generatorstate.externalsecrets.io/finalizer":                              {"generatorstates.generators.external-secrets.io", "external-secrets"},
		"groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-bound-protection": {"volumegroupsnapshots.groupsnapshot.storage.k8s.io", "snapshot-controller"},
		"finalizer.keda.sh":                                                        {"scaledobjects.keda.sh", "keda-operator"},
		"strimzi.io/topic-operator":                                                {"kafkatopics.kafka.strimzi.io", "the topic operator of Strimzi"},
		"istio-finalizer.install.istio.io":                                         {"istiooperators.install.istio.io", "istio-operator"},
		"machine.cluster.x-k8s.io":                                                 {"machines.cluster.x-k8s.io", "capi-controller-manager"},
		"helmchartproxy.addons.cluster.x-k8s.io":                                   {"helmchartproxies.addons.cluster.x-k8s.io", "an add-on provider of Cluster API"},
		"kubeadm.controlplane.cluster.x-k8s.io":                                    {"kubeadmcontrolplanes.controlplane.cluster.x-k8s.io", "a control plane provider of Cluster API"},
		"awsmachine.infrastructure.cluster.x-k8s.io":                               {"awsmachines.infrastructure.cluster.x-k8s.io", "an infrastructure provider of Cluster API"},
		"cephcluster.ceph.rook.io":                                                 {"cephclusters.ceph.rook.io", "rook-ceph-operator"},
		"ceph.rook.io/disaster-protection":                                         {"secrets", "rook-ceph-operator"},
		"longhorn.io":                                                              {"volumes.longhorn.io", "longhorn-manager"},
		"velero.io/pod-volume-finalizer":                                           {"podvolumebackups.velero.io", "node-agent"},
		"kubevirt.io/virtualMachineControllerFinalize":                             {"virtualmachines.kubevirt.io", "virt-controller"},
		"kubevirt.io/foregroundDeleteVirtualMachine":                               {"virtualmachineinstances.kubevirt.io", "virt-controller"},
		"foregroundDeleteVirtualMachine":                                           {"virtualmachineinstances.kubevirt.io", "virt-controller"},
		"kueue.x-k8s.io/resource-in-use":                                           {"workloads.kueue.x-k8s.io", "kueue-controller-manager"},
		"kueue.x-k8s.io/managed":                                                   {"pods", "kueue-controller-manager"},
		"ray.io/gcs-ft-redis-cleanup-finalizer":                                    {"rayclusters.ray.io", "kuberay-operator"},
	} {
		resource, group, _ := strings.Cut(test.resource, ".")
		keeper, listed := why.Held{Type: &why.Type{Group: group, Resource: resource}, Finalizer: finalizer}.Keeper()
		assert.True(t, listed, "%s on %s", finalizer, test.resource)
		assert.Equal(t, test.owner, keeper.Name, finalizer)
	}
}

// An operator adds the owners of further finalizers, which count before those of the table.
func TestFurtherFinalizers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "finalizers.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("- {finalizer: 'example.com/*', types: ['*.example.com'], owner: queue-operator, protects: a queue}\n")
	known, err := why.LoadKeepers(path)
	require.NoError(t, err)
	e := calm(orphan("queues", "example.com", "example.com/x", "", since("deployment", "queue-operator", 0, time.Hour)))
	e.Finalizers = known
	found := find(why.Judge(e), "C04")
	require.NotNil(t, found)
	assert.Equal(t, why.Proven, found.Certainty)
	assert.Equal(t, "queue-operator removes example.com/x, and its deployment ops/queue-operator has no ready pod; 1 queue.example.com waits", found.Says)

	for text, problem := range map[string]string{
		"- {finalizer: a}":                           "row 1 has no finalizer or no owner",
		"- {finalizer: a, owner: b, kind: c}":        "field kind not found",
		"- {finalizer: 'a[', owner: b}":              `row 1: "a[" is no pattern`,
		"finalizer: a":                               "cannot unmarshal",
		"- {finalizer: a, owner: b, types: ['[']}\n": `row 1: "[" is no pattern`,
	} {
		write(text)
		_, err := why.LoadKeepers(path)
		assert.ErrorContains(t, err, problem, text)
	}
}

// Finalizers of programs that many clusters have, as reports of stuck namespaces show them.
func TestFinalizersOfReports(t *testing.T) {
	for finalizer, want := range map[string]struct{ resource, group, owner string }{
		"resources-finalizer.argocd.argoproj.io/background": {"applications", "argoproj.io",
			"argocd-application-controller"},
		"post-delete-finalizer.argocd.argoproj.io/cleanup": {"applications", "argoproj.io",
			"argocd-application-controller"},
		"pre-delete-finalizer.argocd.argoproj.io": {"applications", "argoproj.io",
			"argocd-application-controller"},
		"workflows.argoproj.io/status": {"pods", "", "workflow-controller"},
		"apps.victoriametrics.com/finalizer": {"vmagents", "operator.victoriametrics.com",
			"victoria-metrics-operator"},
		"monitoring.coreos.com/status-cleanup": {"servicemonitors", "monitoring.coreos.com",
			"prometheus-operator"},
		"cnpg.io/deleteDatabase": {"databases", "postgresql.cnpg.io",
			"cloudnative-pg"},
		"externalsecrets.external-secrets.io/externalsecret-cleanup": {"externalsecrets", "external-secrets.io",
			"external-secrets"},
		"services.cloud.sap.com/sap-btp-finalizer": {"serviceinstances", "services.cloud.sap.com",
			"sap-btp-operator"},
		"flinkdeployments.flink.apache.org/finalizer": {"flinkdeployments", "flink.apache.org",
			"flink-kubernetes-operator"},
	} {
		keeper, ok := why.Held{Type: &why.Type{Group: want.group, Resource: want.resource},
			Finalizer: finalizer}.Keeper()
		assert.True(t, ok, finalizer)
		assert.Equal(t, want.owner, keeper.Name, finalizer)
	}
}
