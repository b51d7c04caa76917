package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// etcdOutOfRange is gRPC's status code for a revision that cannot be compacted to, in the JSON body of etcd's refusal.
const etcdOutOfRange = 11

// etcdHeader is the part of etcd's answers that names the revision of its data. etcd's JSON writes 64-bit numbers as
// strings.
type etcdHeader struct {
	Header struct {
		Revision string `json:"revision"`
	} `json:"header"`
}

// CompactEtcd has etcd forget all history before its current revision, and returns that revision. Reads from etcd
// at an older resourceVersion are answered with status 410 from then on.
//
// Most reads do not come from etcd: kube-apiserver's watch cache remembers recent events by itself. To have an old
// resourceVersion refused there as well use [ControlPlane.ForgetHistory], or a control plane with DisableWatchCache.
func (cp *ControlPlane) CompactEtcd(ctx context.Context) (int64, error) {
	// Any read tells the revision; this one finds nothing, as no key is empty.
	var current etcdHeader
	if err := cp.etcd.post(ctx, "/v3/kv/range", map[string]any{"key": []byte{0}, "count_only": true}, &current); err != nil {
		return 0, fmt.Errorf("compact etcd: %w", err)
	}
	revision, err := strconv.ParseInt(current.Header.Revision, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("compact etcd: %w", err)
	}
	// "physical" makes etcd answer only when the old revisions are really gone.
	request := map[string]any{"revision": current.Header.Revision, "physical": true}
	if err := cp.etcd.post(ctx, "/v3/kv/compaction", request, nil); err != nil && !alreadyCompacted(err) {
		return 0, fmt.Errorf("compact etcd to revision %d: %w", revision, err)
	}
	cp.logf("etcd compacted to revision %d", revision)
	return revision, nil
}

// alreadyCompacted tells whether etcd refused to compact because it had been compacted to that revision before. A
// revision in the future is refused with the same code, but the one asked for was the current one.
func alreadyCompacted(err error) bool {
	var status *statusError
	if !errors.As(err, &status) {
		return false
	}
	var refusal struct {
		Code int `json:"code"`
	}
	return json.Unmarshal([]byte(status.body), &refusal) == nil && refusal.Code == etcdOutOfRange
}

// ForgetHistory makes every resourceVersion handed out so far too old: it kills kube-apiserver, compacts etcd and
// starts kube-apiserver again, whose watch cache then begins at the current revision. A client that resumes its watch
// is told so (by an ERROR event with code 410 in an answer with status 200) and has to list again.
func (cp *ControlPlane) ForgetHistory(ctx context.Context) error {
	cp.KillAPIServer()
	if _, err := cp.CompactEtcd(ctx); err != nil {
		return err
	}
	return cp.StartAPIServer(ctx)
}
