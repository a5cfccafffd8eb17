cp /usr/bin/id /tmp/id && chmod 6755 /tmp/id
for say in "/tmp/id -u" "su -c id" "mount -t tmpfs none /mnt" "newgrp root -c id" "sudo -n id" "ping -c 1 127.0.0.1"; do
    said=$(timeout 0.2 $say </dev/null 2>&1) && case $said in
        *uid=0*|0) echo "ESCAPED: $say made it root"; exit ;;
    esac
done
grep -q ' /mnt tmpfs rw.*none' /proc/self/mounts && { echo "ESCAPED: mounted"; exit; }
while read -r _ _ _ _ place flags _; do
    case ",$flags," in *,nosuid,*) ;; *) case $place in /dev/*|/proc/*) ;; *) echo "ESCAPED: $place honours setuid"; exit ;; esac ;; esac
done < /proc/self/mountinfo
echo "HELD: no program is more than its starter"
