# One process per task. Shows the protocol: rewrite it in your language, and put its commands into runtime.toml.

tasks=${1:?tasks} seconds=${2:?seconds}
[ "$tasks" -ge 1 ] && [ "$seconds" -ge 0 ] || exit 2

# If the system refuses a process, the shell exits: reports how many never started.
started=0 pids=
trap 'kill $pids; echo "done 0"; echo "failed $((tasks - started))"; exit 1' EXIT
while [ "$started" -lt "$tasks" ]; do
    sleep "$seconds" &
    pids="$pids $!"
    started=$((started + 1))
done
trap - EXIT

# The last has started: counts those that have not ended. An ended process has no program.
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
