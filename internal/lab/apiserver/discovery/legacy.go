package discovery

import (
	"crypto/sha256"
	"encoding/base64"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// versionsDocument is the document /api.
type versionsDocument struct {
	Kind          string          `json:"kind"`
	Versions      []string        `json:"versions"`
	ServerAddress []clientAddress `json:"serverAddressByClientCIDRs"`
}

type clientAddress struct {
	ClientCIDR    string `json:"clientCIDR"`
	ServerAddress string `json:"serverAddress"`
}

func coreVersions(g group, serverAddress string) versionsDocument {
	document := versionsDocument{
		Kind: "APIVersions", ServerAddress: []clientAddress{{ClientCIDR: "0.0.0.0/0", ServerAddress: serverAddress}},
	}
	for _, v := range g.versions {
		document.Versions = append(document.Versions, v.name)
	}
	return document
}

func legacyGroup(g group) api.APIGroup {
	entry := api.APIGroup{Name: g.name}
	for _, v := range g.versions {
		gv := api.GroupVersion{Group: g.name, Version: v.name}
		entry.Versions = append(entry.Versions, api.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v.name})
	}
	entry.PreferredVersion = entry.Versions[0]
	return entry
}

func resourceList(gv api.GroupVersion, v version) legacyList {
	list := legacyList{TypeMeta: typeMeta("APIResourceList"), GroupVersion: gv.String(), Resources: []legacyResource{}}
	if gv.Group == "" {
		list.APIVersion = "" // as in kube-apiserver
	}
	for _, r := range v.resources {
		list.Resources = append(list.Resources, legacyResource{
			APIResource: api.APIResource{
				Name: r.plural, SingularName: r.singular, Namespaced: r.namespaced, Kind: r.kind,
				Verbs: r.verbs, ShortNames: r.shortNames, Categories: r.categories,
			},
			StorageVersionHash: r.storageHash,
		})
		for _, s := range r.subresources {
			list.Resources = append(list.Resources, legacyResource{APIResource: api.APIResource{
				Name: r.plural + "/" + s.Name, Namespaced: r.namespaced,
				Group: s.Kind.Group, Version: s.Kind.Version, Kind: s.Kind.Kind, Verbs: s.Verbs,
			}})
		}
	}
	return list
}

// legacyList and legacyResource are api.APIResourceList with the hash by which storage migration
// notices a changed storage version.
type legacyList struct {
	api.TypeMeta `json:",inline"`
	GroupVersion string           `json:"groupVersion"`
	Resources    []legacyResource `json:"resources"`
}

type legacyResource struct {
	api.APIResource
	StorageVersionHash string `json:"storageVersionHash,omitempty"`
}

const admissionGroup = "admissionregistration.k8s.io"

// storedAs are the types whose storage version in kube-apiserver is not the preferred version.
var storedAs = map[[2]string][2]string{
	{"events.k8s.io", "Event"}:                           {"", "v1"},
	{"apiextensions.k8s.io", "CustomResourceDefinition"}: {"apiextensions.k8s.io", "v1beta1"},
	{admissionGroup, "MutatingAdmissionPolicy"}:          {admissionGroup, "v1beta1"},
	{admissionGroup, "MutatingAdmissionPolicyBinding"}:   {admissionGroup, "v1beta1"},
}

// storageHash returns the hash of the storage version, or "" for resources that are not stored.
func storageHash(d *resources.Definition) string {
	if !d.HasVerb("watch") {
		return ""
	}
	group, version, kind := d.Group, d.Versions[0], d.Kind
	if stored, ok := storedAs[[2]string{group, kind}]; ok {
		group, version = stored[0], stored[1]
	}
	sum := sha256.Sum256([]byte(group + "/" + version + "/" + kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// reviews are resources that can only be created; the response has the answer. They are not in the
// catalog because they are not stored.
var reviews = []group{
	{name: "authentication.k8s.io", versions: []version{{name: "v1", resources: []resource{
		review("selfsubjectreviews", "SelfSubjectReview", false),
		review("tokenreviews", "TokenReview", false),
	}}}},
	{name: "authorization.k8s.io", versions: []version{{name: "v1", resources: []resource{
		review("localsubjectaccessreviews", "LocalSubjectAccessReview", true),
		review("selfsubjectaccessreviews", "SelfSubjectAccessReview", false),
		review("selfsubjectrulesreviews", "SelfSubjectRulesReview", false),
		review("subjectaccessreviews", "SubjectAccessReview", false),
	}}}},
}

// reviewsBefore is the group that follows the reviews in kube-apiserver's order.
const reviewsBefore = "autoscaling"

func review(plural, kind string, namespaced bool) resource {
	return resource{
		plural: plural, singular: plural[:len(plural)-1], kind: kind, namespaced: namespaced, verbs: []string{"create"},
	}
}

// IsReview returns the kind and scope of a review, and whether the resource is one.
func IsReview(gvr api.GroupVersionResource) (kind string, namespaced, ok bool) {
	for _, g := range reviews {
		if g.name != gvr.Group || g.versions[0].name != gvr.Version {
			continue
		}
		for _, r := range g.versions[0].resources {
			if r.plural == gvr.Resource {
				return r.kind, r.namespaced, true
			}
		}
	}
	return "", false, false
}
