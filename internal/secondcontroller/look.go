package secondcontroller

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// The versions of the API server in memory, by what follows the version of Kubernetes that it stands for.
const (
	servedAlone = "+orrery"
	servedDemo  = "+orrery.demo"
)

// recently is how long ago the status of a namespace may have been written for its writer to be taken to work. A controller that
// was switched off a moment ago has not been forgotten longer than it takes to restart kube-controller-manager.
const recently = 15 * time.Second

// Look collects what the cluster shows by itself. It only reads. The error is that of a context that has ended.
func Look(ctx context.Context, client *restclient.Client) (Evidence, error) {
	l := looker{client: client}
	for _, look := range []func(context.Context) Evidence{l.version, l.pods, l.namespaces, l.lease} {
		evidence := look(ctx)
		if ctx.Err() != nil {
			return Evidence{}, ctx.Err()
		}
		if evidence.Verdict != Unknown {
			return evidence, nil
		}
	}
	return Evidence{How: "neither the pod nor the Lease of kube-controller-manager can be seen in " + systemNamespace}, nil
}

// looker asks a server.
type looker struct{ client *restclient.Client }

// get reads a document and returns the time that it is on the server. What cannot be read is not ok.
func (l looker) get(ctx context.Context, path string, query url.Values, into any) (now time.Time, ok bool) {
	var answer restclient.Response
	if err := l.client.Do(ctx, restclient.Request{Path: path, Query: query}, &answer); err != nil {
		return time.Time{}, false
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		return time.Time{}, false
	}
	now, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		now = time.Now() // a proxy that drops the header
	}
	return now, true
}

// version knows the API server in memory: it has a namespace controller only in a demo.
func (l looker) version(ctx context.Context) Evidence {
	var version api.VersionInfo
	l.get(ctx, "/version", nil, &version)
	switch {
	case strings.HasSuffix(version.GitVersion, servedDemo):
		return Evidence{Present, `the server is that of "orrery demo", which runs a namespace controller itself`}
	case strings.HasSuffix(version.GitVersion, servedAlone):
		return Evidence{Absent, `the server is "orrery serve", which has none`}
	}
	return Evidence{}
}

// pods looks at the command line of kube-controller-manager, where it runs in a pod that the API shows: kubeadm and what is built on
// it (minikube, kind), and others that make static pods of the control plane.
func (l looker) pods(ctx context.Context) Evidence {
	var list struct{ Items []managerPod }
	l.get(ctx, "/api/v1/namespaces/"+systemNamespace+"/pods", url.Values{"labelSelector": {managerLabel}}, &list)
	var without string
	for _, pod := range list.Items {
		switch name := systemNamespace + "/" + pod.Metadata.Name; {
		case !pod.ready():
		case pod.controlsNamespaces():
			return Evidence{Present, fmt.Sprintf("kube-controller-manager in the pod %s runs its own, by its command line", name)}
		default:
			without = name
		}
	}
	if without == "" {
		return Evidence{}
	}
	return Evidence{Absent, fmt.Sprintf("kube-controller-manager in the pod %s runs without its own, by its command line", without)}
}

// namespaces looks for one whose deletion is under way, and somebody else is at it.
func (l looker) namespaces(ctx context.Context) Evidence {
	var list api.List[*api.Namespace]
	query := url.Values{"fieldSelector": {"status.phase=" + string(api.NamespaceTerminating)}, "limit": {"500"}}
	now, ok := l.get(ctx, "/api/v1/namespaces", query, &list)
	if !ok {
		return Evidence{}
	}
	for _, namespace := range list.Items {
		entries, err := namespace.ManagedFields.Entries()
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if reportsDeletion(entry) && entry.Time != nil && now.Sub(entry.Time.Time) < recently {
				return Evidence{Present, fmt.Sprintf("%s wrote the status of the namespace %s, which is being deleted, at %s",
					entry.Manager, namespace.Name, entry.Time.UTC().Format(time.TimeOnly+" MST"))}
			}
		}
	}
	return Evidence{}
}

// reportsDeletion tells whether the entry is of another namespace controller: nobody else writes these conditions. Its name
// is kube-controller-manager's, or that of the program it is part of (k3s, kubelite).
func reportsDeletion(entry api.ManagedFieldsEntry) bool {
	return entry.Subresource == "status" && entry.Manager != ownManager &&
		bytes.Contains(entry.FieldsV1, []byte(api.NamespaceContentRemaining))
}

// ownManager is how the API server calls this program: its user agent, up to the slash.
const ownManager = "orrery"

// lease looks whether kube-controller-manager is alive. It asks for a list, which needs no right that the work does not need.
func (l looker) lease(ctx context.Context) Evidence {
	var list struct {
		Items []struct {
			Spec struct {
				HolderIdentity       string   `json:"holderIdentity"`
				LeaseDurationSeconds int      `json:"leaseDurationSeconds"`
				RenewTime            api.Time `json:"renewTime"`
			} `json:"spec"`
		} `json:"items"`
	}
	query := url.Values{"fieldSelector": {"metadata.name=" + managerName}}
	now, ok := l.get(ctx, "/apis/coordination.k8s.io/v1/namespaces/"+systemNamespace+"/leases", query, &list)
	if !ok || len(list.Items) != 1 {
		return Evidence{}
	}
	lease := list.Items[0].Spec
	expires := lease.RenewTime.Add(time.Duration(lease.LeaseDurationSeconds) * time.Second)
	if lease.HolderIdentity == "" || expires.Before(now) {
		return Evidence{}
	}
	return Evidence{Suspected, fmt.Sprintf("kube-controller-manager is alive, its Lease %s/%s was renewed at %s, and whether its namespace controller is on cannot be seen",
		systemNamespace, managerName, lease.RenewTime.UTC().Format(time.TimeOnly+" MST"))}
}
