package patch

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// Supported refuses the content types that this server does not apply to a resource (415). kube-apiserver does so
// before it looks at the patch or at the object. Server-side apply is not built.
func Supported(kind api.PatchType, custom bool) error {
	switch {
	case kind == api.JSONPatchType, kind == api.MergePatchType, kind == api.StrategicMergePatchType && !custom:
		return nil
	case kind == api.ApplyPatchType || kind == "application/apply-patch+cbor":
		return apierrors.UnsupportedMediaType("server-side apply is not built into this server: use a merge patch, a strategic merge patch " +
			"or a JSON patch (kubectl apply without --server-side)")
	case custom:
		return apierrors.UnsupportedMediaType("the body of the request was in an unknown format - accepted media types include: " +
			"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
	}
	refused := apierrors.UnsupportedMediaType("415: Unsupported Media Type")
	refused.Status.Details = &api.StatusDetails{} // so it is in the original
	return refused
}
