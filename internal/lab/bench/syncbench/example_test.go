package syncbench_test

import (
	"fmt"

	"orrery/internal/lab/bench/syncbench"
)

// The pods of a small cluster.
func ExampleGenerator() {
	generator := syncbench.NewGenerator(syncbench.Config{Objects: 400})
	pods, managers := 0, map[string]int{}
	for pod, more := generator.Next(); more; pod, more = generator.Next() {
		pods++
		for _, m := range pod.Managers {
			managers[m.Name]++
		}
	}
	fmt.Println(pods, managers)
	// Output: 400 map[calico:400 kube-controller-manager:400 kubelet:400]
}
