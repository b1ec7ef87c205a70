# shellcheck shell=bash
# What `run` and `systemd` share: the options, the cached kernel, the initramfs
# and the boot itself. It knows nothing of what the guest does after /init.
# Sourced, never executed; the caller sets vm_name and defines usage().

vm_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vm_cache=${XDG_CACHE_HOME:-$HOME/.cache}/taskscale/vm
vm_accel=${TASKSCALE_VM_ACCEL:-tcg}
: "${vm_name:?}"
vm_work= # this run's own folder in the cache, set by vm_start

# The options and their defaults.
opt_memory=1024M
opt_cpus=2
opt_timeout=120
opt_log=
opt_files=()
opt_outs=()
opt_kernel_args=()
opt_command=()

say() { printf '%s: %s\n' "$vm_name" "$*" >&2; }
fail() { say "$*"; exit 125; }
wrong_usage() { say "$*"; say "see $vm_name --help"; exit 2; }

# The machine cannot do it: skip, unless the caller insists.
skip() {
    say "$*"
    [[ ${TASKSCALE_REQUIRE:-} == all ]] && exit 1
    say "skipped (TASKSCALE_REQUIRE=all makes this an error)"
    exit 77
}

# --- options ---------------------------------------------------------------

# parse_option OPTION VALUE: takes one common option; fails if it knows it not.
parse_option() {
    case $1 in
    --memory) opt_memory=$2 ;;
    --cpus) opt_cpus=$2 ;;
    --timeout) opt_timeout=$2 ;;
    --log) opt_log=$2 ;;
    --kernel-arg) opt_kernel_args+=("$2") ;;
    --file)
        [[ $2 == ?*:/?* ]] || wrong_usage "--file wants HOST:/GUEST, not '$2'"
        [[ -e ${2%%:*} ]] || wrong_usage "--file: no such file: ${2%%:*}"
        [[ ${2#*:} != /@(dev|proc|run|sys|tmp)/* ]] || wrong_usage "--file: ${2#*:} would be hidden: the guest mounts or empties that folder"
        opt_files+=("$2")
        ;;
    --out)
        [[ $2 == /?*:?* ]] || wrong_usage "--out wants /GUESTDIR:HOSTDIR, not '$2'"
        opt_outs+=("$2")
        ;;
    *) return 1 ;;
    esac
}

check_options() {
    ((${#opt_command[@]})) || wrong_usage "no command given"
    [[ $opt_memory =~ ^[0-9]+[MG]$ ]] || wrong_usage "--memory wants 512M or 1G, not '$opt_memory'"
    [[ $opt_cpus =~ ^[1-9][0-9]*$ ]] || wrong_usage "--cpus wants a whole number, not '$opt_cpus'"
    [[ $opt_timeout =~ ^[1-9][0-9]*$ ]] || wrong_usage "--timeout wants whole seconds, not '$opt_timeout'"
}

# --- what the host must have -----------------------------------------------

# need TOOL=PACKAGE…: one message for everything that is missing.
need() {
    local pair packages=()
    [[ $(uname -sm) == "Linux x86_64" ]] || skip "the test VM is x86_64 Linux only"
    for pair in "$@"; do
        command -v "${pair%%=*}" >/dev/null || packages+=("${pair#*=}")
    done
    ((${#packages[@]} == 0)) || skip "missing programs; on Debian: apt-get install ${packages[*]}"
    # A busybox that needs shared libraries cannot be the first program of a guest.
    ldd "$(command -v busybox)" >/dev/null 2>&1 &&
        skip "busybox is not static; on Debian: apt-get install busybox-static"
    return 0
}

# --- this run's folder, and cleaning up ------------------------------------

vm_children=()

vm_start() {
    mkdir -p "$vm_cache"
    vm_work=$(mktemp -d "$vm_cache/run.XXXXXX")
    trap vm_cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

vm_cleanup() {
    local pid
    for pid in "${vm_children[@]}"; do kill "$pid" 2>/dev/null; done
    [[ -z $vm_work ]] || rm -rf "$vm_work"
}

# cached NAME MAKER: the folder $vm_cache/NAME, made by `MAKER FOLDER` the first
# time. Made under another name and moved, so a cut-off leaves nothing half done;
# locked, so that two first runs do not both make it.
cached() {
    local name=$1 maker=$2 lock
    [[ -d $vm_cache/$name ]] && return
    exec {lock}>"$vm_cache/$name.lock"
    flock "$lock"
    if [[ ! -d $vm_cache/$name ]]; then
        rm -rf "$vm_cache/$name.part"
        mkdir "$vm_cache/$name.part"
        "$maker" "$vm_cache/$name.part"
        mv "$vm_cache/$name.part" "$vm_cache/$name"
    fi
    exec {lock}>&-
}

# --- the kernel ------------------------------------------------------------

# In the order in which they must be loaded; those built in are left out.
vm_module_names=(virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_console)

# make_kernel FOLDER: FOLDER/image and FOLDER/modules/*.ko from the distribution's
# kernel package, unpacked only (it is never installed on the host).
make_kernel() {
    local folder=$1 wanted package meta deb
    for meta in ${TASKSCALE_VM_KERNEL_PACKAGE:-linux-image-cloud-amd64 linux-image-virtual}; do
        package=$(apt-cache depends --important "$meta" 2>/dev/null |
            sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
        [[ -n $package ]] && break
    done
    wanted=${package:-${TASKSCALE_VM_KERNEL_PACKAGE:-}}
    [[ -n $wanted ]] || skip "no kernel package known to apt; try: apt-get update"
    say "downloading $wanted (once)"
    mkdir "$folder/deb"
    # As root, apt drops its rights to a user that cannot write here: it need not.
    local download=(apt-get download -qq -o "APT::Sandbox::User=root")
    (
        cd "$folder/deb" || exit
        "${download[@]}" "$wanted" >&2 || exit
        # Ubuntu keeps the modules in a package of their own.
        "${download[@]}" "${wanted/linux-image-/linux-modules-}" >/dev/null 2>&1 || true
    ) || skip "could not download $wanted; try: apt-get update"
    for deb in "$folder"/deb/*.deb; do dpkg-deb -x "$deb" "$folder/root"; done
    cp "$folder"/root/boot/vmlinuz-* "$folder/image"
    unpack_image "$folder/image"
    collect_modules "$folder/root" "$folder/modules"
    printf '%s\n' "$wanted" >"$folder/package"
    rm -rf "$folder/deb" "$folder/root"
}

# An emulated processor takes half a second to decompress the kernel: the host
# does it once instead, where it has the tool. qemu boots either form.
unpack_image() {
    local image=$1 entry tool magic at
    for entry in "lz4:\x02!L\x18" "zstd:\x28\xb5\x2f\xfd" "xz:\xfd7zXZ\x00" "gzip:\x1f\x8b\x08"; do
        tool=${entry%%:*} magic=${entry#*:}
        command -v "$tool" >/dev/null || continue
        while read -r at; do
            # The tools complain of what follows the kernel; the ELF header decides.
            tail -c +$((at + 1)) "$image" | "$tool" -dc >"$image.elf" 2>/dev/null || true
            if [[ $(head -c 4 "$image.elf" | tr -d '\0') == $'\x7fELF' ]] &&
                (($(stat -c %s "$image.elf") > $(stat -c %s "$image"))); then
                mv "$image.elf" "$image"
                return
            fi
        done < <(LC_ALL=C grep -aobP "$magic" "$image" | cut -d: -f1 | head -n 5)
    done
    rm -f "$image.elf"
}

collect_modules() {
    local root=$1 modules=$2 name found
    mkdir "$modules"
    for name in "${vm_module_names[@]}"; do
        found=$(find "$root" -name "$name.ko*" -print -quit)
        case $found in
        "") ;;
        *.xz) xz -dc "$found" >"$modules/$name.ko" ;;
        *.zst) zstd -qdc "$found" >"$modules/$name.ko" ;;
        *) cp "$found" "$modules/$name.ko" ;;
        esac
    done
}

# --- the initramfs ---------------------------------------------------------

# The argument as one word of a POSIX shell.
quoted() { printf "'%s' " "${1//\'/\'\\\'\'}"; }

# stage ROOT: the /vm folder that both guests need, into the folder ROOT.
stage() {
    local root=$1 word i
    mkdir -p "$root/vm/modules"
    cp "$(command -v busybox)" "$root/vm/busybox"
    cp "$vm_here/guest/lib.sh" "$root/vm/lib.sh"
    for word in "${vm_module_names[@]}"; do
        [[ ! -e $vm_cache/kernel/modules/$word.ko ]] || cp "$vm_cache/kernel/modules/$word.ko" "$root/vm/modules/"
    done
    printf '%s\n' "${vm_module_names[@]}" >"$root/vm/modules/order"
    {
        # shellcheck disable=SC2016 # $HOME is the guest's
        printf 'cd "$HOME"\nexec '
        for word in "${opt_command[@]}"; do quoted "$word"; done
        echo
    } >"$root/vm/command"
    # outs: one guest folder a line; line i goes to port 3 + i.
    : >"$root/vm/outs"
    for i in "${!opt_outs[@]}"; do printf '%s\n' "${opt_outs[i]%%:*}" >>"$root/vm/outs"; done
}

# stage_file ROOT HOST GUEST: a file or a folder, with its permissions.
stage_file() {
    local root=$1 host=$2 guest=$3
    mkdir -p "$(dirname "$root/$guest")"
    cp -aL "$host" "$root/$guest"
}

# pack ROOT INITRAMFS: appends ROOT as a cpio archive. The kernel takes several
# archives one after the other.
pack() {
    (cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
        cpio --null --create --quiet --format=newc --owner=0:0) >>"$2"
}

# --- the boot --------------------------------------------------------------

# boot INITRAMFS [KERNEL-ARG…]: runs the VM; its standard output and error are
# the guest command's; exits with the guest command's status.
boot() {
    local initramfs=$1 qemu_status=0 cpu=Nehalem,+rdrand,-cx16 i word guest_status
    shift
    # Without cx16: emulated, the instruction sometimes damages the flags, which a kernel from 6.12 on dies of at its start.
    [[ $vm_accel == tcg ]] || cpu=host
    local qemu=(
        qemu-system-x86_64 -accel "$vm_accel" -cpu "$cpu" -smp "$opt_cpus" -m "$opt_memory"
        -nodefaults -no-user-config -display none -no-reboot
        -kernel "$vm_cache/kernel/image" -initrd "$initramfs"
        # What is turned off costs time at the boot, under emulation, and changes nothing measured.
        -append "console=ttyS0 quiet loglevel=4 panic=-1 reboot=t cryptomgr.notests mitigations=off nokaslr no_timer_check audit=0 $* ${opt_kernel_args[*]}"
        -serial "file:kernel.log" -serial null
        -device "virtio-serial-pci,max_ports=$((4 + ${#opt_outs[@]}))"
    )
    # Ports by number: 1 standard output, 2 standard error, 3 status, from 4 on a tar for each --out.
    local ports=(out err status)
    for i in "${!opt_outs[@]}"; do ports+=("tar$i"); done
    for i in "${!ports[@]}"; do
        word=${ports[i]}
        qemu+=(-chardev "file,id=$word,path=$word" -device "virtserialport,chardev=$word,nr=$((i + 1))")
    done

    # From here on relative paths: one with a comma would end a qemu option.
    cd "$vm_work" || exit
    mkfifo out err
    cat out &
    vm_children+=($!)
    local readers=($!)
    cat err >&2 &
    vm_children+=($!)
    readers+=($!)
    timeout -k 3 "$opt_timeout" "${qemu[@]}" </dev/null >qemu.log 2>&1 &
    vm_children+=($!)
    wait $! || qemu_status=$?
    # If qemu never opened them, the readers still wait for a writer.
    : 3<>out 3<>err
    wait "${readers[@]}" || true
    vm_children=()
    cd "$OLDPWD" || exit
    [[ -z $opt_log ]] || cat "$vm_work/kernel.log" >"$opt_log"

    if ((qemu_status == 124 || qemu_status == 137)); then
        say "timed out after $opt_timeout s; the end of the kernel's log:"
        tail -n 10 "$vm_work/kernel.log" >&2
        exit 124
    fi
    guest_status=$(sed -n 's/^exit \([0-9][0-9]*\)$/\1/p' "$vm_work/status" 2>/dev/null || true)
    if [[ -z $guest_status ]]; then
        say "the VM ended without a status (qemu: $qemu_status)"
        tail -n 5 "$vm_work/qemu.log" >&2
        tail -n 30 "$vm_work/kernel.log" >&2 2>/dev/null
        exit 125
    fi
    fetch_outs || ((guest_status)) || exit 125
    exit "$guest_status"
}

fetch_outs() {
    local i target result=0
    for i in "${!opt_outs[@]}"; do
        target=${opt_outs[i]#*:}
        if [[ ! -s $vm_work/tar$i ]]; then
            say "--out: the guest has no folder ${opt_outs[i]%%:*}"
            result=1
            continue
        fi
        mkdir -p "$target"
        tar -x --no-same-owner -f "$vm_work/tar$i" -C "$target" || result=1
    done
    return "$result"
}
