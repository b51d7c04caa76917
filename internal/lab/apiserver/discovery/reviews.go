package discovery

import "orrery/restclient/api"

// reviews are the groups of questions: resources that can only be created, whose answer is in what comes back. They are not in
// the catalogue, because nothing of them is stored.
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

// reviewsBefore is the group that stands behind the reviews in the order of the original.
const reviewsBefore = "autoscaling"

func review(plural, kind string, namespaced bool) resource {
	return resource{
		plural: plural, singular: plural[:len(plural)-1], kind: kind, namespaced: namespaced, verbs: []string{"create"},
	}
}

// IsReview tells whether a resource is one of the questions, and what kind it is.
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
