package e2e

import (
	"os"
	"slices"
)

// genuineOnly lists the scenarios that run on the genuine server alone.
var genuineOnly = []string{
	// A server that is started again and still has everything: the one in memory forgets with its
	// end.
	"TestAPIServerIsRestarted",
	// The watch cache is a part of kube-apiserver. The server in memory answers everything from one
	// store.
	"TestHistoryIsForgottenWithoutWatchCache",
	// The number of requests is that of the genuine server's types; in memory there are fewer.
	"TestRequestsForEmptyNamespace",
	// Certificates that have expired and users without rights: the server in memory has no RBAC.
	"TestMistakesAgainstRealServer",
}

// wholeMatrix runs every scenario on every platform with every subject, as "make nightly" does.
// Otherwise orrery runs on the genuine server alone and is compared with the original's recorded
// outcome.
var wholeMatrix = os.Getenv("E2E_MATRIX") == "whole"

// platformsFor returns the platforms on which a test runs in this run.
func platformsFor(test string) []Platform {
	if !wholeMatrix {
		return []Platform{Kubernetes()}
	}
	return allPlatformsFor(test)
}

// allPlatformsFor returns the platforms on which a test can run.
func allPlatformsFor(test string) []Platform {
	if slices.Contains(genuineOnly, test) {
		return []Platform{Kubernetes()}
	}
	return Platforms()
}

// subjectsNow returns the subjects of this run.
func subjectsNow() []Subject {
	if !wholeMatrix {
		return []Subject{Orrery()}
	}
	return Subjects()
}
