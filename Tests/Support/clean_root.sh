#!/bin/bash
# Runs commands in a new root folder that has only the system's programs and libraries, with an empty /etc, /var and /usr/local, and in a network
# of its own. Everything ends with this process: start it with `unshare --mount --net --pid --fork --kill-child`.
#
#   clean_root.sh ROOT FILES COMMANDS AFTERWARDS
#
# The content of the folder FILES is copied to /root. The script COMMANDS runs inside the new root. The script AFTERWARDS runs outside, in the
# same network, with the path of the new root in $ROOT.
set -euo pipefail
export ROOT=$1
files=$2 commands=$3 afterwards=$4

mount --make-rprivate /
mount -t proc proc /proc
ip link set lo up

mount -t tmpfs -o mode=755 tmpfs "$ROOT"
mkdir -p "$ROOT"/{usr,etc/systemd/system,var/lib,var/log,proc,dev,sys,tmp,run,root,home}
chmod 1777 "$ROOT/tmp"
for name in bin sbin lib lib64; do
  if [ -L "/$name" ]; then cp -P "/$name" "$ROOT/"; else mkdir "$ROOT/$name" && mount --rbind "/$name" "$ROOT/$name"; fi
done
mount --rbind /usr "$ROOT/usr"
mount -t tmpfs -o mode=755 tmpfs "$ROOT/usr/local"
mkdir "$ROOT/usr/local/bin"
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
# A debug build, unlike the installed program, needs the libraries of the toolchain.
if ldd "$files/hearth" | grep -q libswiftCore; then mkdir "$ROOT/opt" && mount --rbind /opt "$ROOT/opt"; fi

printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' > "$ROOT/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' > "$ROOT/etc/group"
printf '127.0.0.1 localhost\n' > "$ROOT/etc/hosts"
cp -r "$files/." "$ROOT/root"

# A replacement of systemctl: does what the installed unit says, as the user named there.
cat > "$ROOT/usr/local/bin/systemctl" <<'END'
#!/bin/bash
set -euo pipefail
unit=/etc/systemd/system/hearth.service
field() { sed -n "s/^$1=//p" "$unit"; }
as_user() {
  env -i PATH=/usr/local/bin:/usr/bin:/bin "$(field Environment)" setpriv --reuid "$(field User)" --regid "$(field Group)" --init-groups "$@"
}
cd /
case $1 in
  daemon-reload) test -f "$unit" && test -f /etc/systemd/system/hearth.socket ;;
  enable)
    install -d -o "$(field User)" -g "$(field Group)" -m "$(field StateDirectoryMode)" "/var/lib/$(field StateDirectory)"
    # shellcheck disable=SC2046
    as_user $(field ExecStart) > /var/log/hearth.log 2>&1 & ;;
  # shellcheck disable=SC2046
  reload) as_user $(field ExecReload) ;;
  *) echo "systemctl $1 is not here" >&2; exit 1 ;;
esac
END
chmod 755 "$ROOT/usr/local/bin/systemctl"

failed() { cat "$ROOT/var/log/hearth.log" >&2 || true; exit 1; }
chroot "$ROOT" /usr/bin/env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  bash -c "cd /root && set -euxo pipefail && . /dev/stdin" < "$commands" || failed
bash -euxo pipefail "$afterwards" || failed
