package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// KillEtcd ends etcd at once, as a crash would. kube-apiserver goes on, and answers what it can without.
func (cp *ControlPlane) KillEtcd() {
	cp.process(Etcd).Kill()
	cp.logf("%s killed", Etcd)
}

// StartEtcd starts etcd after [ControlPlane.KillEtcd], with the same data, and returns when it is ready. It fails when etcd is
// running.
func (cp *ControlPlane) StartEtcd(ctx context.Context) error { return cp.startEtcd(ctx) }

// BackUpEtcd copies what etcd has to a directory, which must not exist. etcd is away meanwhile.
func (cp *ControlPlane) BackUpEtcd(ctx context.Context, dir string) error {
	cp.process(Etcd).Stop(ctx)
	if err := os.CopyFS(dir, os.DirFS(cp.etcdDir())); err != nil {
		return fmt.Errorf("back etcd up: %w", err)
	}
	return cp.startEtcd(ctx)
}

// RestoreEtcd does what an administrator does after a disaster: it stops kube-apiserver and etcd, puts a directory that
// [ControlPlane.BackUpEtcd] has made in the place of etcd's data, and starts both. The directory is used up by that. What was
// written since the backup is gone, and versions (resourceVersion) begin again at that of the backup: clients are ahead of their
// server. Of the components those that watch should be restarted; the built-in ones do not notice.
func (cp *ControlPlane) RestoreEtcd(ctx context.Context, dir string) error {
	cp.KillAPIServer()
	cp.KillEtcd()
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
