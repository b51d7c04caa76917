package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"orrery/internal/words"
	"orrery/restclient"
	"orrery/restclient/api"
)

// pageSize is the page size of lists.
const pageSize = "500"

// terminating selects the first page of the namespaces that are being deleted.
func terminating() url.Values {
	return url.Values{"limit": {pageSize}, "fieldSelector": {"status.phase=" + string(api.NamespaceTerminating)}}
}

// ReadStatus reads a report from the API server, with two requests and one more for every 500
// terminating namespaces. lease is the Lease of the election.
func ReadStatus(ctx context.Context, client *restclient.Client, leaseNamespace, leaseName string) (*Status, error) {
	r := &Status{Server: client.Config().Host, Namespaces: []Namespace{}}
	query := terminating()
	for {
		var list api.List[*api.Namespace]
		now, err := get(ctx, client, "/api/v1/namespaces", query, &list)
		if err != nil {
			return nil, err
		}
		r.Time = now
		for _, namespace := range list.Items {
			if namespace.DeletionTimestamp != nil {
				r.Namespaces = append(r.Namespaces, Namespace{
					Name: namespace.Name, DeletedAt: namespace.DeletionTimestamp.Time, Why: reasonOf(namespace),
				})
			}
		}
		if list.Continue == "" {
			break
		}
		query.Set("continue", list.Continue)
	}
	r.Leader.Lease = leaseNamespace + "/" + leaseName
	var lease api.Lease
	path := "/apis/coordination.k8s.io/v1/namespaces/" + url.PathEscape(leaseNamespace) + "/leases/" +
		url.PathEscape(leaseName)
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

// of sets the leader from a Lease. Missing is set if the Lease has no holder, or one that has been
// silent for longer than the Lease duration.
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
		silent = max(now.Sub(spec.RenewTime.Time), 0)
	}
	if spec.LeaseDurationSeconds != nil {
		lasts = time.Duration(*spec.LeaseDurationSeconds) * time.Second
	}
	l.SilentSeconds = int(silent.Seconds())
	switch {
	case l.Holder == "":
		l.Missing = fmt.Sprintf("the Lease %s was released %s ago", l.Lease, words.Duration(silent))
	case silent > lasts:
		l.Missing = fmt.Sprintf("%s, the last holder of the Lease %s, has been silent for %s",
			l.Holder, l.Lease, words.Duration(silent))
	}
}

// get reads a document and returns the server's time.
func get(ctx context.Context, client *restclient.Client, path string, query url.Values, into any) (time.Time, error) {
	var answer restclient.Response
	if err := client.Do(ctx, restclient.Request{Path: path, Query: query}, &answer); err != nil {
		return time.Time{}, err
	}
	return answer.Time(), json.Unmarshal(answer.Body, into)
}
