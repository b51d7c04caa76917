package apiserver

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

func coreVersions(g resources.Group, serverAddress string) versionsDocument {
	document := versionsDocument{
		Kind: "APIVersions", ServerAddress: []clientAddress{{ClientCIDR: "0.0.0.0/0", ServerAddress: serverAddress}},
	}
	for _, v := range g.Versions {
		document.Versions = append(document.Versions, v.Version)
	}
	return document
}

func legacyGroup(g resources.Group) api.APIGroup {
	entry := api.APIGroup{Name: g.Name}
	for _, v := range g.Versions {
		gv := api.GroupVersion{Group: g.Name, Version: v.Version}
		offered := api.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v.Version}
		entry.Versions = append(entry.Versions, offered)
	}
	entry.PreferredVersion = entry.Versions[0]
	return entry
}

func resourceList(gv api.GroupVersion, v resources.GroupVersion) legacyList {
	list := legacyList{TypeMeta: typeMeta("APIResourceList"), GroupVersion: gv.String(), Resources: []legacyResource{}}
	if gv.Group == "" {
		list.APIVersion = "" // as in kube-apiserver
	}
	for _, d := range v.Definitions {
		list.Resources = append(list.Resources, legacyResource{
			APIResource: api.APIResource{
				Name: d.Plural, SingularName: d.Singular, Namespaced: d.Namespaced, Kind: d.Kind,
				Verbs: verbs(d), ShortNames: d.ShortNames, Categories: d.Categories,
			},
			StorageVersionHash: storageHash(d),
		})
		for _, s := range d.Subresources() {
			list.Resources = append(list.Resources, legacyResource{APIResource: api.APIResource{
				Name: d.Plural + "/" + s.Name, Namespaced: d.Namespaced,
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
