package labscmd

import (
	"context"
	"time"

	"orrery/internal/secondcontroller"
	"orrery/restclient"
	"orrery/restclient/discovery"
	"orrery/restclient/kubeconfig"
)

// clusterLimit is how long the cluster may take for its answers.
const clusterLimit = 10 * time.Second

// cluster looks at the cluster that kubectl uses, and whether its own namespace controller would
// compete with the learner's. It only reads.
func (c *checkup) cluster(ctx context.Context, at clusterPlace) {
	ctx, cancel := context.WithTimeout(ctx, clusterLimit)
	defer cancel()
	config, info, err := kubeconfig.Load(kubeconfig.Options{Path: at.kubeconfig, Context: at.context})
	if err != nil {
		c.add("cluster", false, false, "doctor-cluster-bad", err)
		return
	}
	client, err := restclient.New(config)
	if err != nil {
		c.add("cluster", false, false, "doctor-cluster-bad", err)
		return
	}
	defer client.Close()
	version, err := discovery.New(client).ServerVersion(ctx)
	if err != nil {
		c.add("cluster", false, false, "doctor-cluster-bad", err)
		return
	}
	c.add("cluster", true, false, "doctor-cluster", info.Context, config.Host, version.GitVersion)
	evidence, err := secondcontroller.Look(ctx, client, secondcontroller.NamespaceController)
	switch {
	case err != nil || evidence.Verdict == secondcontroller.Unknown:
		c.add("built-in", false, true, "doctor-built-in-unknown", evidence.How)
	case evidence.Verdict == secondcontroller.Absent:
		c.add("built-in", true, false, "doctor-built-in-off", evidence.How)
	default:
		c.add("built-in", false, false, "doctor-built-in-runs", evidence.How, evidence.SwitchOff)
	}
}
