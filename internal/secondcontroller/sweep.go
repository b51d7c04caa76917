package secondcontroller

import (
	"context"
	"strings"

	"orrery/restclient"
	"orrery/restclient/api"
)

// Sweep deletes what a process has left behind that was killed between making its canary and deleting it, and returns the names. What
// cannot be seen or deleted stays. One that is somebody else's, this very moment, is only deleted a moment sooner.
func Sweep(ctx context.Context, client *restclient.Client) (swept []string) {
	list, err := restclient.Metadata(client, api.NamespacesResource, "").List(ctx, api.ListOptions{LabelSelector: managedLabel + "=" + managedBy})
	if err != nil {
		return nil
	}
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	for _, left := range list.Items {
		if left.DeletionTimestamp != nil || !strings.HasPrefix(left.Name, CanaryPrefix) {
			continue
		}
		if err := namespaces.Delete(ctx, left.Name, api.DeleteOptions{Preconditions: &api.Preconditions{UID: &left.UID}}); err == nil {
			swept = append(swept, left.Name)
		}
	}
	return swept
}
