# One process per operation, which prints its number for the shell to sum up. Shows the protocol: rewrite it in your
# language, and put its commands into runtime.toml.

tasks=${1:?tasks} operations=${2:?operations}
[ "$tasks" -ge 1 ] && [ "$operations" -ge 1 ] || exit 2

# Rounds of $tasks processes: all of a round end before the next round starts.
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
    # If the system refuses a process, `rounds` stops early.
    [ "$done" -eq "$operations" ] || { echo "failed $((operations - done))"; exit 1; }
    echo "check $sum"
}
