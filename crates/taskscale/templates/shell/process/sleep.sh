# One process per task. It shows the protocol: write the same in your language, and name that in runtime.toml.

usage() {
    echo "usage: sleep.sh <tasks> <seconds>: whole numbers, at least one task" >&2
    exit 2
}
[ $# -eq 2 ] || usage
for number in "$@"; do
    case $number in '' | *[!0-9]*) usage ;; esac
done
tasks=$1 seconds=$2
[ "$tasks" -ge 1 ] || usage

# Where the system refuses a process the shell ends: then say how many never started.
started=0 pids=
trap 'kill $pids; echo "done 0"; echo "failed $((tasks - started))"; exit 1' EXIT
while [ "$started" -lt "$tasks" ]; do
    sleep "$seconds" &
    pids="$pids $!"
    started=$((started + 1))
done
trap - EXIT

# The last has started: how many are not over yet? One that is over has no program any more.
alive=0
for pid in $pids; do
    [ -e "/proc/$pid/exe" ] && alive=$((alive + 1))
done
echo "alive $alive"

finished=0
for pid in $pids; do
    wait "$pid" && finished=$((finished + 1))
done
echo "done $finished"
[ "$finished" -eq "$tasks" ]
