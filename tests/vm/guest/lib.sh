# shellcheck shell=dash
# What both guests do with the host: ports, standard streams, the end.
# Sourced by a busybox shell that runs as root; no other program is assumed.

bb=/vm/busybox

# The virtio serial ports, as /dev/vport0pN.
open_ports() {
    while read -r name; do
        [ ! -e "/vm/modules/$name.ko" ] || $bb insmod "/vm/modules/$name.ko"
    done </vm/modules/order
    tries=0
    while [ ! -e /dev/vport0p3 ] && [ $tries -lt 500 ]; do
        tries=$((tries + 1))
        $bb usleep 10000
    done
}

# make_streams USER: pipes for the command, so that it neither sees a terminal nor
# needs any right on the ports, and reopening /dev/stdout works.
make_streams() {
    $bb mkdir -p /run/vm
    for name in out err status; do
        $bb mkfifo -m 600 /run/vm/$name
        $bb chown "$1" /run/vm/$name
    done
}

forward_streams() {
    $bb cat /run/vm/out >/dev/vport0p1 &
    out_reader=$!
    $bb cat /run/vm/err >/dev/vport0p2 &
    err_reader=$!
}

# finish STATUS: everything to the host, and off. A process that the command left
# behind may hold the pipes open: it gets two seconds, not for ever.
finish() {
    tries=0
    while { [ -d "/proc/$out_reader" ] || [ -d "/proc/$err_reader" ]; } && [ $tries -lt 200 ]; do
        # A child that ended is a zombie until waited for.
        $bb grep -qs '^State:.Z' "/proc/$out_reader/status" && wait "$out_reader"
        $bb grep -qs '^State:.Z' "/proc/$err_reader/status" && wait "$err_reader"
        tries=$((tries + 1))
        $bb usleep 10000
    done
    port=4
    while read -r folder; do
        [ ! -d "$folder" ] || $bb tar -c -f - -C "$folder" . >/dev/vport0p$port
        port=$((port + 1))
    done </vm/outs
    echo "exit $1" >/dev/vport0p3
    $bb reboot -f
}
