package status

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// pageSize is the page size of lists.
const pageSize = "500"

// FromCluster reads a report from the API server. lease is the Lease of the election.
func FromCluster(ctx context.Context, client *restclient.Client, leaseNamespace, leaseName string) (*Report, error) {
	r := &Report{Server: client.Config().Host, Namespaces: []Namespace{}}
	query := url.Values{"limit": {pageSize}, "fieldSelector": {"status.phase=" + string(api.NamespaceTerminating)}}
	for {
		var list api.List[*api.Namespace]
		now, err := get(ctx, client, "/api/v1/namespaces", query, &list)
		if err != nil {
			return nil, err
		}
		r.Time = now
		for _, namespace := range list.Items {
			if namespace.DeletionTimestamp != nil {
				r.Namespaces = append(r.Namespaces, Namespace{Deletion: DeletionOf(namespace)})
			}
		}
		if list.Continue == "" {
			break
		}
		query.Set("continue", list.Continue)
	}
	r.Leader.Lease = leaseNamespace + "/" + leaseName
	var lease api.Lease
	path := "/apis/coordination.k8s.io/v1/namespaces/" + url.PathEscape(leaseNamespace) + "/leases/" + url.PathEscape(leaseName)
	now, err := get(ctx, client, path, nil, &lease)
	switch {
	case api.IsNotFound(err):
		r.Leader.Missing = "there is no Lease " + r.Leader.Lease
	case err != nil:
		return nil, err
	default:
		r.Leader.of(&lease, now)
	}
	r.assess()
	return r, nil
}

// SameCluster returns an error unless the replica of the report works for the cluster of the
// client: both have the same address of the API server, or the same cluster behind two addresses.
func SameCluster(ctx context.Context, client *restclient.Client, r *Report) error {
	server := client.Config().Host
	if r.Server == server {
		return nil
	}
	var namespace api.Namespace
	_, err := get(ctx, client, "/api/v1/namespaces/"+identity, nil, &namespace)
	if err == nil && namespace.UID != "" && namespace.UID == r.ClusterUID {
		return nil
	}
	return &OtherClusterError{Replica: r.Replica, ReplicaServer: r.Server, Server: server, Err: err}
}

// identity is the namespace whose UID tells clusters apart. It cannot be deleted.
const identity = "kube-system"

// IdentityOf returns the UID of a cluster; get returns a namespace from a store.
func IdentityOf(get func(name string) (namespace *api.Namespace, exists bool)) string {
	if namespace, exists := get(identity); exists {
		return namespace.UID
	}
	return ""
}

// OtherClusterError reports that a replica works for another cluster than the one that was meant.
type OtherClusterError struct {
	Replica, ReplicaServer, Server string
	Err                            error // not nil: whether it is another one could not be read
}

func (e *OtherClusterError) Error() string {
	differs := "the kubeconfig means " + e.Server
	if e.Err != nil {
		differs = fmt.Sprintf("it is not known whether that is the cluster of the kubeconfig, %s: %v", e.Server, e.Err)
	}
	return fmt.Sprintf("the replica at %s is a client of %s, and %s; "+
		"--address %s asks that replica, --kubeconfig or --context a cluster",
		e.Replica, e.ReplicaServer, differs, e.Replica)
}

func (e *OtherClusterError) Unwrap() error { return e.Err }

// of sets the leader from a Lease.
func (l *Leader) of(lease *api.Lease, now time.Time) {
	spec := lease.Spec
	l.Holder = spec.HolderIdentity
	if spec.AcquireTime != nil && l.Holder != "" {
		l.Since = &spec.AcquireTime.Time
	}
	if spec.LeaseTransitions != nil {
		l.Transitions = int(*spec.LeaseTransitions)
	}
	var silent, lasts time.Duration
	if spec.RenewTime != nil {
		silent = now.Sub(spec.RenewTime.Time)
	}
	if spec.LeaseDurationSeconds != nil {
		lasts = time.Duration(*spec.LeaseDurationSeconds) * time.Second
	}
	l.silence(silent, lasts)
}

// get reads a document and returns the server's time.
func get(ctx context.Context, client *restclient.Client, path string, query url.Values, into any) (time.Time, error) {
	var answer restclient.Response
	if err := client.Do(ctx, restclient.Request{Path: path, Query: query}, &answer); err != nil {
		return time.Time{}, err
	}
	return clock(answer.Header), json.Unmarshal(answer.Body, into)
}
