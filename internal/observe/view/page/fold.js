// The fold: what the boxes show, as the sum of all events. It equals the fold of package trace.

export function empty() {
  return {
    s: 0, t: 0, odd: 0, events: {}, lost: {}, unsure: {}, ended: "", informers: {}, queues: {}, namespaces: {},
    requests: { running: {}, watches: {}, recent: [], started: 0, done: 0, failed: 0, retries: 0, throttled: 0, warnings: 0, frames: 0, warning: "" },
    election: { leading: false, identity: "", renewed: 0, err: "" },
    lab: { scene: "", args: "", input: "", held: {}, rv: "", commits: 0, expired: 0, requests: 0 },
  };
}

export function apply(state, e) {
  if (e.e === "trace.state") return structuredClone(e.state);
  return state;
}
