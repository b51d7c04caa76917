package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

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
