#!/usr/bin/env bash
# Runs orrery on a cluster of its own that minikube starts, in place of the built-in namespace controller, and shows that a
# namespace goes only when orrery runs. Each step is announced, checked, and undone at the end, also after Ctrl-C.
#
#   KEEP=1            leave the cluster up; no namespace goes in it unless orrery runs
#   PROFILE=orrery    the name of minikube's profile, which must not exist
#   PROOF_SECONDS=30  how long the namespace is watched while nothing deletes its content
#   MINIKUBE_ARGS=    further arguments for "minikube start", such as --driver=podman
set -euo pipefail
cd "$(dirname "$0")/.."

profile=${PROFILE:-orrery}
proof_seconds=${PROOF_SECONDS:-30}
wait_seconds=${WAIT_SECONDS:-180} # the limit for each wait
namespace='orrery-proof'
orrery=bin/orrery
log=build/minikube-orrery.log
answer=build/minikube-answer
# A kubeconfig of its own: minikube would make its cluster the current one in yours.
export KUBECONFIG=$PWD/build/minikube.kubeconfig

# The list replaces kube-controller-manager's own, so it has to name what kubeadm adds to "*": the two controllers of bootstrap
# tokens. "namespace" is the name that all versions of kube-controller-manager take.
controllers='*,bootstrapsigner,tokencleaner,-namespace'

say()  { printf '==> %s\n' "$*"; }
saw()  { printf '    %s\n' "$*"; }
fail() { printf 'minikube.sh: %s\n' "$*" >&2; exit 1; }

started='' # the profile is ours to delete
running='' # the process of orrery

stop_orrery() {
  local process=$running code=0
  running=''
  [ -n "$process" ] || return 0
  kill -TERM "$process" 2>/dev/null || true # it may have ended by itself
  wait "$process" || code=$?
  return "$code"
}

tear_down() {
  local code=$?
  trap - EXIT
  trap '' INT TERM # the tear-down is not to be interrupted
  rm -f "$answer"
  stop_orrery || true
  if [ -n "$started" ] && [ -n "${KEEP:-}" ]; then
    say "KEEP is set: the cluster stays. It has no namespace controller: no namespace goes in it unless orrery runs:"
    saw "export KUBECONFIG=${KUBECONFIG@Q}"
    saw "$orrery run --context $profile --leader-elect=false"
    say "To remove the cluster:"
    saw "minikube delete -p $profile"
  elif [ -n "$started" ]; then
    say "minikube delete -p $profile"
    if minikube delete -p "$profile"; then
      rm -f "$KUBECONFIG"
    else
      echo "minikube.sh: the profile could not be deleted; try again: minikube delete -p $profile" >&2
      [ "$code" -ne 0 ] || code=1
    fi
  fi
  exit "$code"
}
trap tear_down EXIT
trap 'echo; say "interrupted"; exit 130' INT
trap 'say "terminated"; exit 143' TERM

# exists reports whether the namespace is there. Any other answer than yes or no ends the script. It uses a file because
# bash 5.2 fails if a signal with a trap arrives just while it parses a command substitution.
exists() {
  kubectl get namespace "$namespace" --ignore-not-found -o name >"$answer" || fail "kubectl cannot read the namespace $namespace"
  [ -s "$answer" ]
}

state() {
  kubectl get namespace "$namespace" -o 'jsonpath={.metadata.name}: {.status.phase}, spec.finalizers {.spec.finalizers}'
}

say "looking for what is needed"
# The name becomes an argument and a pattern.
case $profile in
  [!a-zA-Z0-9]* | *[!a-zA-Z0-9_.-]*) fail "PROFILE=$profile is no name for a profile of minikube" ;;
esac
for program in minikube kubectl; do
  command -v "$program" >/dev/null || fail "$program is not installed, or not in PATH"
  saw "$program is $(command -v "$program")"
done
[ -x "$orrery" ] || fail "there is no $orrery: run make build"
mkdir -p build
# Only a whole list proves that the profile does not exist. Without that proof the tear-down could delete somebody's cluster.
# A file, because grep -q would close a pipe early, and minikube would fail.
list_ended=0
minikube profile list -o json >"$answer" || list_ended=$?
if [ "$list_ended" -ne 0 ] || ! grep -q '"valid" *:' "$answer"; then
  fail "minikube cannot list its profiles, so $profile may be yours (exit code $list_ended); it said: $(cat "$answer")"
fi
if grep -q "\"Name\" *: *\"${profile//./[.]}\"" "$answer"; then
  fail "minikube has a profile $profile already: delete it (minikube delete -p $profile), or choose another name (PROFILE=name)"
fi
saw "minikube has no profile $profile"
rm -f "$KUBECONFIG" "$log"

say "minikube start -p $profile --extra-config=controller-manager.controllers=$controllers ${MINIKUBE_ARGS:-}"
started=1
# shellcheck disable=SC2086 # several arguments
minikube start -p "$profile" --extra-config="controller-manager.controllers=$controllers" ${MINIKUBE_ARGS:-} ||
  fail "minikube did not start the cluster"
saw "the server says $(kubectl get --raw /version | grep -o '"gitVersion": *"[^"]*"')"

say "creating the namespace $namespace with something in it, and deleting it"
kubectl create namespace "$namespace"
kubectl -n "$namespace" create configmap content --from-literal=made=by-hand
kubectl delete namespace "$namespace" --wait=false

say "watching it for $proof_seconds s: with the built-in controller off it hangs"
for ((second = 0; second < proof_seconds; second++)); do
  exists || fail "the namespace has gone after $second s: the built-in controller is at work, the cluster did not take --extra-config"
  sleep 1
done
exists || fail "the namespace has gone: the built-in controller is at work, the cluster did not take --extra-config"
saw "$(state)"

say "$orrery run --context $profile --leader-elect=false --metrics-port=0 (its log: $log)"
"$orrery" run --context "$profile" --leader-elect=false --metrics-port=0 >"$log" 2>&1 &
running=$!
for ((second = 0; ; second++)); do
  exists || break
  kill -0 "$running" 2>/dev/null || { cat "$log" >&2; fail "orrery has ended by itself"; }
  [ "$second" -lt "$wait_seconds" ] || { cat "$log" >&2; fail "the namespace is still there after $wait_seconds s"; }
  sleep 1
done
saw "the namespace has gone, $second s after the start of orrery"

say "stopping orrery"
stop_orrery || { cat "$log" >&2; fail "orrery ended with an error"; }
while read -r line; do saw "$line"; done <"$log"
say "done: the namespace hung without a namespace controller, and went with orrery"
