package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// etcdOutOfRange is the gRPC code in etcd's JSON for a revision that cannot be compacted to.
const etcdOutOfRange = 11

// etcdHeader is the part of etcd's answers with the revision. etcd's JSON has 64-bit numbers as
// strings.
type etcdHeader struct {
	Header struct {
		Revision string `json:"revision"`
	} `json:"header"`
}

// CompactEtcd compacts etcd to its current revision and returns that revision. From then on reads
// from etcd at an older resourceVersion get status 410.
//
// kube-apiserver's watch cache, which answers most reads, still holds recent events. Use
// [ControlPlane.ForgetHistory] or DisableWatchCache to have old resourceVersions refused there as
// well.
func (cp *ControlPlane) CompactEtcd(ctx context.Context) (int64, error) {
	// Any read returns the revision; this one finds nothing, as no key is empty.
	var current etcdHeader
	if err := cp.etcd.post(ctx, "/v3/kv/range", map[string]any{"key": []byte{0}, "count_only": true},
		&current); err != nil {
		return 0, fmt.Errorf("compact etcd: %w", err)
	}
	revision, err := strconv.ParseInt(current.Header.Revision, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("compact etcd: %w", err)
	}
	// "physical" delays the answer until the old revisions are removed.
	request := map[string]any{"revision": current.Header.Revision, "physical": true}
	if err := cp.etcd.post(ctx, "/v3/kv/compaction", request, nil); err != nil && !alreadyCompacted(err) {
		return 0, fmt.Errorf("compact etcd to revision %d: %w", revision, err)
	}
	cp.logf("etcd compacted to revision %d", revision)
	return revision, nil
}

// alreadyCompacted reports whether etcd refused because it was already compacted to the revision. A
// future revision has the same code, but the request named the current one.
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

// ForgetHistory makes every known resourceVersion too old: it kills kube-apiserver, compacts etcd
// and starts kube-apiserver, whose watch cache begins at the current revision. A resumed watch gets
// an ERROR event with code 410 in an answer with status 200, and its client must list again.
func (cp *ControlPlane) ForgetHistory(ctx context.Context) error {
	cp.KillAPIServer()
	if _, err := cp.CompactEtcd(ctx); err != nil {
		return err
	}
	return cp.StartAPIServer(ctx)
}

// BackUpEtcd copies etcd's data to a directory, which must not exist. It stops etcd meanwhile.
func (cp *ControlPlane) BackUpEtcd(ctx context.Context, dir string) error {
	cp.process(Etcd).Stop(ctx)
	if err := os.CopyFS(dir, os.DirFS(cp.etcdDir())); err != nil {
		return fmt.Errorf("back etcd up: %w", err)
	}
	return cp.startEtcd(ctx)
}

// RestoreEtcd restores a backup: it stops kube-apiserver and etcd, moves a directory written by
// [ControlPlane.BackUpEtcd] to etcd's data directory, and starts both. Later writes are lost and
// resourceVersions continue from the backup's, so clients are ahead of their server. Watching
// components should be restarted; the built-in ones do not notice.
func (cp *ControlPlane) RestoreEtcd(ctx context.Context, dir string) error {
	cp.KillAPIServer()
	cp.process(Etcd).Kill()
	cp.logf("%s killed", Etcd)
	if err := os.RemoveAll(cp.etcdDir()); err != nil {
		return fmt.Errorf("restore etcd: %w", err)
	}
	if err := os.Rename(dir, cp.etcdDir()); err != nil {
		return fmt.Errorf("restore etcd: %w", err)
	}
	if err := cp.startEtcd(ctx); err != nil {
		return err
	}
	return cp.StartAPIServer(ctx)
}

func (cp *ControlPlane) etcdDir() string { return filepath.Join(cp.dir, "etcd") }
