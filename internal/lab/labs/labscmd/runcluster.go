package labscmd

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/lab/labs/script"
	"orrery/internal/program"
	"orrery/restclient"
	"orrery/restclient/kubeconfig"
)

// clusterOptions are the flags of "lab run --server kubeconfig".
type clusterOptions struct {
	clusterPlace
	yes, second bool
}

// clusterPlace are the flags that choose a cluster, as kubectl has them.
type clusterPlace struct{ kubeconfig, context string }

func (p *clusterPlace) addTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&p.kubeconfig, "kubeconfig", "", "the kubeconfig `file` to use; default: the files in $KUBECONFIG, else ~/.kube/config")
	flags.StringVar(&p.context, "context", "", "the `name` of the context to use; default: the current-context of the kubeconfig")
	program.CompleteFiles(command, "kubeconfig")
}

// clusterFlags are their names.
var clusterFlags = []string{"kubeconfig", "context", "yes", "allow-second-controller"}

func (o *clusterOptions) addTo(command *cobra.Command) {
	o.clusterPlace.addTo(command)
	flags := command.Flags()
	flags.BoolVar(&o.yes, "yes", false, "work on the cluster without asking")
	flags.BoolVar(&o.second, "allow-second-controller", false, "start even if the cluster's own namespace controller may be on")
}

// runOnCluster runs the controller on a cluster, through a proxy.
func (s *session) runOnCluster(ctx context.Context, chosen *choice, run *runOptions, dir string) error {
	o := run.cluster
	if chosen.run.Program != "" || !chosen.inProgram() {
		return s.refuse("run-not-on-cluster", chosen.lab.ID)
	}
	if err := s.tested(chosen); err != nil {
		return err
	}
	config, info, err := kubeconfig.Load(kubeconfig.Options{Path: o.kubeconfig, Context: o.context})
	if err != nil {
		return usage(err)
	}
	config.QPS = -1
	client, err := restclient.New(config)
	if err != nil {
		return usage(err)
	}
	defer client.Close()
	if err := s.agree(ctx, o, cmp.Or(info.Context, "-"), client.Snapshot().Host); err != nil {
		return err
	}
	if err := client.Do(ctx, restclient.Request{Path: "/version"}, nil); err != nil {
		return usage(err) // before the build
	}
	binary := filepath.Join(dir, executable)
	lay, err := s.build(ctx, chosen, chosen.run.Package(), dir, binary)
	if err != nil {
		return err
	}
	var more []string
	if o.second {
		more = append(more, "--allow-second-controller")
	}
	prefix := script.NewPrefix()
	left := s.lang.Say("run-left", prefix)
	s.left.Store(&left)
	defer s.left.Store(nil)
	return s.watched(ctx, chosen, lay, run, s.config(chosen, binary), func(config script.Config) (script.Outcome, error) {
		return script.PlayOnCluster(ctx, config, client, prefix, more...)
	})
}

// tested refuses pages that have not passed all steps of their lab as they are now.
func (s *session) tested(chosen *choice) error {
	for _, lab := range chosen.labs {
		passes, err := s.passes(lab)
		if err != nil {
			return err
		}
		if !passes {
			return s.refuse("run-untested", lab.ID)
		}
	}
	return nil
}

// agree names the cluster and waits for a yes.
func (s *session) agree(ctx context.Context, o clusterOptions, name, server string) error {
	s.print("run-cluster", name, server, script.ClusterNamespaces)
	if o.yes {
		return nil
	}
	if !s.isTerminal() {
		return s.refuse("run-no-terminal")
	}
	yes, err := s.agreed(ctx, s.lang.Say("run-continue"))
	if err == nil && !yes {
		err = s.refuse("run-declined")
	}
	return err
}

// agreed asks a question and reports whether the answer is yes.
func (s *session) agreed(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(s.OutOrStdout(), question)
	answers := make(chan string, 1)
	go func() { answers <- readLine(s.InOrStdin()) }() // ends with the program
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.OutOrStdout())
		return false, ctx.Err()
	case answer := <-answers:
		return answer == "y" || answer == "yes", nil
	}
}

// readLine returns a line in lower case.
func readLine(in io.Reader) string {
	line, _ := bufio.NewReader(in).ReadString('\n')
	return strings.ToLower(strings.TrimSpace(line))
}
