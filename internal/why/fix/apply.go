package fix

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Apply does the one write of a remedy. It sends it as a dry run first, so that webhooks and
// validation can refuse it. The server accepts it only if UID, resourceVersion and finalizer are
// unchanged.
//
// The error is a [RefusedError] if nothing was written. Any other error, such as a connection that
// broke in the second write, leaves open whether it was done.
func Apply(ctx context.Context, client *restclient.Client, remedy Remedy, digest string) error {
	w := remedy.Write
	if w == nil || digest == "" || w.Digest() != digest {
		return &RefusedError{Digest: digest, Err: errDigest}
	}
	if err := allowed(w); err != nil {
		return &RefusedError{Digest: digest, Err: err}
	}
	ctx = api.WithSingleAttempt(ctx)
	for _, dry := range []bool{true, false} {
		err := write(ctx, client, w, dry)
		_, answered := errors.AsType[*api.StatusError](err)
		switch {
		case err == nil:
		case dry || errors.Is(err, errMoved) || answered && api.CodeOf(err) < http.StatusInternalServerError:
			return &RefusedError{Digest: digest, Err: err}
		default:
			return fmt.Errorf("%s may or may not have been applied: %w", digest, err)
		}
	}
	return nil
}

// errMoved: the object has changed, or is another one.
var errMoved = errors.New("the object is another one, or has changed")

// errNever: this write is never allowed.
var errNever = errors.New("this is never done by a program")

// neverRemoved are finalizers that only their owners can remove without losing data.
var neverRemoved = []string{
	api.FinalizerKubernetes, "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection", "customresourcecleanup.apiextensions.k8s.io",
	"foregroundDeletion", "orphan",
}

// allowed refuses everything but the removal of a finalizer or token and the deletion of an
// APIService.
func allowed(w *why.Write) error {
	switch w.List {
	case why.MetadataFinalizers, why.SpecFinalizers:
		if slices.Contains(neverRemoved, w.Finalizer) || w.Finalizer == "" || strings.HasPrefix(w.Group, "admissionregistration.") {
			return errNever
		}
		if w.List == why.SpecFinalizers && (w.Resource != "namespaces" || w.Group != "") {
			return errNever
		}
		return nil
	case "":
		if w.Group == "apiregistration.k8s.io" && w.Resource == "apiservices" && w.Verdict == "ServiceNotFound" {
			return nil
		}
	}
	return errNever
}

// write sends the write, or its dry run.
func write(ctx context.Context, client *restclient.Client, w *why.Write, dry bool) error {
	resource := restclient.Dynamic(client, api.GroupVersionResource{Group: w.Group, Version: w.Version, Resource: w.Resource}, w.Namespace)
	options := api.UpdateOptions{FieldManager: "orrery-why", DryRun: dry}
	switch w.List {
	case why.MetadataFinalizers:
		heads := restclient.Metadata(client, resource.GroupVersionResource(), w.Namespace)
		_, err := heads.Patch(ctx, w.Name, api.JSONPatchType, w.Patch(), options)
		return err
	case why.SpecFinalizers:
		return removeToken(ctx, resource, w, options)
	}
	uid, version := w.UID, w.ResourceVersion
	return resource.Delete(ctx, w.Name, api.DeleteOptions{Preconditions: &api.Preconditions{UID: &uid, ResourceVersion: &version}, DryRun: dry})
}

// removeToken removes a token from a namespace's spec.finalizers. The whole list is written, by an
// update of the subresource finalize. The server refuses it if the namespace has changed since.
func removeToken(ctx context.Context, namespaces *restclient.Resource[*api.Unstructured], w *why.Write, options api.UpdateOptions) error {
	namespace, err := namespaces.Get(ctx, w.Name, api.GetOptions{})
	if err != nil {
		return err
	}
	spec, _ := namespace.Nested("spec").(map[string]any)
	tokens, _ := spec["finalizers"].([]any)
	at := slices.Index(tokens, any(w.Finalizer))
	if namespace.GetUID() != w.UID || namespace.GetResourceVersion() != w.ResourceVersion || at != w.Index {
		return errMoved
	}
	spec["finalizers"] = slices.Delete(slices.Clone(tokens), at, at+1)
	_, err = namespaces.UpdateSubresource(ctx, w.Name, "finalize", namespace, options)
	return err
}
