# One process per operation, which writes its number for the shell to sum up. It shows the protocol: write the same in
# your language, and name that in runtime.toml.

usage() {
    echo "usage: spawn.sh <tasks> <operations>: whole numbers, at least one of each" >&2
    exit 2
}
[ $# -eq 2 ] || usage
for number in "$@"; do
    case $number in '' | *[!0-9]*) usage ;; esac
done
tasks=$1 operations=$2
[ "$tasks" -ge 1 ] && [ "$operations" -ge 1 ] || usage

# Rounds of so many tasks: all of one are started, and are over before the next begins.
rounds() {
    number=0
    while [ "$number" -lt "$operations" ]; do
        round=0
        while [ "$round" -lt "$tasks" ] && [ "$number" -lt "$operations" ]; do
            echo "$number" &
            number=$((number + 1)) round=$((round + 1))
        done
        wait
    done
}

echo ready
rounds | {
    done=0 sum=0
    while read -r number; do
        done=$((done + 1)) sum=$((sum + number))
    done
    echo "done $done"
    # Where the system refuses a process, `rounds` ends there.
    [ "$done" -eq "$operations" ] || { echo "failed $((operations - done))"; exit 1; }
    echo "check $sum"
}
