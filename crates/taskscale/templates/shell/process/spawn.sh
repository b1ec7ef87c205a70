# One process per operation, which writes its number for the shell to sum up. It shows the protocol: write the same in
# your language, and its commands in runtime.toml.

tasks=${1:?tasks} operations=${2:?operations}
[ "$tasks" -ge 1 ] && [ "$operations" -ge 1 ] || exit 2

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
