package main

// manual is what the help of a command says below its flags, as a manual page does. Each entry is a name and what it stands for.
type manual struct {
	exits       [][2]string
	environment [][2]string
	files       [][2]string
	see         string // where more is to be found

	// entries are what there are several of, under a heading. They are made when somebody asks. Nil: nothing.
	heading string
	entries func() [][2]string
}

// The entries that several commands share.
var (
	exitDone      = [2]string{"0", "it did what it was asked to"}
	exitFailed    = [2]string{"1", "it could not; the last line says why"}
	exitInterrupt = [2]string{"130", "a second Ctrl-C ended it at once"}
	exitBroken    = [2]string{"130", "Ctrl-C ended it before it was done"}

	environmentColor = [2]string{"NO_COLOR", "if it is set, no text is painted"}
)

// manuals are those of the commands that there is more to say about than their flags, by their paths.
var manuals = map[string]manual{
	"orrery run": {
		exits: [][2]string{
			{"0", "Ctrl-C or SIGTERM ended it, and what was in hand is finished"},
			{"1", "it could not start, or lost the Lease; the last line says why"},
			exitInterrupt,
		},
		environment: [][2]string{
			{"KUBECONFIG", "kubeconfig files to merge, instead of ~/.kube/config"},
			{"HTTPS_PROXY, NO_PROXY", "the proxy to the API server, and what is reached without it"},
			{"KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT", "set in a pod: where the API server is"},
			{"GOMEMLIMIT", "how much memory to get along with, such as 200MiB"},
			environmentColor,
		},
		files: [][2]string{
			{"~/.kube/config", "the kubeconfig, unless --kubeconfig or KUBECONFIG name another"},
			{"/var/run/secrets/kubernetes.io/serviceaccount", "in a pod: token and authority, used if there is no kubeconfig"},
		},
		see: "docs/running.md: on a real cluster, in a pod, upgrades, and what each message means.\n" +
			"docs/observing.md: metrics, health, logs and Events.",
	},
	"orrery serve": {
		exits:       [][2]string{{"0", "Ctrl-C or SIGTERM ended it"}, {"1", "it could not listen, or a flag is wrong; the last line says why"}, exitInterrupt},
		environment: [][2]string{{"TMPDIR", "where the kubeconfig is written, unless --kubeconfig-out says"}, environmentColor},
		see:         "docs/apiserver.md: what it knows, what it leaves out, and the faults.",
		heading:     "Faults",
		entries:     faultEntries,
	},
	"orrery demo": {
		exits:       [][2]string{exitDone, exitFailed, exitInterrupt},
		environment: [][2]string{environmentColor, {"LC_ALL, LC_CTYPE, LANG", "C or POSIX: the picture is drawn in ASCII"}},
		see:         "docs/demo.md: the scenes, and what each of them shows.",
		heading:     "Scenes",
		entries:     sceneEntries,
	},
	"orrery rbac":       {exits: [][2]string{exitDone, exitFailed}, see: "docs/running.md: what each right is for."},
	"orrery version":    {exits: [][2]string{exitDone, exitFailed}},
	"orrery completion": {exits: [][2]string{exitDone, exitFailed}},
}

// manualOf is what there is to say about a command.
func manualOf(path string) manual {
	if found, ok := manuals[path]; ok {
		return found
	}
	return manual{exits: [][2]string{exitDone, exitFailed, exitBroken}, see: "docs/bench.md: what each benchmark shows, and exercises."}
}
