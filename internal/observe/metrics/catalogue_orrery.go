package metrics

// This project's own metrics of informers.
var (
	informerObjects = define(Definition{Name: "orrery_informer_objects", Kind: Gauge, Labels: []string{"informer"},
		Help: "Objects in the informer's store."})
	informerSynced = define(Definition{Name: "orrery_informer_synced", Kind: Gauge, Labels: []string{"informer"},
		Help: "1 if the informer's store has received the complete initial list, else 0."})
	informerErrors = define(Definition{Name: "orrery_informer_process_errors_total", Kind: Counter, Labels: []string{"informer"},
		Help: "Events that the informer could not apply completely, for example because an object has no key."})

	reflectorLists = define(Definition{Name: "orrery_reflector_lists_total", Kind: Counter, Labels: []string{"informer"},
		Help: "List requests of the informer; each page counts as one."})
	reflectorWatches = define(Definition{Name: "orrery_reflector_watches_total", Kind: Counter, Labels: []string{"informer"},
		Help: "Watches and streaming lists that the informer requested."})
	reflectorEvents = define(Definition{Name: "orrery_reflector_events_total", Kind: Counter, Labels: []string{"informer"},
		Help: "Changes received over the informer's watches."})
	reflectorBookmarks = define(Definition{Name: "orrery_reflector_bookmarks_total", Kind: Counter, Labels: []string{"informer"},
		Help: "Bookmarks received over the informer's watches."})
	reflectorFailures = define(Definition{Name: "orrery_reflector_consecutive_failures", Kind: Gauge, Labels: []string{"informer"},
		Help: "Consecutive failed attempts to list or watch; 0 while the watch is healthy. Above 0 the store may be behind the server."})
	reflectorErrors = define(Definition{Name: "orrery_reflector_errors_total", Kind: Counter, Labels: []string{"informer", "cause"},
		Help: "Failures of lists and watches after which the informer backed off, by their cause."})

	listenerBacklog = define(Definition{Name: "orrery_listener_backlog", Kind: Gauge, Labels: []string{"informer", "handler"},
		Help: "Events that the handler has not finished, including the one in progress. If it keeps rising, the handler is too slow."})
	listenerPeak = define(Definition{Name: "orrery_listener_backlog_peak", Kind: Gauge, Labels: []string{"informer", "handler"},
		Help: "The largest backlog of the handler since it was registered."})
	listenerHandled = define(Definition{Name: "orrery_listener_handled_total", Kind: Counter, Labels: []string{"informer", "handler"},
		Help: "Callbacks of the handler that have returned."})
	listenerMerged = define(Definition{Name: "orrery_listener_merged_total", Kind: Counter, Labels: []string{"informer", "handler"},
		Help: "Events that were merged into later ones of the same object, because the handler was behind."})
	listenerPanics = define(Definition{Name: "orrery_listener_panics_total", Kind: Counter, Labels: []string{"informer", "handler"},
		Help: "Callbacks of the handler that panicked; the process went on."})
	listenerStalled = define(Definition{Name: "orrery_listener_stalled_seconds", Kind: Gauge, Labels: []string{"informer", "handler"},
		Help: "Seconds for which the handler has had events and finished none, as far as scrapes have seen. Its current callback has been running for at least that long."})
)

// This project's own metrics of the deletion of namespaces.
var (
	deletionSeconds = []float64{0.5, 1, 2, 5, 6, 7.5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600}
	phaseSeconds    = []float64{0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}

	deletionsInProgress = define(Definition{Name: "orrery_deletions_in_progress", Kind: Gauge,
		Help: "Namespaces that are terminating. A standby counts them as well."})
	oldestDeletion = define(Definition{Name: "orrery_oldest_deletion_seconds", Kind: Gauge,
		Help: "Seconds since the deletion timestamp of the namespace that has been terminating for longest; 0 if none is. A process that stands by knows of it too."})
	namespacesPassedOver = define(Definition{Name: "orrery_namespaces_passed_over", Kind: Gauge,
		Help: "Terminating namespaces that --namespaces does not select, and that this program leaves alone."})
	deletionsTotal = define(Definition{Name: "orrery_deletions_total", Kind: Counter,
		Help: "Namespaces removed while this process worked. A standby does not count them, so replicas can be added up."})
	deletionDuration = define(Definition{Name: "orrery_deletion_duration_seconds", Kind: Histogram, Buckets: deletionSeconds,
		Help: "Seconds from the deletion timestamp of a namespace until it was gone, counted by the process that works."})
	deletionPhase = define(Definition{Name: "orrery_deletion_phase_seconds", Kind: Histogram, Labels: []string{"phase"}, Buckets: phaseSeconds,
		Help: "Seconds that parts of a deletion took: grace, waiting (between passes), reading, discovery, emptiness_check, pods, content, report, finalization."})

	passesTotal = define(Definition{Name: "orrery_passes_total", Kind: Counter, Labels: []string{"result"},
		Help: "Passes over namespaces, by how they ended: done (nothing more to do), remaining (content needs time), failed, panicked, timed_out, cut_short (this process was stopped)."})
	passesStuck = define(Definition{Name: "orrery_passes_stuck_total", Kind: Counter,
		Help: "Passes that took longer than a minute, counted after that minute."})
	passRequests = define(Definition{Name: "orrery_pass_requests", Kind: Histogram, Buckets: []float64{1, 2, 5, 10, 20, 35, 50, 75, 100, 200, 500, 1000, 5000},
		Help: "Requests to the API server that one pass made, retries included."})
	conflictsTotal = define(Definition{Name: "orrery_namespace_conflicts_total", Kind: Counter,
		Help: "Writes to a namespace that were retried because another client had changed it."})
	finalizationsTotal = define(Definition{Name: "orrery_namespace_finalizations_total", Kind: Counter, Labels: []string{"result"},
		Help: "Removals of this controller's token from namespaces: success or failure."})
	reportFailures = define(Definition{Name: "orrery_namespace_report_failures_total", Kind: Counter,
		Help: "Conditions that could not be written into a namespace's status."})
	discoveryFailures = define(Definition{Name: "orrery_discovery_failures_total", Kind: Counter,
		Help: "Passes with incomplete discovery. Such a pass finalizes nothing."})
	typeFailures = define(Definition{Name: "orrery_content_failures_total", Kind: Counter, Labels: []string{"resource"},
		Help: "Resource types that could not be emptied in a pass, by resource and group."})
)

// The controllers of this process. The first is Kubernetes' own, as component-base registers it.
var (
	controllersRunning = define(Definition{Name: "running_managed_controllers", Kind: Gauge, Labels: []string{"name", "manager"}, Kubernetes: true,
		Help: "1 if the controller works in this process, 0 if it stands by or waits for its resource."})
	controllerPasses = define(Definition{Name: "orrery_controller_passes_total", Kind: Counter, Labels: []string{"controller", "result"},
		Help: "Passes of controllers over their objects, by how they ended: done, failed, panicked, timed_out, cut_short (this process was stopped). Passes over namespaces have a metric of their own."})
)

// Metrics that belong to no gear.
var (
	droppedTotal = define(Definition{Name: "orrery_dropped_trace_events_total", Kind: Counter, Labels: []string{"by", "reason"},
		Help: "Kubernetes Events (by events) and log lines (by logs) that were dropped, and why."})
	recordedTotal = define(Definition{Name: "orrery_events_recorded_total", Kind: Counter,
		Help: "Kubernetes Events that the API server has accepted, new ones and repetitions."})
	buildInfo = define(Definition{Name: "orrery_build_info", Kind: Gauge, Labels: []string{"version", "go_version"},
		Help: "1; the labels name what is running."})
)

// The process and the Go runtime, of which prometheus/client_golang has the values. Where a system
// does not tell one, it has none.
func init() {
	define(Definition{Name: "process_start_time_seconds", Kind: Gauge,
		Help: "When the process was started, in seconds since 1970."})
	define(Definition{Name: "process_cpu_seconds_total", Kind: Counter,
		Help: "Seconds of processor time that the process has used."})
	define(Definition{Name: "process_resident_memory_bytes", Kind: Gauge,
		Help: "Bytes of resident memory, including pages of the program file."})
	define(Definition{Name: "process_virtual_memory_bytes", Kind: Gauge,
		Help: "Bytes of address space that the process has reserved, nearly all of it unused."})
	define(Definition{Name: "process_open_fds", Kind: Gauge,
		Help: "Files and connections that the process has open."})
	define(Definition{Name: "process_max_fds", Kind: Gauge,
		Help: "Files and connections that the process may have open."})
	define(Definition{Name: "go_info", Kind: Gauge, Labels: []string{"version"},
		Help: "1; the label is the version of Go."})
	define(Definition{Name: "go_goroutines", Kind: Gauge,
		Help: "Goroutines that exist."})
	define(Definition{Name: "go_memstats_alloc_bytes", Kind: Gauge,
		Help: "Bytes of objects on the heap, including garbage that has not been collected."})
	define(Definition{Name: "go_memstats_alloc_bytes_total", Kind: Counter,
		Help: "Bytes of all objects that were ever allocated."})
	define(Definition{Name: "go_memstats_heap_inuse_bytes", Kind: Gauge,
		Help: "Bytes of the parts of the heap that hold objects."})
	define(Definition{Name: "go_memstats_sys_bytes", Kind: Gauge,
		Help: "Bytes that the Go runtime has from the system."})
	define(Definition{Name: "go_memstats_last_gc_time_seconds", Kind: Gauge,
		Help: "When garbage was last collected, in seconds since 1970."})
}
